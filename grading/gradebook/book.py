"""nbgrader's gradebook for one course."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from grading.course import Exercise
from grading.gradebook.describing import describe
from grading.gradebook.entries import enter_students, remove_entries
from grading.gradebook.hashes import Hashes
from grading.gradebook.opening import connect, explained, prepare, transaction
from grading.gradebook.penalties import Penalty, enter_penalties
from grading.gradebook.reading import asked, entered, totals
from grading.gradebook.rows import batches
from grading.gradebook.scores import Sheet, sheet, storable
from grading.gradebook.writing import Times, write_chunk
from grading.verdict import Verdict

CHUNK = 1_000  # submissions a transaction


class Book:
    """A gradebook opened for writing (a context manager).

    Every method raises `GradebookLocked` when another program keeps the file for longer than `wait` seconds, and
    `ValueError` that names the file when it cannot be written for another reason. Chunks written before stay.
    """

    def __init__(
        self,
        database: Path,
        exercises: Iterable[Exercise],
        wait: float = 10.0,
        chunk: int = CHUNK,
        hashes: Path | None = None,
    ) -> None:
        """Open a gradebook, a new one where there is none, and enter the exercises. `hashes`: the folder that says
        which files its scores are about; without it every mark of a person's is taken for one of another file."""
        if chunk < 1:
            raise ValueError(f"chunk: {chunk} is below 1")
        self.exercises = {exercise.key: exercise for exercise in exercises}
        self.database, self.chunk = database, chunk
        self.hashes = None if hashes is None else Hashes(hashes)
        database.parent.mkdir(parents=True, exist_ok=True)
        self.engine = connect(database, wait)
        try:
            with transaction(self.engine, database) as connection:
                prepare(connection, database)
                for exercise in self.exercises.values():
                    describe(connection, exercise)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self.engine.dispose()

    def add_student(self, student: str, name: str = "") -> None:
        """Enter a student; a name is given as "Last, First" or in one piece."""
        self.add_students([(student, name)])

    def add_students(self, students: Iterable[tuple[str, str]]) -> None:
        """Enter students, as (id, name), also those who have handed in nothing."""
        for part in batches(students, self.chunk):
            with transaction(self.engine, self.database) as connection:
                enter_students(connection, {storable(student): storable(name) for student, name in part})

    def write(self, student: str, verdict: Verdict, times: Times | None = None) -> None:
        """Write one verdict."""
        self.write_many([(student, verdict)], times=times)

    def write_many(
        self,
        pairs: Iterable[tuple[str, Verdict]],
        names: Mapping[str, str] | None = None,
        times: Times | None = None,
    ) -> int:
        """Write verdicts, by student; gives how many. Students who are new are entered, with their names by id.

        `times`: when an assignment was handed in, by student and assignment, None where that is not known; who is not
        in it keeps the time that the gradebook has.

        Where an assignment has several notebooks and a student has a verdict on one of them, the others get explicit
        zeros until a verdict on them comes, in whatever order. Pairs are taken as they come, a chunk at a time, and
        none is kept. Of two verdicts on the same notebook the later counts.

        Raises `ValueError` for a verdict on an exercise that the book was not opened with.
        """
        written = 0
        names = {storable(student): storable(name) for student, name in (names or {}).items()}
        times = {(storable(student), assignment): time for (student, assignment), time in (times or {}).items()}
        for part in batches((self._sheet(student, verdict) for student, verdict in pairs), self.chunk):
            with transaction(self.engine, self.database) as connection:
                write_chunk(connection, {key: rows for key, rows, _ in part}, self.exercises, names, times)
            for (_, exercise), rows, (student, sha256) in part:
                if self.hashes is not None and not rows.again:
                    self.hashes.put(student, self.exercises[exercise], sha256)
            written += len(part)
        return written

    def penalise(self, penalty: Penalty) -> None:
        """Set anew what being late costs, for every entry of this course's assignments."""
        for assignment in dict.fromkeys(exercise.assignment for exercise in self.exercises.values()):
            with transaction(self.engine, self.database) as connection:
                enter_penalties(connection, assignment, penalty)

    def remove(self, student: str, exercise: Exercise) -> None:
        """Take out the entry of a student who has handed in nothing (any more)."""
        self.remove_many([(student, exercise.assignment)])

    def remove_many(self, entries: Iterable[tuple[str, str]]) -> None:
        """Take out whole entries, by student and assignment. One that is not there is passed over."""
        for part in batches(entries, self.chunk):
            with transaction(self.engine, self.database) as connection:
                for name in dict.fromkeys(assignment for _, assignment in part):
                    students = [storable(student) for student, assignment in part if assignment == name]
                    remove_entries(connection, name, students)

    def entries(self) -> set[tuple[str, str]]:
        """Who has an entry for what: (student, assignment), those aside whose assignment is not this course's."""
        known = {exercise.assignment for exercise in self.exercises.values()}
        with explained(self.database), self.engine.connect() as connection:
            return {entry for entry in entered(connection) if entry[1] in known}

    def marks(self) -> dict[tuple[str, str], float]:
        """The mark of every submitted notebook, by student and exercise; what being late costs is taken off."""
        return {(row["student"], row["exercise"]): row["score"] for row in self.rows()}

    def waiting(self) -> set[tuple[str, str]]:
        """What waits for a person's mark, by student and exercise."""
        with explained(self.database), self.engine.connect() as connection:
            return {
                (student, exercise.key)
                for assignment in dict.fromkeys(exercise.assignment for exercise in self.exercises.values())
                for student, notebook in asked(connection, assignment)
                for exercise in self.exercises.values()
                if (exercise.assignment, exercise.name) == (assignment, notebook)
            }

    def rows(self) -> list[dict[str, Any]]:
        """What the gradebook says, one row a student and notebook: student, exercise, score (without what being late
        costs), max_score."""
        keys = {(exercise.assignment, exercise.name): key for key, exercise in self.exercises.items()}
        found = []
        with explained(self.database), self.engine.connect() as connection:
            for assignment in dict.fromkeys(name for name, _ in keys):
                for student, notebook, points, most, lost in totals(connection, assignment):
                    key = keys.get((assignment, notebook))
                    score = max(0.0, points - lost)
                    if key is not None:
                        found.append({"student": student, "exercise": key, "score": score, "max_score": most})
        return found

    def _sheet(self, student: str, verdict: Verdict) -> tuple[tuple[str, str], Sheet, tuple[str, str]]:
        """The key and the sheet of a verdict, and the student's own name with the hash of what was handed in."""
        exercise = self.exercises.get(verdict.exercise)
        if exercise is None:
            raise ValueError(f"exercise: {verdict.exercise!r} is not in this gradebook's course")
        sha256 = verdict.submission_sha256
        again = self.hashes is not None and self.hashes.get(student, exercise) == sha256
        return (storable(student), verdict.exercise), sheet(exercise, verdict, again), (student, sha256)
