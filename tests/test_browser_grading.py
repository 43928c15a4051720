"""nbgrader in a real browser: a JupyterLab server on loopback, Chromium, formgrader's buttons and the Validate button.

What is seen is also saved as pictures where `GRADING_SHOTS` names a folder.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grading.course import Exercise, open_course
from grading.course.notebook import mark_of
from grading.feedback import write_index, write_page
from grading.overview import Entry
from tests.grading_tiny import make_course, write_notebook
from tests.test_book_gates import tool
from tests.test_grading_feedback import NASTY, verdict
from tests.tools import missing

ROOT = Path(__file__).resolve().parents[1]
browser = tool("browser")
WAIT = 240_000  # milliseconds: a busy machine starts JupyterLab in minutes
EXERCISE = "interleave"
ANSWERS = {
    name: ROOT / "tests" / "submissions" / EXERCISE / f"{name}.py" for name in ("right_pointers", "wrong_loses_turn")
}
CONFIG = """from grading.bridge import install
c = get_config()
install(c)
c.RebuildingExporter.allow_unsandboxed = True
c.CourseDirectory.course_id = ""
"""

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True, scope="module")
def chromium() -> None:
    if (why := browser.unavailable()) is not None:
        missing(f"a browser ({why})")


def answered(answer: str) -> dict[str, Any]:
    """The released notebook with an answer in it."""
    book = json.loads((ROOT / "exercises" / EXERCISE / f"{EXERCISE}.ipynb").read_text(encoding="utf-8"))
    for one in book["cells"]:
        if mark_of(one).get("solution"):
            one["source"] = ANSWERS[answer].read_text(encoding="utf-8")
    return dict(book)


def hidden_lines(exercise: Exercise) -> list[str]:
    """Lines of an exercise's hidden tests that are long enough to be known by."""
    lines = [
        line.strip()
        for test in exercise.tests
        for first, last in test.hidden_lines
        for line in test.source.split("\n")[first - 1 : last]
    ]
    return [line for line in lines if len(line) > 25]


@contextmanager
def jupyter_lab(root: Path) -> Iterator[tuple[str, str]]:
    """JupyterLab with nbgrader's extensions in a folder, on a free loopback port; gives its address and its token.
    Nothing of the user's own Jupyter set-up is read or written."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token, home = secrets.token_hex(16), root.parent / f"{root.name}-jupyter"
    folders = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.root_dir={root}"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (root.parent / "lab.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=root, env={**os.environ, **folders, "PATH": path, "HOME": str(home)}, stdout=log, stderr=log
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, root.parent / "lab.log")
            yield f"http://127.0.0.1:{port}", token
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + WAIT / 1000
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()[-2000:]}")


def shot(page: Any, name: str) -> None:
    if os.environ.get("GRADING_SHOTS"):
        page.screenshot(path=str(Path(os.environ["GRADING_SHOTS"]) / f"{name}.png"))


def opened(chrome: Any) -> Any:
    """A page of a desk's size that waits long enough."""
    page, _ = browser.opened(chrome, "light", browser.DESK)
    page.set_default_timeout(WAIT)
    return page


@pytest.mark.slow
def test_formgraders_button_grades_with_this_grader(tmp_path: Path) -> None:
    root = tmp_path / "course"
    shutil.copytree(ROOT / "solutions" / EXERCISE, root / "source" / EXERCISE)
    shutil.copytree(ROOT / "exercises" / EXERCISE, root / "release" / EXERCISE)
    (root / "nbgrader_config.py").write_text(CONFIG)
    for student, answer in (("ann", "wrong_loses_turn"), ("bob", "right_pointers")):
        write_notebook(root / "submitted" / student / EXERCISE / f"{EXERCISE}.ipynb", answered(answer))
    with jupyter_lab(root) as (address, token), browser.launched() as chrome:
        page = opened(chrome)
        page.goto(f"{address}/lab?token={token}")
        page.get_by_role("menuitem", name="Nbgrader").click()
        page.get_by_role("menuitem", name="Formgrader").click()
        frame = page.frame_locator("iframe")
        frame.get_by_text("Manage Assignments").first.wait_for()
        frame.locator(".num-submissions a").first.click()
        row = frame.locator("tr", has_text="ann")
        row.locator(".autograde a").click()
        frame.get_by_text(f"Successfully autograded '{EXERCISE}' for student 'ann'.").wait_for()
        shot(page, "formgrader-autograded")
        frame.get_by_role("button", name="OK").or_(frame.locator(".modal-footer button")).first.click()
        row.locator(".score", has_text="/ 10").wait_for()
        assert row.locator(".score").inner_text().strip() == "5 / 10"
        assert frame.locator("tr", has_text="bob").locator(".score").inner_text().strip() in ("", "0 / 10")
        shot(page, "formgrader-score")
        view = opened(chrome)
        listed = view.request.get(
            f"{address}/formgrader/api/submitted_notebooks/{EXERCISE}/{EXERCISE}?token={token}", timeout=WAIT
        )
        (one,) = [submission for submission in listed.json() if submission["student"] == "ann"]
        view.goto(f"{address}/formgrader/submissions/{one['id']}/?token={token}", wait_until="domcontentloaded")
        view.get_by_text("5 of 10 points").wait_for()
        text = view.inner_text("body")
        hidden = hidden_lines(open_course(root).exercise(EXERCISE))
        assert hidden
        assert not [line for line in hidden if line in text]
        assert "A list lost its turn" in text
        shot(view, "formgrader-submission")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("right_pointers", "Success! Your notebook passes all the tests."),
        ("wrong_loses_turn", "The following cell failed:"),
    ],
)
def test_validate_button_tells_right_from_wrong(answer: str, says: str, tmp_path: Path) -> None:
    root = tmp_path / "student"
    write_notebook(root / EXERCISE / f"{EXERCISE}.ipynb", answered(answer))
    with jupyter_lab(root) as (address, token), browser.launched() as chrome:
        page = opened(chrome)
        page.goto(f"{address}/lab/tree/{EXERCISE}/{EXERCISE}.ipynb?token={token}")
        page.locator(".jp-Notebook").wait_for()
        page.get_by_role("button", name="Validate").first.click()
        dialog = page.locator(".jp-Dialog", has_text="alidation")
        dialog.get_by_text(says).first.wait_for()
        shot(page, f"validate-{answer}")
        said = dialog.inner_text()
        assert says in said
        assert ("turn" in said) == answer.startswith("wrong")  # the test's message is what the student reads


def test_pages_of_the_grader_pass_what_pages_of_the_book_pass(tmp_path: Path) -> None:
    exercise = make_course(tmp_path / "course").exercise("tiny")
    one = verdict(notes=(NASTY * 20,), message="Nothing was run.", status="suspicious", sandbox="none")
    site = tmp_path / "site"
    write_page(site, exercise, "ann", one, NASTY)
    entries = [
        Entry(
            f"s{n}",
            "tiny",
            1.0,
            10.0,
            ("suspicious", "ok", "timeout")[n % 3],
            n % 3 == 1,
            ("none", "bubblewrap")[n % 2],
        )
        for n in range(600)
    ]
    write_index(site, [exercise], [(f"s{n}", f"A name, rather long {n}") for n in range(600)], entries)
    assert browser.check(site) == []


def test_course_of_the_project_is_what_its_configuration_says() -> None:
    course = open_course(ROOT, bundled=True)
    plain = open_course(ROOT)
    assert (plain.submitted, plain.feedback, plain.source) == (course.submitted, course.feedback, course.source)
