"""What is known of a submission while it is judged, in the judging process and in the one that outlives it."""

from __future__ import annotations

from dataclasses import dataclass, field

from grading.running.explaining import STOPS
from grading.running.plan import CellRun, PlanCell, TestRun


@dataclass
class Known:
    """What is known of a submission so far: cells and tests of the first run, tests of the second; seconds that are
    left of all, and whether a test has used up its own."""

    left: float
    was_late: bool = False
    cells: dict[str, CellRun] = field(default_factory=dict)
    visible: dict[str, TestRun] = field(default_factory=dict)
    whole: dict[str, TestRun] = field(default_factory=dict)

    def outcome(self, cell: PlanCell) -> TestRun | None:
        """What a test gets, once that is known."""
        if cell.id in self.whole:
            return self.whole[cell.id]
        seen = self.visible.get(cell.id)
        return None if seen is not None and seen.status == "ok" and cell.hidden_lines else seen


def lost(ran: CellRun | None) -> bool:
    """Whether a cell ended or hung the student's process, so that it is not run again."""
    return ran is not None and ran.error is not None and ran.error.type in STOPS
