"""Every promise the corpus makes, as a check: ``python -m ragkit.corpus check``.

A corpus that is wrong makes every figure of the book wrong in silence, so a build starts here. ``check`` returns
faults, all of them, and raises nothing for a bad file: an author mends a list, not one thing at a time.

What the checks on multi-hop chains prove: the first passage holds the anchor, the last one the answer, each shares a
name or a code with the next, and no passage of the index holds both anchor and answer. So no single passage bridges
the question, and taking any one out of the chain leaves a gap. Left out: whether the sentences mean what the labels
say; that takes a reader.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ragkit.base import Message, Passage
from ragkit.corpus import DISTRACTORS, ticket_passages
from ragkit.corpus.reader import read_all, read_document, read_questions
from ragkit.corpus.records import CLASSES, SPLITS, Corpus, Question
from ragkit.models.records import Record, files_of, record_key, tasks_in
from ragkit.models.shapes import chat_prompt
from ragkit.text import sentences, tokenize

Prompts: TypeAlias = Callable[[], Iterable[tuple[str, str | list[Message]]]]
"""What a task registers: a function that gives every ``(item, prompt)`` its code would send out, a prompt being a text
or the turns of a conversation."""

_VERBATIM = ("single_fact", "vocabulary_gap", "exact_code", "temporal", "table_form", "multi_hop")
_UNLABELLED = ("theme", "no_answer", "no_retrieval")


class Fault(NamedTuple):
    """One broken promise: its kind, where it is, and what is wrong."""

    kind: str
    where: str
    message: str


class Minimums(NamedTuple):
    """How large the corpus must be at least."""

    passages: int = 150
    distractors: int = 1_000
    per_class: int = 10


def read_leniently(path: str | Path | None = None, distractors: int = DISTRACTORS) -> tuple[Corpus, list[Fault]]:
    """The corpus of a folder without its unreadable files, and a fault for each of those."""
    root = Path(path) if path is not None else Path(__file__).parent
    faults: list[Fault] = []

    def report(error: ValueError) -> None:
        where, _, message = str(error).partition(": ")
        faults.append(Fault("format", where, message))

    documents = read_all((root / "documents").glob("*.md"), read_document, report)
    files = sorted((root / "questions").glob("*.toml"), key=_class_order)
    questions = [question for path in files for part in read_all([path], read_questions, report) for question in part]
    return Corpus(root, documents, ticket_passages(distractors), questions), faults


def check(corpus: Corpus, minimums: Minimums | None = None, tasks: Mapping[str, Prompts] | None = None) -> list[Fault]:
    """Every fault of a corpus that could be read; ``[]`` means that it keeps its promises.

    With ``tasks``, a mapping from task to the function that produces its prompts, a recording is also a fault if its
    task is not registered or if no prompt of the task hashes to its key.
    """
    faults = [*_sizes(corpus, minimums or Minimums()), *_ids(corpus), *_versions(corpus)]
    faults += _order_codes(corpus)
    for question in corpus.questions:
        faults += [Fault(kind, question.id, message) for kind, message in _labels(corpus, question)]
    linked = _names(corpus.passages)
    for question in corpus.select("multi_hop"):
        faults += [Fault(kind, question.id, message) for kind, message in _chain(corpus, question, linked)]
    return faults + list(_recordings(corpus, tasks))


def _sizes(corpus: Corpus, least: Minimums) -> Iterator[Fault]:
    for name, found, wanted in (
        ("passages", len(corpus.passages), least.passages),
        ("distractors", len(corpus.distractors), least.distractors),
    ):
        if found < wanted:
            yield Fault("size", name, f"has {found}, needs {wanted}")
    for cls in CLASSES:
        rows = corpus.select(cls)
        if len(rows) < least.per_class:
            yield Fault("size", cls, f"has {len(rows)} questions, needs {least.per_class}")
        for split in SPLITS:
            if rows and not any(question.split == split for question in rows):
                yield Fault("split", cls, f"has no question in {split}")


def _ids(corpus: Corpus) -> Iterator[Fault]:
    for name, ids in (
        ("documents", [document.id for document in corpus.documents]),
        ("passages", [passage.id for passage in corpus.index]),
        ("questions", [question.id for question in corpus.questions]),
    ):
        for an_id, count in Counter(ids).items():
            if count > 1:
                yield Fault("duplicate-id", an_id, f"stands {count} times among the {name}")


def _versions(corpus: Corpus) -> Iterator[Fault]:
    by_id = {document.id: document for document in corpus.documents}
    for document in corpus.documents:
        if not document.supersedes:
            continue
        older = by_id.get(document.supersedes)
        if older is None:
            yield Fault("supersedes", document.id, f"supersedes {document.supersedes!r}, which does not exist")
        elif older.date >= document.date:
            yield Fault("supersedes", document.id, f"is of {document.date}, not later than {older.id} of {older.date}")
        seen, at = {document.id}, document.supersedes
        while at in by_id and at not in seen:
            seen.add(at)
            at = by_id[at].supersedes
        if at == document.id:
            yield Fault("supersedes-cycle", document.id, "supersedes itself in the end")


def _order_codes(corpus: Corpus) -> Iterator[Fault]:
    """A generated ticket about an order that the documents tell of would be an unlabelled relevant passage."""
    told = {code for passage in corpus.passages for code in re.findall(r"ORD-\d+", passage.full_text)}
    told |= {code for question in corpus.questions for code in re.findall(r"ORD-\d+", question.text)}
    for passage in corpus.distractors:
        for code in sorted(told & set(re.findall(r"ORD-\d+", passage.text))):
            yield Fault("code-clash", passage.id, f"is about {code}, which belongs to the documents")


def _labels(corpus: Corpus, question: Question) -> Iterator[tuple[str, str]]:
    known = {passage.id: passage for passage in corpus.index}
    for passage_id, gain in question.relevant.items():
        if passage_id not in known:
            yield "unknown-passage", f"relevant names {passage_id!r}, which does not exist"
        if not 1 <= gain <= 3:
            yield "gain", f"gain of {passage_id!r} must be 1 to 3, got {gain}"
    if question.cls in ("no_answer", "no_retrieval") and question.relevant:
        yield "relevant-not-empty", f"{question.cls} must have no relevant passage"
    if question.cls not in _UNLABELLED and not question.relevant:
        yield "relevant-empty", "has no relevant passage"
    if question.cls == "no_answer" and question.answers:
        yield "answer-not-empty", "no_answer must have no answer"
    if question.cls not in _UNLABELLED and not question.answer:
        yield "answer-empty", "has no answer"
    if question.cls == "theme" and not question.themes:
        yield "themes-empty", "has no themes"
    if question.cls == "follow_up" and not question.history:
        yield "history-empty", "follows up on no turn"
    gold = [known[passage_id] for passage_id in question.relevant if passage_id in known]
    if question.cls in _VERBATIM and question.answers and gold and not any(_holds_any(p, question) for p in gold):
        yield "answer-missing", f"no relevant passage holds {' or '.join(map(repr, question.answers))}"


def _chain(corpus: Corpus, question: Question, linked: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    if len(question.chain) < 2:
        yield "chain", f"chain must have at least two passages, has {len(question.chain)}"
    if not question.anchor:
        yield "anchor", "has no anchor"
    elif not _holds(question.text, question.anchor):
        yield "anchor", f"the question does not name its anchor {question.anchor!r}"
    by_id = {passage.id: passage for passage in corpus.passages}
    for passage_id in question.chain:
        if passage_id not in by_id:
            yield "chain", f"chain names {passage_id!r}, which does not exist"
        elif passage_id not in question.relevant:
            yield "chain", f"chain names {passage_id!r}, which is not relevant"
    if len(set(question.chain)) < len(question.chain):
        yield "chain", "chain names a passage twice"
    steps = [by_id[passage_id] for passage_id in question.chain if passage_id in by_id]
    if len(steps) < len(question.chain) or not steps:
        return
    for here, there in pairwise(steps):
        if not linked[here.id] & linked[there.id]:
            yield "chain-link", f"{here.id} and {there.id} share no name and no code"
    if question.anchor and not _holds(steps[0].full_text, question.anchor):
        yield "chain-start", f"{steps[0].id} does not hold the anchor {question.anchor!r}"
    if question.answers and not _holds_any(steps[-1], question):
        yield "chain-end", f"{steps[-1].id} holds neither the answer nor an alias"
    if question.anchor:
        for passage in corpus.index:
            if _holds(passage.full_text, question.anchor) and _holds_any(passage, question):
                yield "shortcut", f"{passage.id} holds both the anchor {question.anchor!r} and the answer"


def _recordings(corpus: Corpus, tasks: Mapping[str, Prompts] | None) -> Iterator[Fault]:
    folder = corpus.root / "recordings"
    for task in tasks_in(folder):
        records: list[tuple[str, Record]] = []
        for path in files_of(task, folder):
            where = path.relative_to(corpus.root).as_posix()
            try:
                rows = tomllib.loads(path.read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                yield Fault("recording", where, f"is no TOML: {error}")
                continue
            if set(rows) != {"record"} or not isinstance(rows["record"], list):
                yield Fault("recording", where, f"must hold [[record]] tables and nothing else, has {sorted(rows)}")
                continue
            for number, row in enumerate(rows["record"], start=1):
                try:
                    records.append((f"{where}, record {number}", Record(**row)))
                except (TypeError, ValueError) as error:
                    yield Fault("recording", f"{where}, record {number}", str(error))
        yield from _task_faults(task, records, tasks)


def _task_faults(
    task: str, records: Sequence[tuple[str, Record]], tasks: Mapping[str, Prompts] | None
) -> Iterator[Fault]:
    """What is wrong with records that are each well formed."""
    answers: dict[tuple[str, str], str] = {}
    for where, record in records:
        if record.task != task:
            yield Fault("recording", where, f"task {record.task!r} must be the name of the file")
        if answers.setdefault((record.key, record.answerer), record.response) != record.response:
            yield Fault("recording", where, f"{record.answerer} answers the prompt {record.key} in another way before")
    if tasks is None:
        return
    if task not in tasks:
        yield Fault("stale-recording", task, "no code registers this task")
        return
    keys = {record_key(prompt if isinstance(prompt, str) else chat_prompt(prompt)) for _, prompt in tasks[task]()}
    for where, record in records:
        if record.key not in keys:
            yield Fault("stale-recording", where, f"no prompt has the key {record.key} (item {record.item!r})")


def _class_order(path: Path) -> tuple[int, str]:
    return (CLASSES.index(path.stem) if path.stem in CLASSES else len(CLASSES), path.stem)


@lru_cache(maxsize=8_192)
def _terms(text: str) -> str:
    """Terms between blanks, articles left out, so that a phrase is found by ``in``: ``_terms("The Osprey")``."""
    return " " + " ".join(tokenize(text, stop=("a", "an", "the"))) + " "


def _holds(text: str, phrase: str) -> bool:
    """Whether the words of ``phrase`` stand in a row in ``text``; an empty phrase stands nowhere.

    >>> _holds("She trained on the Osprey.", "the Osprey"), _holds("45 days", "5 days")
    (True, False)
    """
    wanted = _terms(phrase)
    return bool(wanted.strip()) and wanted in _terms(text)


def _holds_any(passage: Passage, question: Question) -> bool:
    return any(_holds(passage.full_text, answer) for answer in question.answers)


# Capitalised, and no link between two passages.
_NO_NAMES = {
    *("Goods", "Mr", "Mrs", "Ms", "Dr", "Ltd", "Inc", "Plc", "Street", "Road"),
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
}
_WORD = re.compile(r"[^\W\d_][\w’']*[^\W_]")
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)+\b")


def _names(passages: Sequence[Passage]) -> dict[str, frozenset[str]]:
    """Passage id to the names and codes in its title and text.

    A word is a name if, over all passages, it stands capitalised inside a sentence more often than in lower case. So
    "Keep" at the start of two instructions links nothing, and "Tindall" at the start of a sentence still counts.
    """
    inside: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    words: dict[str, set[str]] = {}
    for passage in passages:
        mine = words.setdefault(passage.id, set())
        for sentence in sentences(passage.full_text):
            for match in _WORD.finditer(sentence):
                word = match.group().removesuffix("'s").removesuffix("’s")
                if not word[0].isupper():
                    lower[word] += 1
                    continue
                mine.add(word)
                opens = not re.search(r"[^\W_]", sentence[: match.start()]) or re.search(
                    r"[:|\"“‘]\s*$", sentence[: match.start()]
                )
                inside[word] += not opens
    names = {word for word, count in inside.items() if count > lower[word.lower()] and word not in _NO_NAMES}
    return {
        passage.id: frozenset(words[passage.id] & names) | frozenset(_CODE.findall(passage.full_text))
        for passage in passages
    }
