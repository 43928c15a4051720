"""What a technique scored: one value a question, so that every mean has an interval and every gain is paired."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.metrics import Difference, Interval, bootstrap_interval, paired_bootstrap


@dataclass(frozen=True)
class Asked:
    """One question of a `Score`: its class and split, and what the technique scored."""

    cls: str
    split: str
    value: float


@dataclass(frozen=True)
class Score:
    """A technique measured. ``answerer`` is who answered at the questions, "" where no model was asked; ``indexed`` who
    wrote for the index.

    ``calls`` and ``tokens`` (read and written) are means a question; ``milliseconds`` is the median of a question,
    None where answers or orders were replayed. ``date`` is that of the latest answer it leans on, "" where it leans on
    none.
    """

    technique: str
    chapter: str
    answerer: str
    indexed: str
    measure: str
    asked: dict[str, Asked]
    calls: float
    tokens: float
    milliseconds: float | None
    date: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it was asked, in the order of their first question."""
        return tuple(dict.fromkeys(question.cls for question in self.asked.values()))

    def values(self, cls: str | None = None, split: str | None = None) -> dict[str, float]:
        """Question id -> value, for one class and one split or all."""
        return {
            id: question.value
            for id, question in self.asked.items()
            if cls in (None, question.cls) and split in (None, question.split)
        }

    def interval(self, cls: str | None = None, split: str | None = None) -> Interval:
        """Mean and 95% bootstrap interval; a class or split without questions is a ``ValueError``."""
        values = self.values(cls, split)
        if not values:
            raise ValueError(f"{self.technique!r} was asked no question of class {cls!r} and split {split!r}")
        return bootstrap_interval(list(values.values()))

    def gain(self, over: Score, cls: str | None = None, split: str | None = None) -> Difference:
        """What it gains over another on the questions that both were asked; none, or another measure, is an error."""
        if self.measure != over.measure:
            raise ValueError(f"over must measure {self.measure}, and {over.technique!r} measures {over.measure}")
        mine, theirs = self.values(cls, split), over.values(cls, split)
        shared = [id for id in mine if id in theirs]
        if not shared:
            raise ValueError(f"over ({over.technique!r}) shares no question of class {cls!r} and split {split!r}")
        return paired_bootstrap([mine[id] for id in shared], [theirs[id] for id in shared])

    @property
    def who(self) -> str:
        """Who answered, in the words of a table.

        >>> Score("doc2query", "07", "", "hand", "recall@5", {}, 0, 0, 1.0).who
        'hand (index)'
        """
        index = f"{self.indexed} (index)" if self.indexed else ""
        return ", ".join(part for part in (self.answerer, index) if part)
