"""The grader itself is changed for the worse, one slip at a time, and each time the corpus of submissions must notice.

A mutant is a copy of the grader in which a text is replaced; the cases it names are graded by the copy and at least one
must be wrong. A sample of those that are quick runs here, all of them in `make test-full`.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hostile.cases import GROUPS, read_cases
from tests.hostile.launching import ROOT, NoSandboxError, launch
from tests.hostile.results import Result

SAMPLE = 4


@dataclass(frozen=True)
class Mutant:
    """A slip: what each of some texts becomes, by file, and the cases of which one must turn red. `quick`: they take
    little time."""

    name: str
    edits: tuple[tuple[str, str, str], ...]
    cases: tuple[str, ...]
    quick: bool = True


def mutant(name: str, file: str, old: str, new: str, *cases: str, quick: bool = True) -> Mutant:
    """A slip of one edit."""
    return Mutant(name, ((file, old, new),), cases, quick)


MUTANTS = (
    # What a test finds
    mutant(
        "an error of a visible test is ignored",
        "running/proctor.py",
        "return self.explainer.of_test(outcome.problem, cell, outcome.wanted, desk.session.lost)",
        "return passed",
        "cheating/stored_outputs",
    ),
    mutant(
        "an error of a hidden part is ignored",
        "running/sealing.py",
        "    said = _failed(problem, cell, explainer, outcome.wanted, lines[-1] if lines else 0)\n",
        '    said = TestRun(cell.id, "ok", cell.points, "")\n',
        "cheating/hard_coded_examples",
    ),
    mutant(
        "hidden parts are skipped",
        "running/known.py",
        'return None if seen is not None and seen.status == "ok" and cell.hidden_lines else seen',
        "return seen",
        "cheating/hard_coded_examples",
    ),
    Mutant(
        "a timeout is swallowed",
        (
            (
                "running/proctor.py",
                "            return failed(cell, outcome.stopped.status, stop_text(outcome.stopped))\n",
                "            return passed\n",
            ),
            (
                "running/sealing.py",
                "    if outcome.stopped is not None:\n        return _stopped(cell, outcome.stopped)\n",
                '    if outcome.stopped is not None:\n        return TestRun(cell.id, "ok", cell.points, "")\n',
            ),
        ),
        ("resources/exit_in_a_function", "resources/endless_loop"),
        quick=False,
    ),
    mutant(
        "a test that ends the judging process gives its points",
        "running/runner.py",
        "    if life.signal == signal.SIGPROF:\n        return failed(cell,",
        '    if life.signal:\n        return TestRun(cell.id, "ok", cell.points, "")\n'
        "    if life.signal == signal.SIGPROF:\n        return failed(cell,",
        "resources/slow_dictionary",
        quick=False,
    ),
    mutant(
        "everything fails",
        "judge.py",
        "            test.points,\n            points[test.id],\n            test.status,\n",
        '            0.0,\n            points[test.id],\n            "student_error",\n',
        "cheating/stored_outputs control",
        "broken/utf_16",
    ),
    # What the student's process says
    mutant(
        "an object of the student's equals what it wants to",
        "running/standins.py",
        "    def __repr__(self) -> str:\n",
        "    def __eq__(self, other: object) -> bool:\n        return True\n\n    def __repr__(self) -> str:\n",
        "cheating/always_equal_object",
    ),
    mutant(
        "an object of the student's says what it holds",
        "running/standins.py",
        '        if self._asked:\n            return self._session.ask("contains", self, item) is True\n',
        '        if True:\n            return self._session.ask("contains", self, item) is True\n',
        "cheating/always_contains",
    ),
    Mutant(
        "what the student's process sends counts, asked for or not",
        (
            (
                "running/channel.py",
                '            if answer.get("n") != self.number and not self._ends_test(answer):\n',
                "            if False:\n",
            ),
            ("running/channel.py", "        while self.arrived or self.readable.poll(0):\n", "        while False:\n"),
        ),
        ("cheating/speaks_out_of_turn",),
    ),
    # What is taken from the submission
    mutant(
        "tests are taken from the submission",
        "submission/rebuilding.py",
        "        cells += _plan_cell(cell, texts.get(cell.id))\n",
        "        own = [one.source for one in submission.cells if one.mark == cell.id and cell.kind == 'test']\n"
        "        texted = {**vars(cell), 'source': own[0], 'hidden_lines': ()} if own else vars(cell)\n"
        "        cell = type(cell)(**texted)\n"
        "        cells += _plan_cell(cell, texts.get(cell.id))\n",
        "cheating/edited_tests",
    ),
    Mutant(
        "points are taken from the submission",
        (
            (
                "submission/reading.py",
                "    code: bool\n    raw: bool = False\n",
                "    code: bool\n    raw: bool = False\n    points: float = 0.0\n",
            ),
            (
                "submission/reading.py",
                'kind == "code", kind == "raw")',
                'kind == "code", kind == "raw", '
                'float(cell.get("metadata", {}).get("nbgrader", {}).get("points") or 0))',
            ),
            ("submission/decoding.py", 'digits.")\n    return 0\n', 'digits.")\n    return float(digits)\n'),
            (
                "submission/rebuilding.py",
                "        cells += _plan_cell(cell, texts.get(cell.id))\n",
                "        own = [s.points for s in submission.cells if s.mark == cell.id and cell.kind == 'test']\n"
                "        cell = type(cell)(**{**vars(cell), 'points': [cell.points, *own][-1]})\n"
                "        cells += _plan_cell(cell, texts.get(cell.id))\n",
            ),
        ),
        ("cheating/raised_points",),
    ),
    mutant(
        "a test counts as often as it stands in the submission",
        "judge.py",
        "        score=sum(test.points for test in tests),\n",
        "        score=sum(t.points * (1 + any(f'{t.id}” was there' in n for n in paper.notes)) for t in tests),\n",
        "broken/duplicated_test",
    ),
    Mutant(
        "a test that is missing costs nothing and earns its points",
        (
            (
                "judge.py",
                "    points = {cell.id: cell.points for cell in exercise.tests}\n",
                "    gone = [n for n in paper.notes if 'missing' in n]\n"
                "    outcome = replace(outcome, tests=tuple(\n"
                "        replace(t, status='ok', points=9.0) if any(t.id in n for n in gone) else t\n"
                "        for t in outcome.tests))\n"
                "    points = {cell.id: cell.points for cell in exercise.tests}\n",
            ),
        ),
        ("cheating/deleted_tests",),
    ),
    mutant(
        "a forbidden import is let through",
        "judge.py",
        "    if taken:\n",
        "    if False:\n",
        "cheating/forbidden_import",
    ),
    # How what was handed in is found and read
    Mutant(
        "a link is followed",
        (
            (
                "submission/opening.py",
                "        found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)\n",
                "        found = os.stat(path.name, dir_fd=folder)\n",
            ),
            (
                "submission/opening.py",
                "        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC\n",
                "        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC\n",
            ),
        ),
        ("leaks/submission_is_a_link",),
    ),
    mutant(
        "a linked folder is followed",
        "submission/opening.py",
        "below = os.open(step, flags | os.O_NOFOLLOW, dir_fd=here)",
        "below = os.open(step, flags, dir_fd=here)",
        "cheating/linked_folder",
    ),
    mutant(
        "the instructor's own notebook is nothing to look at",
        "submission/provenance.py",
        '    """A sentence for the student where a file looks like the instructor\'s own; "" where it does not."""\n',
        '    """Nothing."""\n    return ""\n',
        "leaks/submission_is_a_hard_link",
    ),
    # What is handed back
    mutant(
        "the whole test is sent in the first run",
        "running/proctor.py",
        "outcome = desk.run_test(test.visible, self._numpy(test.visible), more)",
        "outcome = desk.run_test(test.whole, self._numpy(test.whole), more)",
        "leaks/file_told_by_a_later_cell",
        "leaks/raises_arguments",
    ),
    mutant(
        "the text of an error in a hidden part is shown",
        "running/sealing.py",
        'return failed(cell, "student_error", f"Your code raised {name}")',
        'return failed(cell, "student_error", f"Your code raised {problem}")',
        "leaks/raises_arguments",
    ),
    mutant(
        "the lines that a hidden input went through are shown",
        "running/sealing.py",
        "    said = _failed(problem, cell, explainer, outcome.wanted, lines[-1] if lines else 0)\n",
        "    said = explainer.of_test(problem, cell, outcome.wanted, {})\n",
        "leaks/tells_by_line_number",
    ),
    mutant(
        "a page is not escaped",
        "pages.py",
        "    return escape(visible(words))\n",
        "    return visible(words)\n",
        "leaks/html_in_output",
    ),
    mutant(
        "a terminal obeys what was printed",
        "visible.py",
        '    return UNSEEN.sub(_shown, COLOUR.sub("", text.replace("\\r\\n", "\\n")))\n',
        "    return text\n",
        "leaks/html_in_output",
    ),
    mutant(
        "a formula goes into a table",
        "export/table.py",
        """    return ("'" if risky else "") + INSIDE.sub(r"\\1'", shown)\n""",
        "    return shown\n",
        "leaks/formula_in_the_students_name",
    ),
    # The sandbox
    mutant(
        "the network is there",
        "sandbox/bubblewrap.py",
        ' "--unshare-net",',
        "",
        "leaks/network",
    ),
    mutant(
        "the environment is handed on",
        "sandbox/layout.py",
        '    return {**CLEAN, "LD_LIBRARY_PATH": libraries} if libraries else dict(CLEAN)\n',
        "    return {**CLEAN, **os.environ}\n",
        "leaks/process_environment",
    ),
    mutant(
        "no sandbox at all",
        "sandbox/levels.py",
        '    return known if allow_unsandboxed else tuple(each for each in known if each != "none")\n',
        '    return ("none",)\n',
        "leaks/process_environment",
    ),
    Mutant(
        "one temporary folder for all",
        (
            (
                "sandbox/namespaces.py",
                '    system.mount("tmpfs", "/tmp", "tmpfs", PRIVATE, f"mode=0755,size={disk},nr_inodes={INODES}")\n',
                "",
            ),
            ("sandbox/namespaces.py", "    os.mkdir(FOLDER)\n", "    os.makedirs(FOLDER, exist_ok=True)\n"),
            ("sandbox/entering.py", 'open(name, "xb") as to', 'open(name, "wb") as to'),
        ),
        ("cheating/leaves_word_for_others",),
    ),
    mutant(
        "no bound on files that are open",
        "sandbox/limits.py",
        "        resource.RLIMIT_NOFILE: limits.open_files,\n",
        "        resource.RLIMIT_NOFILE: 1 << 20,\n",
        "resources/descriptors",
    ),
    mutant(
        "no bound on processes",
        "sandbox/limits.py",
        "        caps[resource.RLIMIT_NPROC] = processes\n",
        "        pass\n",
        "resources/thread_bomb",
        quick=False,
    ),
    mutant(
        "no bound on memory of many processes",
        "sandbox/watch.py",
        "    return sum(_share(pid, held) for pid, held in processes.items()) > most\n",
        "    return False\n",
        "resources/memory_of_many_processes",
        quick=False,
    ),
    mutant(
        "no bound on the number of files",
        "sandbox/namespaces.py",
        'f"mode=0755,size={disk},nr_inodes={INODES}")',
        'f"mode=0755,size={disk}")',
        "resources/many_files",
        quick=False,
    ),
    mutant(
        "a worker outlives the grader that started it",
        "pool.py",
        'sys.platform == "linux" and ctypes.CDLL(None).prctl(1, signal.SIGTERM)\n',
        "",
        "policy/killed_run",
        quick=False,
    ),
    # Records and the gradebook
    mutant(
        "a record holds whatever is handed in",
        "record.py",
        "            self.verdict.submission_sha256,\n",
        "            submission_sha256,\n",
        "policy/good_then_worse",
    ),
    mutant(
        "a record holds whatever the tests are",
        "record.py",
        "            self.source_sha256,\n",
        "            source_sha256,\n",
        "policy/changed_source",
    ),
    mutant(
        "a record that was changed by hand counts",
        "record.py",
        '        if record.sum != data["sum"]:\n',
        "        if False:\n",
        "policy/raised_record",
    ),
    mutant(
        "a zero is no mark",
        "gradebook/writing.py",
        "            score = _score(page, sheet, name, row)\n",
        "            score = _score(page, sheet, name, row)\n"
        "            if not score.points and not score.open:\n                continue\n",
        "policy/good_then_unreadable",
    ),
    mutant(
        "a locked gradebook is passed over",
        "gradebook/opening.py",
        "            raise GradebookLocked(",
        "            return\n            raise GradebookLocked(",
        "policy/locked_gradebook",
        quick=False,
    ),
    mutant(
        "what was taken back keeps its mark",
        "gradebook/book.py",
        "                for name in dict.fromkeys(assignment for _, assignment in part):\n",
        "                for name in ():\n",
        "policy/withdrawn",
    ),
    mutant(
        "a person's mark is not looked at again",
        "gradebook/writing.py",
        "return Score(score.points, row.needs_manual_grade if sheet and sheet.again else True)",
        "return score",
        "policy/mark_of_a_person",
    ),
    mutant(
        "what may not be used is given all the same",
        "running/runner.py",
        "withheld(plan.files, plan.forbidden, Path(folder))",
        "plan.files",
        "cheating/forbidden_import_at_run_time",
    ),
)


def changed(one: Mutant, grader: Path) -> None:
    """Make the edits in a copy of the grader."""
    for file, old, new in one.edits:
        path = grader / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{one.name}: {file} has {text.count(old)} times {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")


def results(names: tuple[str, ...], one: Mutant | None = None) -> list[Result]:
    """What the grader, or a mutant of it, makes of some cases. A sandbox that no longer holds is a fault of each."""
    try:
        return launch(names, change=None if one is None else lambda grader: changed(one, grader), pin=False, fresh=True)
    except NoSandboxError as problem:
        if one is None:
            if os.environ.get("RAGKIT_REQUIRE_ALL") == "1" or os.environ.get("RAGKIT_FULL") == "1":
                raise
            pytest.skip(str(problem))
        return [Result(name, "", None, "", (f"nothing is run: {problem}",)) for name in names]


def caught(one: Mutant) -> bool:
    """Whether a case of a mutant turns red."""
    return any(result.faults for result in results(one.cases, one))


def sample() -> list[Mutant]:
    """The mutants of this run, by the seed of the day."""
    chooser = random.Random(int(os.environ.get("RAGKIT_SAMPLE_SEED", "0")))
    return chooser.sample([one for one in MUTANTS if one.quick], SAMPLE)


def named(mutants: list[Mutant] | tuple[Mutant, ...]) -> tuple[str, ...]:
    """All cases that some mutants name."""
    return tuple(sorted({name for one in mutants for name in one.cases}))


@pytest.mark.parametrize("one", MUTANTS, ids=lambda one: one.name)
def test_the_text_of_a_mutant_is_there_once(one: Mutant):
    for file, old, new in one.edits:
        assert (ROOT / "grading" / file).read_text(encoding="utf-8").count(old) == 1, file
        assert old != new


def test_mutants_name_cases_that_there_are():
    known = {name for case in read_cases() for name in (case.id, f"{case.id} hostile", f"{case.id} control")}
    assert set(named(MUTANTS)) <= known
    assert len(MUTANTS) >= 25
    assert len({one.name for one in MUTANTS}) == len(MUTANTS)


@pytest.fixture(scope="module")
def unchanged() -> dict[str, Result]:
    """The cases of the sample, graded by the grader as it is."""
    return {result.id: result for result in results(named(sample()))}


@pytest.mark.parametrize("one", sample(), ids=lambda one: one.name)
def test_a_sampled_mutant_is_caught(one: Mutant, unchanged: dict[str, Result]):
    assert [result for result in unchanged.values() if result.faults] == []
    assert caught(one)


@pytest.mark.full
def test_every_mutant_is_caught_and_the_grader_as_it_is_passes():
    assert [result for result in results(named(MUTANTS)) if result.faults] == []
    assert [one.name for one in MUTANTS if not caught(one)] == []


@pytest.mark.full
@pytest.mark.parametrize("group", GROUPS)
def test_every_control_is_red_where_everything_fails(group: str):
    (fails,) = [one for one in MUTANTS if one.name == "everything fails"]
    names = tuple(f"{case.id} control" for case in read_cases() if case.group == group)
    made = results(names, fails)
    assert len(made) == len(names)
    own = [any(fault.startswith("the score is") for fault in result.faults) for result in made]
    assert [result.id for result, red in zip(made, own, strict=True) if not red] == []
