"""Shows what was found: a table of figures, the wrong answers with the tests they fail, and what is amiss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from grading.proof.findings import Proof
from grading.verdict import number

COLUMNS = ("right, full", "wrong, caught", "mutants", "killed", "waived", "survive", "hard-coded", "harmless elsewhere")


def figures(proofs: Sequence[Proof]) -> Table:
    """One row a graded answer, and the sums."""
    table = Table("exercise", "graded answer")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    rows = [row for proof in proofs for row in proof.rows]
    for row in rows:
        table.add_row(
            row.exercise,
            row.answer,
            _of(row.right_full, row.right),
            _of(row.wrong_caught, row.wrong),
            *map(str, (row.made, row.killed, row.waived, row.survived)),
            row.hard_coded or "no function",
            _of(row.harmless, row.elsewhere),
        )
    table.add_section()
    sums = (sum(getattr(row, name) for row in rows) for name in ("made", "killed", "waived", "survived"))
    table.add_row("", "all", "", "", *map(str, sums), "", "")
    return table


def wrong_answers(proofs: Sequence[Proof]) -> Table:
    """Each wrong answer, what it earns, and the tests that it fails."""
    table = Table("exercise", "wrong answer", "points", "fails")
    for proof in proofs:
        for own in sorted(proof.wrong, key=lambda own: own.attempt.name):
            points = f"{number(own.score)} of {number(own.max_score)}"
            key, name = own.attempt.exercise.key, own.attempt.name.removeprefix("wrong_")
            table.add_row(key, name, points, ", ".join(test.removeprefix("test-") for test in own.failed))
    return table


def waived(waivers: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Table:
    """Each mutant that is waived, and why."""
    table = Table("exercise", "graded answer", "mutant", "why it keeps to the contract")
    for exercise, answers in waivers.items():
        for answer, reasons in answers.items():
            for name, reason in reasons.items():
                table.add_row(exercise, answer, name, reason)
    return table


def _of(part: int, whole: int) -> str:
    """ "7" where all of them are meant, else "6 of 7"."""
    return str(part) if part == whole else f"{part} of {whole}"
