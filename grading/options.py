"""The words of the command line: commands, options, what each is for, and the exit statuses."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path

from grading.running.plan import Limits

DONE, NOT_AS_IT_SHOULD, WRONG, LOCKED, STOPPED = 0, 1, 2, 3, 130
STATUSES = """exit status:
  0    done; of `check`: full marks; of `generate --check`: everything is current
  1    of `grade`: the grader failed on a submission, a test fails on the instructor's own answer, or a mark of the
       sample class is not as expected; of `check`: less than full marks; of `generate --check`: something is not
       current; of `worker`: a line was no job
  2    a wrong command, a course that cannot be read, or no sandbox that does what it should: nothing was run
  3    everything is graded and recorded, and the gradebook could not be written: grade again when it is free
  130  stopped by Ctrl-C (143: by SIGTERM); the records are kept, and grading again goes on from there
"""
COURSE = "an nbgrader course: a folder with source/ and submitted/"
LIMITS = {
    "cell_seconds": "wall seconds for a cell",
    "test_seconds": "wall seconds for a test",
    "total_seconds": "wall seconds for a submission",
    "memory": "bytes of memory",
    "file_size": "bytes of one file",
    "disk": "bytes of all files",
    "message": "bytes of one answer to a test",
    "processes": "processes and threads at once",
    "open_files": "open files at once",
}


def parser() -> argparse.ArgumentParser:
    """The parser of `python -m grading`."""
    whole = argparse.ArgumentParser(
        prog="python -m grading",
        description="Grade answers to the course's exercises.",
        epilog=STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, what: str, course: str = "a course other than the bundled one") -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=what, description=what, epilog=STATUSES, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        made.add_argument("--course", type=Path, metavar="DIR", required=not course, help=course or COURSE)
        return made

    grade = command("grade", "grade a class (without --course: the bundled sample class)", COURSE)
    grade.add_argument("--jobs", type=int, default=0, metavar="N", help="submissions judged at once (0: processors)")
    grade.add_argument("--scheduler", default="", metavar="ADDRESS", help="judge on the Dask cluster at this address")
    grade.add_argument("--records", type=Path, metavar="FILE", help="take in what workers have written elsewhere")
    check = command("check", "grade one answer and say what each test found")
    check.add_argument("exercise", metavar="EXERCISE")
    check.add_argument("file", type=Path, metavar="FILE", help="a notebook or a Python file")
    check.add_argument("--json", action="store_true", help="print the result as JSON, and on the error output the rest")
    generate = command("generate", "make the released exercises from the solutions")
    generate.add_argument("--check", action="store_true", help="write nothing; status 1 when they are not current")
    export = command("export", "write the marks of the gradebook for another system")
    export.add_argument("--format", choices=("csv", "canvas", "moodle"), required=True, help="what it is for")
    export.add_argument("--to", type=Path, metavar="FILE", help="where to; for Moodle and several assignments a folder")
    export.add_argument(
        "--assignment", action="append", default=[], metavar="NAME", help="one of them (again for more)"
    )
    export.add_argument("--id", action="append", default=[], metavar="NAME=ID", help="Canvas's number of an assignment")
    export.add_argument("--worksheet", type=Path, metavar="FILE", help="Moodle's grading worksheet, to be filled in")
    tidy = command("tidy", "rename what was handed in under another name to what nbgrader's own commands look for")
    tidy.add_argument("--dry-run", action="store_true", help="say what would be renamed, and leave it")
    jobs = command("jobs", "print what is to be graded, a job a line, for workers elsewhere", "")
    worker = command("worker", "read jobs, a line each, and print their records, a line each", "")
    worker.add_argument("--submitted", type=Path, metavar="DIR", help="the folder of submissions")
    for one in (grade, jobs):
        one.add_argument("--again", action="store_true", help="run also what has been graded before")
    for one in (grade, check, jobs, worker):
        _limits(one)
    for one in (grade, check, worker):
        text = "run without a sandbox where there is none that works; every result says so"
        one.add_argument("--allow-unsandboxed", action="store_true", help=text)
    return whole


def _limits(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("budgets of one submission")
    for limit in fields(Limits):
        option, kind = f"--{limit.name.replace('_', '-')}", type(limit.default)
        unit = "S" if kind is float else "N"
        help = f"{LIMITS[limit.name]} (default: {limit.default:g})" if kind is float else LIMITS[limit.name]
        group.add_argument(option, type=kind, default=limit.default, metavar=unit, help=help)


def limits_of(options: argparse.Namespace) -> Limits:
    """The budgets that were asked for. Raises `ValueError` that names one which is not above 0."""
    return replace(Limits(), **{limit.name: getattr(options, limit.name) for limit in fields(Limits)})
