"""What a loop did, step by step: the shape that all loops of this folder share, and the bound that each must have.

A loop around a model is judged by its steps more than by its answer, so every loop logs one plain record a step and
returns the log. Left out: times and prices, which `ragkit.models.Metered` counts around the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragkit.base import Hit

MOST = 100
"""No loop of this folder may be asked for more rounds than this."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a loop did.

    ``action`` is a word such as ``retrieve``, ``generate``, ``evaluate`` or ``stop``; ``text`` what was asked or
    written; ``ids`` the passages it found or used, in order; ``score`` a number that decided something; ``note`` why.
    """

    action: str
    text: str = ""
    ids: tuple[str, ...] = ()
    score: float | None = None
    note: str = ""


@dataclass
class Trace:
    """The steps of one run, in order; more than ``limit`` of them raise `RuntimeError`, for then a bound is broken."""

    limit: int = 1_000
    steps: list[Step] = field(default_factory=list)

    def add(
        self,
        action: str,
        text: str = "",
        hits: Sequence[Hit | str] = (),
        score: float | None = None,
        note: str = "",
    ) -> None:
        """Log a step; ``hits`` may be hits or ids."""
        if len(self.steps) >= self.limit:
            raise RuntimeError(f"the loop took more than {self.limit} steps: it has no working bound")
        ids = tuple(hit if isinstance(hit, str) else hit.id for hit in hits)
        self.steps.append(Step(action, text, ids, score, note))

    def count(self, action: str) -> int:
        """How many steps were of that kind."""
        return sum(step.action == action for step in self.steps)

    def rows(self, width: int = 100) -> list[dict[str, Any]]:
        """One dict a step for ``ragkit.show.table``; cells of more than ``width`` characters are cut.

        The columns are ``step`` (from 1), ``action``, ``text``, ``passages``, ``score`` and ``note``; those that no
        step fills are left out.

        >>> trace = Trace()
        >>> trace.add("retrieve", "Who founded it?", ["p7", "p9"])
        >>> trace.rows(width=10)
        [{'step': 1, 'action': 'retrieve', 'text': 'Who found…', 'passages': 'p7, p9'}]
        """
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        full = [
            {
                "step": number,
                "action": step.action,
                "text": shorten(step.text, width),
                "passages": shorten(", ".join(step.ids), width),
                "score": step.score,
                "note": shorten(step.note, width),
            }
            for number, step in enumerate(self.steps, start=1)
        ]
        used = [name for name in (full[0] if full else {}) if any(row[name] not in ("", None) for row in full)]
        return [{name: row[name] for name in used} for row in full]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


def shorten(text: str, width: int) -> str:
    """One line of at most ``width`` characters, an ellipsis where it was cut.

    >>> shorten("a  kettle\\nof steel", 8), shorten("kettle", 8)
    ('a kettl…', 'kettle')
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def check_bound(name: str, value: object, most: int = MOST) -> int:
    """The bound of a loop as it is; `ValueError` unless it is a whole number from 1 to ``most``.

    >>> check_bound("max_hops", 4)
    4
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError(f"{name} must be an int from 1 to {most}, got {value!r}")
    return value
