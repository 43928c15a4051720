"""Chapter 17: the question becomes SQL over the company's database; what comes back is an answer, not passages."""

from __future__ import annotations

from ragkit.recorded.sql import corpus_questions, holds, result_of
from ragkit.scoreboard.technique import Find, Stage, Technique

CHAPTER = "17-sql"


def text_to_sql(stage: Stage) -> Find:
    """One call with the whole schema and no example; a reply without SQL is no answer."""
    llm = stage.ask("sql_corpus")
    return lambda question: result_of(question, llm)


TECHNIQUES = (
    Technique(
        "text-to-SQL",
        CHAPTER,
        text_to_sql,
        ("hand",),
        questions=corpus_questions,
        judge=holds,
        measure="answered",
    ),
)
