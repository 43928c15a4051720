"""What became of one piece of work, as plain data: a run is a process of its own and tells by lines of JSON."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Without faults all was as it should be. `score`: the gradebook's, None without an entry."""

    id: str
    expected: str
    score: float | None
    status: str
    faults: tuple[str, ...]

    @property
    def ours(self) -> str:
        """What the grader made of it, in short.

        >>> Result("broken/cut_off", "0 unreadable", 0.0, "unreadable", ()).ours
        '0 unreadable'
        """
        return f"{'none' if self.score is None else format(self.score, 'g')} {self.status}".strip()
