"""BEIR folders (Thakur et al. 2021): ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``.

Topics as tab-separated text and judgements in TREC's four columns are read too, as Pyserini ships them. Left out:
downloading, and judgements of a split that is not asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.base import Passage, check_unique
from ragkit.corpus.records import Question
from ragkit.datasets.files import columns, field, find, json_lines, tab_lines
from ragkit.datasets.records import Dataset


def read_beir(folder: str | Path, split: str = "test") -> Dataset:
    """A BEIR folder. Looks for the corpus, the queries and the judgements of ``split`` under their usual names.

    Corpus: ``corpus.jsonl`` with ``_id``, ``text`` and optional ``title``. Queries: ``queries.jsonl`` or
    ``queries_<split>.jsonl`` with ``_id`` and ``text``, else a file ``topics*<split>.tsv`` of id and text. Judgements:
    ``qrels/<split>.tsv`` (three columns with a header line), or a file ``qrels*<split>.txt`` in TREC's four columns.
    Questions are those that are judged, in the order of the queries; judgements of 0 are kept. A judged query or
    document that is nowhere defined is a ``ValueError``.
    """
    root = Path(folder)
    corpus = find(root, "a corpus", "corpus.jsonl")
    queries = find(root, "queries", f"queries_{split}.jsonl", "queries.jsonl", f"topics*{split}.tsv")
    judged = find(root, f"judgements for {split!r}", f"qrels/{split}.tsv", f"qrels*{split}.tsv", f"qrels*{split}.txt")
    passages = [
        Passage(field(corpus, n, row, "_id", str), field(corpus, n, row, "text", str), _title(corpus, n, row))
        for n, row in json_lines(corpus)
    ]
    check_unique([passage.id for passage in passages], f"{corpus.name}:")
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


def _title(file: Path, n: int, row: Any) -> str:
    return str(field(file, n, row, "title", str)) if "title" in row else ""


def _queries(file: Path) -> dict[str, str]:
    """Query id to text, from JSON lines or from topics in two columns."""
    texts: dict[str, str] = {}
    if ".jsonl" in file.suffixes:
        rows = [(n, [field(file, n, r, "_id", str), field(file, n, r, "text", str)]) for n, r in json_lines(file)]
    else:
        rows = [(n, columns(file, n, line, 2)) for n, line in tab_lines(file)]
    for n, (query, text) in rows:
        if query in texts:
            raise ValueError(f"{file.name}, line {n}: defines the query {query!r} a second time")
        texts[query] = text
    return texts


def _qrels(file: Path) -> dict[str, dict[str, int]]:
    """Query id to document id to gain, from BEIR's three columns or TREC's four."""
    gains: dict[str, dict[str, int]] = {}
    for n, line in tab_lines(file):
        if n == 1 and line[:1] == ["query-id"]:
            continue
        cells = line if len(line) > 1 else line[0].split()  # TREC separates by any white space
        cells = columns(file, n, cells, 4 if len(cells) == 4 else 3)
        query, document, gain = cells[0], cells[-2], cells[-1]
        try:
            gains.setdefault(query, {})[document] = int(gain)
        except ValueError:
            raise ValueError(f"{file.name}, line {n}: score must be a whole number, got {gain!r}") from None
    return gains
