"""Grades cases and their controls in small classes, and says of each what was wrong.

Run by `launching.launch` in a process of its own, with the canary variable in its environment from the start. Reads
names of cases from its arguments and writes one JSON line a result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.hostile import watching
from tests.hostile.asserting import class_faults, full, marks, result
from tests.hostile.cases import CONTROLS, Case, read_cases
from tests.hostile.results import Result
from tests.hostile.steps import ALONE, GRADES, Entry, Stage
from tests.hostile.world import LIMITS, Listener, World, copy_world, make_world, remove

SIZE = 40
HARMLESS = ("broken", "policy")  # may run where there is no sandbox: they are honest work


def batches(entries: Iterable[Entry], size: int) -> list[list[Entry]]:
    """Entries that may be graded side by side: of one group and the same steps, no two of one student."""
    made: list[list[Entry]] = []
    for entry in entries:
        most = 1 if set(entry.variant.steps) & ALONE else size
        for batch in made:
            first = batch[0]
            alike = first.variant.steps == entry.variant.steps and first.case.group == entry.case.group
            students = {student for other in batch for student in other.students}
            if alike and len(batch) < most and not students & set(entry.students):
                batch.append(entry)
                break
        else:
            made.append([entry])
    return made


@dataclass(frozen=True)
class Run:
    """Where classes are graded: copies of a world in which the honest students are graded already."""

    first: World
    folder: Path
    listener: Listener
    unsandboxed: bool

    def of(self, batch: list[Entry], pin: bool) -> list[Result]:
        """Results of one class. With `pin`, one in which something is wrong is taken apart, so that a fault is told of
        whoever did it."""
        results, shared = self._graded(batch)
        if not pin or len(batch) == 1 or not any(one.faults for one in results):
            return results
        if not shared:  # nothing but marks and pages of single students: see whether each shows the same alone
            alone = [
                self._graded([entry])[0][0] if one.faults else one for entry, one in zip(batch, results, strict=True)
            ]
            return [_beside(one, again) for one, again in zip(results, alone, strict=True)]
        half = len(batch) // 2
        parts = [*self.of(batch[:half], pin), *self.of(batch[half:], pin)]
        return parts if any(one.faults for one in parts) else [_beside(one, one) for one in results]

    def _graded(self, batch: list[Entry]) -> tuple[list[Result], bool]:
        """Results of one class, and whether something was wrong that is not one student's."""
        stage = Stage(copy_world(self.first, self.folder), batch, unsandboxed=self.unsandboxed)
        heard, began = self.listener.heard, time.monotonic()
        try:
            for step in batch[0].variant.steps:
                (stage.watched if step in GRADES else stage.perform)(step)
            seconds = time.monotonic() - began
            if self.listener.heard > heard:
                stage.faults.append("reached a listener on this machine")
            stage.faults += class_faults(stage)
            if seconds > sum(entry.case.seconds for entry in batch):
                stage.faults.append(f"took {seconds:.0f} seconds")
            return [result(stage, entry) for entry in batch], bool(stage.faults)
        finally:
            if stage.lock is not None:
                stage.lock.close()
            remove(self.folder)


def _beside(one: Result, again: Result) -> Result:
    """A fault that is not there when a piece of work is graded alone stays a fault."""
    if not one.faults or (again is not one and again.faults):
        return again
    faults = tuple(f"only beside others: {fault}" for fault in one.faults)
    return Result(one.id, one.expected, one.score, one.status, faults)


def run(
    entries: Sequence[Entry],
    folder: Path,
    size: int = SIZE,
    pin: bool = True,
    unsandboxed: bool = False,
    fresh: bool = False,
) -> Iterator[Result]:
    """A result for each entry. `unsandboxed`: go on where there is no sandbox; `fresh`: grade no class beforehand,
    which is quicker for a few entries, and compares no rows of the gradebook."""
    with Listener() as listener:
        first = make_world(folder / "first", listener.port)
        stage = Stage(first, [], unsandboxed=unsandboxed)
        if not fresh:
            stage.grade_unchanged()
        if stage.faults or (not fresh and any(marks(first, student) != full(first) for student in CONTROLS)):
            print(f"an undisturbed class is not graded as it should be: {stage.faults}", file=sys.stderr)
        classes = Run(first, folder / "now", listener, unsandboxed)
        for batch in batches(entries, size):
            yield from classes.of(batch, pin)


def sandboxed() -> str:
    """Why hostile programs may not be run here, or "" where the grader's sandbox holds."""
    try:
        from grading.sandbox import Sandbox, SandboxError, self_test
    except ImportError:
        return "the grader has no sandbox"
    try:
        with Sandbox((), LIMITS) as sandbox:
            return "; ".join(self_test(sandbox))
    except SandboxError as problem:
        return str(problem)


def chosen(names: Sequence[str], cases: Sequence[Case]) -> list[Entry]:
    """Entries by the name of a group ("cheating"), a case with its control, or one of the two ("... control").

    Raises `ValueError` for a name that is none.
    """
    entries = [Entry(case, side) for case in cases for side in ("hostile", "control")]
    if not names:
        return entries
    known = {word for entry in entries for word in (entry.case.group, entry.case.id, f"{entry.case.id} {entry.side}")}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no case or group {', '.join(unknown)}")
    wanted = set(names)
    return [e for e in entries if wanted & {e.case.group, e.case.id, f"{e.case.id} {e.side}"}]


def main() -> int:
    """Grade the entries named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--as-they-are", action="store_true", help="take no class apart in which something is wrong")
    parser.add_argument("--fresh", action="store_true", help="grade no class beforehand")
    options = parser.parse_args()
    entries = chosen(options.names, read_cases())
    why = sandboxed()
    if why and any(entry.side == "hostile" and entry.case.group not in HARMLESS for entry in entries):
        print(f"hostile programs are not run here: {why}", file=sys.stderr)
        return 3
    watching.adopt()
    with options.out.open("w", encoding="utf-8") as out:
        pin = not options.as_they_are
        for result in run(entries, options.folder, options.size, pin, bool(why), options.fresh):
            out.write(json.dumps(asdict(result)) + "\n")
            out.flush()
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
