"""Text-to-SQL: a question becomes one SELECT, the database runs or refuses it, and its own error repairs it.

The schema goes into the prompt as CREATE TABLE statements, retrieved examples behind it. What the database says about a
statement that fails ("no such column: title") goes back to the model, as in self-debugging by execution (Chen et al.,
*Teaching Large Language Models to Self-Debug*, 2023). The number of attempts is bounded, and a model that repeats a
statement is not asked again. A query that runs may still be the wrong one, which no error shows: hence the `preview`,
the statement, its tables and its first rows, for a person to read before anything is built on the answer.

Nothing here protects the database; that is `ragkit.structured.database.Database`. Left out: several candidates and a
vote on their results.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.base import LLM
from ragkit.structured.database import Database
from ragkit.structured.result import Result
from ragkit.structured.sql_examples import SQLExample
from ragkit.structured.statement import check_query, sql_in_reply
from ragkit.text import fill

PROMPT = """\
Write one SQLite query that answers the question from the tables below.
Use only these tables and columns. Reply with the query alone: one SELECT, no explanation.

$schema
$examples
Question: $question
SQL:"""

REPAIR_PROMPT = """\
The SQLite query below was to answer the question from the tables, and the database refused it.
Reply with a corrected query alone: one SELECT, no explanation.

$schema
$examples
Question: $question
Query: $sql
Error: $error
SQL:"""

ANSWER_PROMPT = """\
Answer the question from the result of the database query, in one or two sentences.
If the result does not answer it, or says that rows are missing that the answer needs, say so.

Question: $question
Query: $sql
Result:
$result

Answer:"""


@dataclass(frozen=True)
class Attempt:
    """One step of the loop: what was asked and replied, the statement in it ("" if none), the error ("" if none)."""

    prompt: str
    reply: str
    sql: str
    error: str


@dataclass(frozen=True)
class SQLAnswer:
    """The last statement with its result, ``None`` if no attempt ran, the tables it reads, and every step."""

    question: str
    sql: str
    result: Result | None
    tables: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    @property
    def error(self) -> str:
        """Why there is no result; "" if there is one."""
        return self.attempts[-1].error if self.attempts else ""


def _solved(examples: Sequence[SQLExample]) -> str:
    """Examples as the prompt shows them, the best one last, next to the question."""
    shown = [f"Question: {' '.join(e.question.split())}\nSQL: {e.sql.strip()}\n" for e in reversed(examples)]
    return "\n" + "\n".join(shown) if shown else ""


def sql_prompt(question: str, schema: str, examples: Sequence[SQLExample] = ()) -> str:
    """The prompt for a first attempt; ``schema`` is `prompt_text` of the tables, ``examples`` come best first."""
    return fill(PROMPT, schema=schema.strip() + "\n", examples=_solved(examples), question=question.strip())


def repair_prompt(question: str, schema: str, sql: str, error: str, examples: Sequence[SQLExample] = ()) -> str:
    """The prompt that shows the statement (or the reply that held none) and what was wrong with it."""
    shown = {"schema": schema.strip() + "\n", "examples": _solved(examples), "question": question.strip()}
    return fill(REPAIR_PROMPT, **shown, sql=sql.strip() or "(none)", error=error)


def text_to_sql(
    question: str,
    database: Database,
    llm: LLM,
    schema: str,
    examples: Sequence[SQLExample] = (),
    max_attempts: int = 3,
) -> SQLAnswer:
    """Ask, run, and repair with the error, at most ``max_attempts`` model calls in all.

    Stops at the first statement that runs, also if it finds no row, and at one that was tried before. A blank question
    costs no call. Never raises for what a model writes or the database refuses: that is in ``attempts``.
    """
    if isinstance(max_attempts, bool) or max_attempts < 1:
        raise ValueError(f"max_attempts must be at least 1, got {max_attempts!r}")
    attempts: list[Attempt] = []
    prompt = sql_prompt(question, schema, examples)
    while question.strip() and len(attempts) < max_attempts:
        reply, sql, result, error = llm(prompt), "", None, ""
        try:
            sql = sql_in_reply(reply)
            sql = check_query(sql)
            result = database.run(sql)
        except (ValueError, sqlite3.Error) as failure:
            error = str(failure)
        repeated = bool(sql) and sql in [attempt.sql for attempt in attempts]
        attempts.append(Attempt(prompt, reply, sql, error))
        if result is not None:
            return SQLAnswer(question, sql, result, tuple(database.tables_of(sql)), tuple(attempts))
        if repeated:
            break
        prompt = repair_prompt(question, schema, sql or reply, error, examples)
    return SQLAnswer(question, attempts[-1].sql if attempts else "", None, (), tuple(attempts))


def preview(answer: SQLAnswer, rows: int = 5) -> str:
    """What a person sees before the answer is used: question, statement, tables, first rows, and what is cut off."""
    if isinstance(rows, bool) or rows < 0:
        raise ValueError(f"rows must be at least 0, got {rows!r}")
    lines = [f"Question: {answer.question.strip()}", f"SQL: {answer.sql or '(none)'}"]
    if answer.result is None:
        return "\n".join(
            [*lines, f"No result after {_attempts(len(answer.attempts))}: {answer.error or 'nothing asked'}"]
        )
    lines.append(f"Reads: {', '.join(answer.tables) or 'no table'}")
    if len(answer.attempts) > 1:
        lines.append(f"Repaired: {_attempts(len(answer.attempts) - 1)} failed before")
    return "\n".join([*lines, answer.result.text(rows)])


def answer_prompt(answer: SQLAnswer) -> str:
    """The prompt that turns rows into a sentence; it says how many rows were cut. ``ValueError`` without a result."""
    if answer.result is None:
        raise ValueError("answer has no result")
    return fill(ANSWER_PROMPT, question=answer.question.strip(), sql=answer.sql, result=answer.result.text())


def _attempts(n: int) -> str:
    """``1 attempt``, ``2 attempts``."""
    return f"{n} attempt{'' if n == 1 else 's'}"
