"""What a loop carries from round to round: evidence without repeats, and a context whose newest part survives a cut.

Two slips of published loops are the reason for this file. ``"\\n".join(parts[:5000])`` limits the number of parts, not
their length. And a growing context that is cut at its end loses the newest hop, the one that the next step needs. Left
out: summarising what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ragkit.base import Hit
from ragkit.graph.replies import cut_to_tokens
from ragkit.text import count_tokens

Show: TypeAlias = Callable[[Hit], str]
"""How a passage is put into a prompt; a corpus with titles gives ``lambda hit: corpus.passage(hit.id).full_text``."""


def hit_text(hit: Hit) -> str:
    """The text of a hit: how a passage is shown where no other way is given."""
    return hit.text


def fit_newest(parts: Sequence[str], budget: int, separator: str = "\n\n") -> str:
    """The newest of ``parts`` (oldest first) that fit into ``budget`` tokens together, joined in their old order.

    Whole parts are dropped from the oldest on. The newest alone may be cut, at its end and between words, where it is
    longer than the budget. Separators count. Tokens are those of `ragkit.text.count_tokens`; no parts give ``""``.

    >>> fit_newest(["one two three", "four five", "six"], 3, separator=" ")
    'four five six'
    >>> fit_newest(["old", "newest of all"], 2)
    'newest of'
    """
    if budget < 0:
        raise ValueError(f"budget must be at least 0 tokens, got {budget}")
    kept = ""
    for i, part in enumerate(reversed([part for part in parts if part.strip()])):
        longer = part + separator + kept if i else part
        if count_tokens(longer) > budget:
            return kept if i else cut_to_tokens(part, budget)
        kept = longer
    return kept


def same_text(text: str) -> str:
    """The form under which two texts count as the same one: case and white space ignored.

    >>> same_text("The  Kettle\\n") == same_text("the kettle")
    True
    """
    return " ".join(text.casefold().split())


def cumulate(held: Sequence[Hit], found: Iterable[Hit], most: int) -> list[Hit]:
    """``held`` followed by what is new in ``found``, at most ``most`` in all; first come, first kept.

    A hit is new if neither its id nor its text is held. What is held is never pushed out.

    >>> [hit.id for hit in cumulate([Hit("a", "x", 1.0)], [Hit("b", "X ", 1.0), Hit("c", "y", 1.0)], 5)]
    ['a', 'c']
    """
    kept = list(held)
    ids, texts = {hit.id for hit in kept}, {same_text(hit.text) for hit in kept}
    for hit in found:
        if len(kept) >= most:
            break
        if hit.id not in ids and same_text(hit.text) not in texts:
            kept.append(hit)
            ids.add(hit.id)
            texts.add(same_text(hit.text))
    return kept
