"""Makes the released exercises from the instructor's source with nbgrader, and says whether they are current.

nbgrader runs in one process for all assignments, on a copy, with the course's own nbgrader_config.py: its database and
its log stay out of the course's folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from grading.course.folders import Course

SCRIPT = """
import os, sys
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)
from nbgrader.apps import NbGraderApp
from nbgrader.apps.api import NbGraderAPI
app = NbGraderApp()
app.load_config_file()
app.config.CourseDirectory.update(source_directory="source", release_directory="release", root=".",
                                  db_url="sqlite:///release.db")
api = NbGraderAPI(config=app.config)
for name in sys.argv[1:]:
    result = api.generate_assignment(name)
    if not result["success"]:
        sys.exit(f"{name}:\\n" + str(result.get("log") or result.get("error")))
"""
REASON = re.compile(
    r"^(?:\[ERROR\] | {4})(?!Traceback|There was an error|Please see|During handling|The above)(\S.*)$", re.MULTILINE
)


def generate(course: Course, into: Path | None = None) -> list[Path]:
    """Generate every assignment of the source folder; gives the notebooks written.

    Raises `ValueError` that names the source folder, with nbgrader's own words, when it refuses.
    """
    target = into or course.release
    made: list[Path] = []
    names = sorted(path.name for path in course.source.iterdir() if path.is_dir() and any(path.glob("*.ipynb")))
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for name in names:
            shutil.copytree(course.source / name, folder / "source" / name)
        config = course.root / "nbgrader_config.py"
        if config.is_file():
            shutil.copy(config, folder)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *names], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ValueError(f"{course.source}: nbgrader did not make the exercises: {reasons(done.stderr)}")
        for name in names:
            for path in sorted((folder / "release" / name).glob("*.ipynb")):
                (target / name).mkdir(parents=True, exist_ok=True)
                made.append(Path(shutil.copyfile(path, target / name / path.name)))
    return made


def reasons(log: str) -> str:
    """Why nbgrader refused, from its log: what its errors say, without the ways they took through its code; the end of
    the log where it holds no such line."""
    name = re.search(r"^([^\s\[][^\n]*:)$", log, re.MULTILINE)
    said = [line.strip() for line in REASON.findall(log[name.end() :] if name else log)]
    if not said:
        return log.strip()[-3000:]
    return " ".join([*([name[1]] if name else []), "; ".join(dict.fromkeys(said))])


def stale(course: Course) -> list[str]:
    """Released notebooks that differ from what the source gives now, or that have no source."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = {path.relative_to(folder): path.read_bytes() for path in generate(course, Path(folder))}
    have = {path.relative_to(course.release): path.read_bytes() for path in course.release.glob("*/*.ipynb")}
    return sorted(str(path) for path in fresh.keys() | have.keys() if fresh.get(path) != have.get(path))
