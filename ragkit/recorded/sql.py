"""What the chapter on tables and SQL asks a model: one query a question, with and without solved examples.

The development half of the course's question/SQL pairs is the pool of examples, the test half is asked. Three schemas
stand in the prompts: the whole one, the tables that schema linking finds, and, for the local model, which takes
long over a long prompt, only the tables of the gold query: more help than anybody gets outside a test. The repairs are
the prompts that `text_to_sql` makes of an answerer's own earlier replies, and so appear as those are recorded. The
questions of the corpus are asked of the whole schema, whether the database can answer them or not. Tables and examples
are found by BM25, whose ranking is the same on every machine, so that the prompts are too.
"""

from __future__ import annotations

import atexit
import re
import tempfile
from calendar import month_abbr, month_name
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from ragkit import corpus
from ragkit.base import LLM
from ragkit.corpus import Question
from ragkit.corpus.database import build
from ragkit.corpus.sql import SqlQuestion, sql_questions
from ragkit.models import Recording, RecordingMiss
from ragkit.models.recording_tasks import Settings, by_opening
from ragkit.search import BM25
from ragkit.structured import (
    Database,
    Schema,
    SchemaLinker,
    SQLAnswer,
    SQLExample,
    SQLExamples,
    code_tokens,
    execution_match,
    prompt_text,
    read_schema,
    sql_prompt,
    text_to_sql,
)
from ragkit.structured.sql import REPAIR_PROMPT

SHOTS = (0, 3)
"""How many solved examples a prompt shows."""
LINKED = 3
"""Tables that schema linking retrieves, before the bridges."""
SAMPLE = 12
"""The local model is asked the first pairs of the test half, in the order of the file."""
ATTEMPTS = 2
"""Model calls a question of the sample at most: the first and one repair."""
ROWS = 10_000
"""Rows that are fetched where two results are compared; the largest result has fewer."""
CLASSES = ("table_form", "relational")
"""Questions of the corpus that a database might answer."""

SPIDER = (
    ("BM25", "its own database", 1, 0.713, 0.513, 1.0),
    ("BM25", "its own database", 2, 0.920, 0.831, 1.9),
    ("BM25", "its own database", 3, 0.975, 0.944, 2.5),
    ("BM25 + bridges", "its own database", 3, 0.976, 0.948, 2.7),
    ("BM25", "all 166 databases", 5, 0.838, 0.764, 5.0),
    ("BM25", "all 166 databases", 20, 0.936, 0.899, 19.6),
    ("BM25 + bridges", "all 166 databases", 20, 0.937, 0.902, 20.4),
)
"""What ``python benchmarks/text_to_sql.py`` printed on 2026-11-30 for the 1,034 development questions of Spider, whose
files are not in the repository: search, tables searched, k, recall, share with every gold table, tables linked."""

by_keyword = partial(BM25, tokenize=code_tokens)
"""How tables and examples are found."""


@cache
def database() -> Database:
    """The course's database in a folder that goes when the process ends, with room for results that are compared."""
    folder = tempfile.TemporaryDirectory(prefix="larkfield-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "larkfield.db"
    build(path)
    return Database(path, max_rows=ROWS)


@cache
def schema() -> Schema:
    """Its schema, with three sample values a column."""
    return read_schema(database().connection)


@cache
def linker() -> SchemaLinker:
    """The tables of that schema by retrieval, and the bridges between them."""
    return SchemaLinker(schema(), by_keyword)


@cache
def pool() -> SQLExamples:
    """The development pairs, by their questions."""
    return SQLExamples([SQLExample(pair.text, pair.sql) for pair in sql_questions("dev")], by_keyword)


def examples(pair: SqlQuestion, shots: int) -> list[SQLExample]:
    """The examples that a pair's prompt shows, best first; none asks the same or has the same SQL."""
    return pool().leave_out(pair.text, pair.sql, shots)


def shown(pair: SqlQuestion, tables: str) -> str:
    """The schema in a pair's prompt: all ``tables``, those that are ``linked``, or those of the ``gold`` query."""
    if tables not in ("all", "linked", "gold"):
        raise ValueError(f"tables must be 'all', 'linked' or 'gold', got {tables!r}")
    if tables == "all":
        return prompt_text(schema())
    return prompt_text(schema().only(linker()(pair.text, LINKED).tables if tables == "linked" else pair.tables))


def two_models(first: LLM, repair: LLM) -> LLM:
    """One model out of two: prompts that open as a repair does go to ``repair``, others to ``first``."""
    return by_opening(REPAIR_PROMPT, repair, first)


def written(pair: SqlQuestion, tables: str, shots: int, llm: LLM, attempts: int = ATTEMPTS) -> SQLAnswer:
    """The loop on one pair, as it is recorded and measured."""
    return text_to_sql(pair.text, database(), llm, shown(pair, tables), examples(pair, shots), attempts)


OUTCOMES = ("right", "wrong result", "unknown name", "syntax", "no SELECT", "other error")
_SIGNS = {
    "no such": "unknown name",
    "ambiguous column": "unknown name",
    "syntax error": "syntax",
    "incomplete input": "syntax",
    "unrecognized token": "syntax",
    "holds no SQL": "no SELECT",
    "must be a SELECT": "no SELECT",
}


def outcome(pair: SqlQuestion, answer: SQLAnswer) -> str:
    """One of `OUTCOMES`: a result is held against the gold query's, an error is typed by the database's words."""
    if answer.result is not None:
        return "right" if execution_match(database(), pair.sql, answer.sql).correct else "wrong result"
    return next((kind for sign, kind in _SIGNS.items() if sign in answer.error), "other error")


def sample() -> list[SqlQuestion]:
    """The pairs that the local model is asked too."""
    return sql_questions("test")[:SAMPLE]


def first_prompts(tables: str, shots: tuple[int, ...], only_sample: bool = False) -> Iterator[tuple[str, str]]:
    """Pairs of the test half at each number of examples: ``sql-02/3``."""
    for count in shots:
        for pair in sample() if only_sample else sql_questions("test"):
            yield f"{pair.id}/{count}", sql_prompt(pair.text, shown(pair, tables), examples(pair, count))


def repair_prompts() -> Iterator[tuple[str, str]]:
    """The repairs that recorded replies to the sample lead to: ``sql-02/3/135M/1`` is the local model's first."""
    for answerer in ("hand", "135M"):
        replay = two_models(Recording("sql_sample", answerer), Recording("sql_repair", answerer))
        for count in SHOTS:
            for pair in sample():
                asked: list[str] = []

                def note(prompt: str, replay: LLM = replay, asked: list[str] = asked) -> str:
                    asked.append(prompt)
                    return replay(prompt)

                with suppress(RecordingMiss):  # the last prompt of the list may wait for its answer
                    written(pair, "gold", count, note)
                for number, prompt in enumerate(dict.fromkeys(asked[1:]), start=1):
                    yield f"{pair.id}/{count}/{answerer}/{number}", prompt


def corpus_questions() -> list[Question]:
    """The questions of `CLASSES`, both halves: nothing is tuned on them."""
    return [question for cls in CLASSES for question in corpus.load().select(cls=cls)]


def corpus_prompts() -> Iterator[tuple[str, str]]:
    """One prompt for each of them, with the whole schema and without examples."""
    everything = prompt_text(schema())
    yield from ((question.id, sql_prompt(question.text, everything)) for question in corpus_questions())


def holds(question: Question, shown: str) -> bool:
    """Whether a result in text holds the answer of a question of the corpus: its numbers, its names, no other store.

    Names are words with a capital; a month's name is left out, since the database writes dates in figures. A result of
    more than twelve rows, which is how many stores there are, leaves the choice to the reader and does not count.
    """
    rows = shown.splitlines()[1:]
    stores = [name for (name,) in database().run("SELECT name FROM stores").rows]
    named = {name for name in stores if name in question.answer}
    if named and named != {name for name in stores if name in "\n".join(rows)}:
        return False
    words = re.compile(r"[A-Z][a-z]+|\d+")
    wanted = set(words.findall(question.answer)) - {*month_name, *month_abbr}
    return bool(wanted) and wanted <= set(words.findall("\n".join(rows))) and len(rows) <= len(stores)


def result_of(question: Question, llm: LLM) -> str:
    """What the database gives to a question of the corpus, as text; "" for a reply without SQL and for an error.

    One call and no repair: a model that says that the tables do not hold the answer is not asked again.
    """
    found = text_to_sql(question.text, database(), llm, prompt_text(schema()), max_attempts=1).result
    return found.text() if found else ""


TASKS = {
    "sql": partial(first_prompts, "all", SHOTS),
    "sql_linked": partial(first_prompts, "linked", (0,)),
    "sql_sample": partial(first_prompts, "gold", SHOTS, only_sample=True),
    "sql_repair": repair_prompts,
    "sql_corpus": corpus_prompts,
}

SETTINGS = dict.fromkeys(TASKS, Settings(max_tokens=80, stop=("\n\n", ";"), raw=True))
"""The local model goes on after "SQL:"; asked in a turn of a chat it tends to answer the question in words."""
