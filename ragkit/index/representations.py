"""Many representations of one passage in one index: its text, its sentences, a summary, the questions it answers.

The multi-vector retriever of LangChain and the proposition index of Chen et al., *Dense X Retrieval* (EMNLP 2024), in
their common form: whatever is searched carries the id of the passage it stands for, and that passage is returned once,
with its own text. Left out: weights for the kinds of representation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.base import Passage
from ragkit.index.parents import Indexer, ParentChild


def representation(passage: Passage, text: str, kind: str, number: int = 0) -> Passage:
    """``text`` as something that stands for ``passage``, with an id of its own.

    >>> representation(Passage("p1", "Boils in 3 minutes."), "How fast is it?", "question").id
    'p1#question-0'
    """
    return Passage(f"{passage.id}#{kind}-{number}", text, meta={"parent": passage.id, "kind": kind})


def itself(passages: Sequence[Passage]) -> list[Passage]:
    """Every passage as its own representation, title and text."""
    return [representation(p, p.full_text, "text") for p in passages]


def representations_index(
    passages: Sequence[Passage],
    representations: Sequence[Passage],
    index: Indexer,
    keep_text: bool = True,
    over_fetch: int = 4,
) -> ParentChild:
    """A `Retriever` of ``passages`` that searches their ``representations``, and their texts too if ``keep_text``.

    A passage scores as its best representation and comes back once, with its original text. Without ``keep_text`` a
    passage that nothing represents cannot be found. Raises `ValueError` for a representation of an unknown passage.
    """
    searched = [*(itself(passages) if keep_text else []), *representations]
    return ParentChild(passages, searched, index, over_fetch)
