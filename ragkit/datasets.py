"""Readers of public benchmarks in their own formats: BEIR folders, HotpotQA, 2WikiMultiHopQA, MuSiQue.

Formats: BEIR (Thakur et al. 2021: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``), HotpotQA (Yang et al.
2018, distractor setting), 2WikiMultiHopQA (Ho et al. 2020, HotpotQA's fields and ``evidences``), MuSiQue (Trivedi et
al. 2022). All give the shapes of the course's own corpus, so everything that runs on one runs on the others. Any file
may be gzipped (``.gz``). A file that does not fit is a ``ValueError`` that names the file, the record and the field.

Left out: downloading. The passages of the multi-hop sets are pooled over the file's questions, as in HippoRAG's
experiments; the full-wiki collections are not read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragkit.base import Passage
from ragkit.corpus.records import Question

__all__ = ["Dataset", "read_2wiki", "read_beir", "read_hotpotqa", "read_musique", "read_passages"]


@dataclass(frozen=True)
class Dataset:
    """Passages and questions of one benchmark.

    ``support`` holds, for HotpotQA and 2WikiMultiHopQA, each question's supporting facts as ``(title, sentence
    number)`` pairs, for ``ragkit.metrics.support_scores``. ``sentences`` holds the sentences of each passage there.
    """

    passages: list[Passage]
    questions: list[Question]
    support: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_beir(folder: str | Path, split: str = "test") -> Dataset:
    """A BEIR folder. Looks for the corpus, the queries and the judgements of ``split`` under their usual names.

    Corpus: ``corpus.jsonl`` with ``_id``, ``text`` and optional ``title``. Queries: ``queries.jsonl`` or
    ``queries_<split>.jsonl`` with ``_id`` and ``text``, else a file ``topics*<split>.tsv`` of id and text. Judgements:
    ``qrels/<split>.tsv`` (three columns with a header line), or a file ``qrels*<split>.txt`` in TREC's four columns.
    Questions are those that are judged, in the order of the queries; judgements of 0 are kept. A judged query or
    document that is nowhere defined is a ``ValueError``.
    """
    root = Path(folder)
    corpus = _find(root, "a corpus", "corpus.jsonl")
    queries = _find(root, "queries", f"queries_{split}.jsonl", "queries.jsonl", f"topics*{split}.tsv")
    judged = _find(root, f"judgements for {split!r}", f"qrels/{split}.tsv", f"qrels*{split}.tsv", f"qrels*{split}.txt")
    passages = [
        Passage(_field(corpus, n, row, "_id", str), _field(corpus, n, row, "text", str), _title(corpus, n, row))
        for n, row in _json_lines(corpus)
    ]
    _check_unique(corpus, [passage.id for passage in passages])
    texts = _queries(queries)
    gains = _qrels(judged)
    known = {passage.id for passage in passages}
    for query, row in gains.items():
        if query not in texts:
            raise ValueError(f"{judged.name}: judges the query {query!r}, which {queries.name} does not have")
        if missing := sorted(set(row) - known):
            raise ValueError(f"{judged.name}: judges the document {missing[0]!r}, which {corpus.name} does not have")
    questions = [
        Question(query, "retrieval", split, text, relevant=gains[query])
        for query, text in texts.items()
        if query in gains
    ]
    return Dataset(passages, questions)


def read_hotpotqa(path: str | Path, split: str = "dev") -> Dataset:
    """HotpotQA in the distractor format: a JSON list of questions, each with its ten paragraphs.

    A passage's id is its title (``<title>#2`` for a second text under one title); its text is the sentences joined. The
    class of a question is its ``type`` (bridge, comparison). Supporting facts that point beyond a paragraph's sentences
    occur in the published file and are kept as they are; one whose title is in no paragraph is a ``ValueError``.
    """
    return _read_hotpot_format(Path(path), split)


def read_2wiki(path: str | Path, corpus: str | Path | None = None, split: str = "dev") -> Dataset:
    """2WikiMultiHopQA: HotpotQA's format with the types compositional, comparison, bridge_comparison and inference.

    With ``corpus``, a pooled collection as in HippoRAG's repository (a JSON list of ``title`` and ``text``), the
    passages are those and the questions are labelled on them.
    """
    dataset = _read_hotpot_format(Path(path), split)
    if corpus is None:
        return dataset
    passages = read_passages(corpus)
    known = {passage.id for passage in passages}
    for question in dataset.questions:
        if missing := sorted(set(question.relevant) - known):
            raise ValueError(f"{Path(corpus).name}: lacks the passage {missing[0]!r} of the question {question.id!r}")
    return Dataset(passages, dataset.questions, dataset.support, dataset.sentences)


def read_musique(path: str | Path, split: str = "dev") -> Dataset:
    """MuSiQue: JSON lines, or a JSON list, of questions with ``paragraphs`` and a ``question_decomposition``.

    Titles repeat in MuSiQue, so a passage's id is ``<title>#<n>``, the n-th different paragraph of that title in the
    file. ``chain`` holds the passages in hop order, the class is the hop prefix of the id (``2hop``, ``3hop1``, ...).
    An unanswerable question (``answerable: false``) has no relevant passage and no answer.
    """
    file = Path(path)
    ids: dict[tuple[str, str], str] = {}
    per_title: dict[str, int] = {}
    passages: list[Passage] = []
    questions = []
    for n, row in _records(file):
        local: dict[int, str] = {}
        gold = []
        for paragraph in _field(file, n, row, "paragraphs", list):
            title = _field(file, n, paragraph, "title", str, "paragraphs.")
            text = _field(file, n, paragraph, "paragraph_text", str, "paragraphs.")
            key = (title, text)
            if key not in ids:
                per_title[title] = per_title.get(title, 0) + 1
                ids[key] = f"{title}#{per_title[title]}"
                passages.append(Passage(ids[key], text, title))
            local[_field(file, n, paragraph, "idx", int, "paragraphs.")] = ids[key]
            if _field(file, n, paragraph, "is_supporting", bool, "paragraphs."):
                gold.append(ids[key])
        answerable = bool(row.get("answerable", True))
        question_id = _field(file, n, row, "id", str)
        questions.append(
            Question(
                id=question_id,
                cls=question_id.split("__")[0],
                split=split,
                text=_field(file, n, row, "question", str),
                answer=_field(file, n, row, "answer", str) if answerable else "",
                aliases=tuple(_strings(file, n, row, "answer_aliases")) if answerable else (),
                relevant=dict.fromkeys(gold, 1) if answerable else {},
                chain=_musique_chain(file, n, row, local) if answerable else (),
            )
        )
    _check_unique(file, [question.id for question in questions])
    return Dataset(passages, questions)


def read_passages(path: str | Path) -> list[Passage]:
    """A pooled collection: a JSON list of ``{"title", "text"}``, or an object from title to its sentences.

    The id is the title; a repeated title gets ``#2``, ``#3``, ... in the order of the file.
    """
    file = Path(path)
    data = _json(file)
    if isinstance(data, dict):
        data = [{"title": title, "text": _joined(_sentences(file, 0, title, lines))} for title, lines in data.items()]
    if not isinstance(data, list):
        raise ValueError(f"{file.name}: must be a JSON list or object, got {type(data).__name__}")
    seen: dict[str, int] = {}
    passages = []
    for n, row in enumerate(data):
        title = _field(file, n, row, "title", str)
        seen[title] = seen.get(title, 0) + 1
        an_id = title if seen[title] == 1 else f"{title}#{seen[title]}"
        passages.append(Passage(an_id, _field(file, n, row, "text", str), title))
    return passages


def _read_hotpot_format(file: Path, split: str) -> Dataset:
    ids: dict[tuple[str, tuple[str, ...]], str] = {}
    per_title: dict[str, int] = {}
    questions, support = [], {}
    for n, row in _records(file):
        question_id = _field(file, n, row, "_id", str)
        local: dict[str, str] = {}
        for pair in _field(file, n, row, "context", list):
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise ValueError(
                    f"{file.name}, record {n}: context must hold [title, sentences] pairs, got {pair!r:.80}"
                )
            key = (pair[0], _sentences(file, n, pair[0], pair[1]))
            if key not in ids:
                per_title[pair[0]] = per_title.get(pair[0], 0) + 1
                ids[key] = pair[0] if per_title[pair[0]] == 1 else f"{pair[0]}#{per_title[pair[0]]}"
            local[pair[0]] = ids[key]
        facts = _facts(file, n, row)
        for title, _ in facts:
            if title not in local:
                raise ValueError(f"{file.name}, record {n}: supporting_facts names {title!r}, which is not in context")
        support[question_id] = facts
        questions.append(
            Question(
                id=question_id,
                cls=_field(file, n, row, "type", str),
                split=split,
                text=_field(file, n, row, "question", str),
                answer=_field(file, n, row, "answer", str),
                relevant=dict.fromkeys((local[title] for title, _ in facts), 1),
            )
        )
    _check_unique(file, [question.id for question in questions])
    passages = [Passage(an_id, _joined(sentences), title) for (title, sentences), an_id in ids.items()]
    return Dataset(passages, questions, support, {an_id: sentences for (_, sentences), an_id in ids.items()})


def _facts(file: Path, n: int, row: Any) -> tuple[tuple[str, int], ...]:
    facts = []
    for fact in _field(file, n, row, "supporting_facts", list):
        if not (isinstance(fact, list) and len(fact) == 2 and isinstance(fact[0], str) and isinstance(fact[1], int)):
            raise ValueError(f"{file.name}, record {n}: supporting_facts must hold [title, number] pairs, got {fact!r}")
        facts.append((fact[0], fact[1]))
    return tuple(facts)


def _musique_chain(file: Path, n: int, row: Any, local: Mapping[int, str]) -> tuple[str, ...]:
    chain = []
    for hop in _field(file, n, row, "question_decomposition", list):
        index = _field(file, n, hop, "paragraph_support_idx", int, "question_decomposition.")
        if index not in local:
            raise ValueError(f"{file.name}, record {n}: question_decomposition points at paragraph {index}, not there")
        chain.append(local[index])
    return tuple(chain)


def _joined(sentences: tuple[str, ...]) -> str:
    """Sentences as one text; some distributions give them their leading blank and some do not.

    >>> _joined(("One.", " Two.", "Three."))
    'One. Two. Three.'
    """
    text = ""
    for sentence in sentences:
        text += sentence if not text or sentence[:1].isspace() or text[-1:].isspace() else " " + sentence
    return text


def _sentences(file: Path, n: int, title: str, lines: Any) -> tuple[str, ...]:
    if not (isinstance(lines, list) and all(isinstance(line, str) for line in lines)):
        raise ValueError(f"{file.name}, record {n}: the sentences of {title!r} must be a list of strings")
    return tuple(lines)


def _find(root: Path, what: str, *patterns: str) -> Path:
    if not root.is_dir():
        raise ValueError(f"folder does not exist: {root}")
    for pattern in patterns:
        for found in sorted([*root.glob(pattern), *root.glob(pattern + ".gz")]):
            return found
    raise ValueError(f"{root.name}: has no file with {what} (looked for {', '.join(patterns)}, also as .gz)")


def _open(file: Path) -> io.TextIOBase:
    if not file.is_file():
        raise ValueError(f"path is no file: {file}")
    raw = gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # noqa: SIM115 - closed with the wrapper
    return io.TextIOWrapper(raw, encoding="utf-8", newline="")


def _json(file: Path) -> Any:
    with _open(file) as stream:
        try:
            return json.load(stream)
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{file.name}: is no JSON: {error}") from None


def _json_lines(file: Path) -> Iterator[tuple[int, Any]]:
    with _open(file) as stream:
        try:
            for n, line in enumerate(stream, start=1):
                if line.strip():
                    yield n, json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{file.name}, line {n}: is no JSON: {error}") from None
        except (UnicodeDecodeError, OSError, EOFError) as error:
            raise ValueError(f"{file.name}: cannot be read: {error}") from None


def _records(file: Path) -> Iterator[tuple[int, Any]]:
    """A JSON list counted from 0, or JSON lines counted from 1."""
    with _open(file) as stream:
        opens = stream.read(64).lstrip("\ufeff \t\r\n")[:1]
    if opens != "[":
        yield from _json_lines(file)
        return
    yield from enumerate(_json(file))


def _field(file: Path, n: int, row: Any, key: str, kind: type, under: str = "") -> Any:
    if not isinstance(row, dict):
        raise ValueError(f"{file.name}, record {n}: {under or 'it'} must be an object, got {type(row).__name__}")
    if key not in row:
        raise ValueError(f"{file.name}, record {n}: lacks the field {under}{key}")
    value = row[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{file.name}, record {n}: {under}{key} must be {kind.__name__}, got {value!r:.80}")
    return value


def _strings(file: Path, n: int, row: Any, key: str) -> list[str]:
    values = row.get(key, [])
    if not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
        raise ValueError(f"{file.name}, record {n}: {key} must be a list of strings, got {values!r:.80}")
    return values


def _title(file: Path, n: int, row: Any) -> str:
    return str(_field(file, n, row, "title", str)) if "title" in row else ""


def _queries(file: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    if ".jsonl" in file.suffixes:
        rows = [(n, [_field(file, n, r, "_id", str), _field(file, n, r, "text", str)]) for n, r in _json_lines(file)]
    else:
        rows = [(n, _columns(file, n, line, 2)) for n, line in _tab_lines(file)]
    for n, (query, text) in rows:
        if query in texts:
            raise ValueError(f"{file.name}, line {n}: defines the query {query!r} a second time")
        texts[query] = text
    return texts


def _qrels(file: Path) -> dict[str, dict[str, int]]:
    gains: dict[str, dict[str, int]] = {}
    for n, line in _tab_lines(file):
        if n == 1 and line[:1] == ["query-id"]:
            continue
        cells = line if len(line) > 1 else line[0].split()  # TREC separates by any white space
        columns = _columns(file, n, cells, 4 if len(cells) == 4 else 3)
        query, document, gain = columns[0], columns[-2], columns[-1]
        try:
            gains.setdefault(query, {})[document] = int(gain)
        except ValueError:
            raise ValueError(f"{file.name}, line {n}: score must be a whole number, got {gain!r}") from None
    return gains


def _tab_lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    with _open(file) as stream:
        for n, line in enumerate(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
            if line and any(cell.strip() for cell in line):
                yield n, line


def _columns(file: Path, n: int, cells: list[str], count: int) -> list[str]:
    if len(cells) != count:
        raise ValueError(f"{file.name}, line {n}: must have {count} columns, got {len(cells)}")
    return [cell.strip() for cell in cells]


def _check_unique(file: Path, ids: list[str]) -> None:
    seen: set[str] = set()
    for an_id in ids:
        if an_id in seen:
            raise ValueError(f"{file.name}: holds the id {an_id!r} more than once")
        seen.add(an_id)
