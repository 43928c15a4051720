"""One question and two prompts for the opening chapter: the passages that naive retrieval found, and the right ones.

The question asks about an order by its number. The retrieved passages are listed here by id, so that the prompts do
not depend on an embedding model; the chapter asserts that its search finds exactly these.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragkit import corpus
from ragkit.recorded.positions import answer_prompt

QUESTION = "exact_code-01"
RETRIEVED = (
    "dispatch-log-october/remarks",
    "dispatch-log-january/remarks",
    "ticket-001843",
    "ticket-001837",
    "ticket-001826",
)


def order_prompt(evidence: str) -> str:
    """The reader's prompt with the ``retrieved`` passages or with the ``gold`` ones."""
    if evidence not in ("retrieved", "gold"):
        raise ValueError(f"evidence must be 'retrieved' or 'gold', got {evidence!r}")
    world = corpus.load()
    question = next(q for q in world.questions if q.id == QUESTION)
    ids = RETRIEVED if evidence == "retrieved" else question.relevant
    return answer_prompt(question.text, [world.passage(passage_id) for passage_id in ids])


def order() -> Iterator[tuple[str, str]]:
    """Both prompts."""
    yield from ((evidence, order_prompt(evidence)) for evidence in ("retrieved", "gold"))


TASKS = {"order": order}
