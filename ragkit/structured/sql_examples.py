"""Solved examples by retrieval: the questions most like the new one, with their SQL, go into the prompt.

Liu et al., *What Makes Good In-Context Examples for GPT-3?* (2022), and for SQL Nan et al., *Enhancing Few-shot
Text-to-SQL Capabilities of Large Language Models* (2023): examples that resemble the question beat fixed ones.

An evaluation draws its examples from the questions it evaluates, so a question must not find itself (leave-one-out).
Nor its twin: Spider asks every query in two wordings, so what is left out is every example with the same question *or*
the same SQL. Left out: DAIL-SQL's masking of table names and values (Gao et al., 2023), and choosing for diversity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.base import Passage, check_k
from ragkit.index.parents import Indexer
from ragkit.structured.statement import tokens


@dataclass(frozen=True)
class SQLExample:
    """A question with its verified SQL."""

    question: str
    sql: str


def same_sql_form(sql: str) -> str:
    """A statement as it is compared: white space, comments, final ";" and the case of all but strings set aside.

    >>> same_sql_form("select Name -- all\\n  from stores;") == same_sql_form("SELECT name FROM stores")
    True
    """
    kept = [t for t in tokens(sql) if t.kind not in ("space", "comment") and t.text != ";"]
    return " ".join(t.text if t.kind == "text" else t.text.lower() for t in kept)


def _same_question_form(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.!")


class SQLExamples:
    """``examples(question, k)`` gives the ``k`` examples whose questions are most like it, best first.

    ``index`` makes the search over the questions. Two examples with one question and one SQL count once; ties go by
    position, as in every search. No examples, or none that matches, give ``[]``.
    """

    def __init__(self, examples: Sequence[SQLExample], index: Indexer) -> None:
        for number, example in enumerate(examples):
            if not example.question.strip() or not example.sql.strip():
                raise ValueError(f"examples[{number}] lacks its question or its SQL")
        unique: dict[tuple[str, str], SQLExample] = {}
        for example in examples:
            unique.setdefault((_same_question_form(example.question), same_sql_form(example.sql)), example)
        self.examples, self._forms = list(unique.values()), list(unique)
        self._search = index([Passage(str(i), example.question) for i, example in enumerate(self.examples)])

    def __call__(self, question: str, k: int) -> list[SQLExample]:
        check_k(k)
        return [self.examples[int(hit.id)] for hit in self._search(question, k)]

    def leave_out(self, question: str, sql: str, k: int) -> list[SQLExample]:
        """The ``k`` best without those that ask ``question`` or answer with ``sql``: for evaluating on the examples."""
        check_k(k)
        asked, answered = _same_question_form(question), same_sql_form(sql)
        barred = {i for i, form in enumerate(self._forms) if form[0] == asked or form[1] == answered}
        hits = self._search(question, k + len(barred))
        return [self.examples[int(hit.id)] for hit in hits if int(hit.id) not in barred][:k]
