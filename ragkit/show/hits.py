"""What a search found, as a reader sees it: ranks, ids, scores, texts, and which ones are gold.

Left out: marking the words that matched; a reader of dense search would look for them in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from ragkit.base import Hit


@dataclass(frozen=True, slots=True)
class Passages:
    """Hits as a reader sees them: rank, id, score, whether gold, text; and the gold ids that were not found."""

    hits: tuple[tuple[int, str, str, bool, str], ...]
    missing: tuple[str, ...]
    labelled: bool

    def _repr_html_(self) -> str:
        if not self.hits:
            items = '<li class="rk-none">Nothing was retrieved.</li>'
        else:
            items = "".join(
                f'<li{" class=rk-gold" if gold else ""}><span class="rk-hit">{rank}. <code>{escape(an_id)}</code> '
                f"{score}{' <strong>gold</strong>' if gold else ''}</span> {escape(text)}</li>"
                for rank, an_id, score, gold, text in self.hits
            )
        return f'<ol class="rk-passages">{items}</ol>' + (f"<p>{escape(self._verdict())}</p>" if self.labelled else "")

    def _verdict(self) -> str:
        if self.missing:
            return "Gold passages not retrieved: " + ", ".join(self.missing) + "."
        return "Every gold passage was retrieved."

    def __repr__(self) -> str:
        lines_ = [
            f"{rank:2}. {'*' if gold else ' '} {an_id}  {score}  {text}" for rank, an_id, score, gold, text in self.hits
        ]
        if self.labelled:
            lines_.append(f"(* gold) {self._verdict()}")
        return "\n".join(lines_ or ["Nothing was retrieved."])


def passages(hits: Sequence[Hit], relevant: Collection[str] | None = None, width: int = 140) -> Passages:
    """Hits with the gold ones marked in words, and the gold ones that are missing named.

    ``relevant`` holds passage ids (a dict of gains will do); leave it out where nothing is labelled.
    Texts longer than ``width`` characters are cut at a word.

    >>> passages([Hit("p1", "Holds 1.7 litres.", 2.5)], relevant={"p1", "p2"})
     1. * p1  2.500  Holds 1.7 litres.
    (* gold) Gold passages not retrieved: p2.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    gold = set(relevant or ())
    rows = tuple(
        (rank, h.id, f"{h.score:.3f}", h.id in gold, _shorten(h.text, width)) for rank, h in enumerate(hits, start=1)
    )
    missing = tuple(sorted(gold - {h.id for h in hits}))
    return Passages(rows, missing, labelled=bool(gold))


def _shorten(text: str, width: int) -> str:
    """One line of at most ``width`` characters, cut between words where there is a word to keep.

    >>> _shorten("The kettle holds 1.7 litres.", 18)
    'The kettle holds …'
    """
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    cut = flat[:width].rsplit(" ", 1)[0] if " " in flat[:width] else flat[: width - 1]
    return (cut if len(cut) < width else cut[: width - 1]) + (" …" if len(cut) + 2 <= width else "…")
