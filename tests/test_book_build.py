"""The build of the book, on a book of two pages: it runs, it fails when it should, and its cache hides nothing."""

import doctest
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.test_book_gates import ROOT, TOOLS, tool
from tests.tools import bubblewrap_works, need_bubblewrap, without_network

build = tool("build")

HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
CELL = "```{code-cell} python\n%s\n```\n"
# Appends a line each time it runs, so that a test can count.
COUNTED = CELL % 'from pathlib import Path\n_ = Path("../runs").open("a").write("ran\\n")'
PAGE = (
    HEAD
    + "(one)=\n# 1. The kettle\n\n:::{objectives}\n- count\n:::\n\n"
    + COUNTED
    + CELL
    % (
        "from ragkit.show import bars, claim, passages, table\n"
        'claim("one-recall", 0.625, 0.6, 0.7, fmt="{:.3f}")\n'
        'table([{"system": "BM25", "recall@5": 0.625}], caption="Recall")'
    )
    + "\nThe claim reads {glue:text}`one-recall` {computed}`135M` and $x^2$ of {cite:t}`robertson2009bm25`.\n\n"
    + CELL
    % (
        "---\nmystnb:\n  figure:\n    name: fig-one\n    caption: Recall of one system.\n"
        '  image:\n    alt: One bar at 0.63.\n---\nbars({"BM25": 0.625})'
    )
    + "\n{numref}`fig-one` shows it.\n\n:::{exercise} tiny\nWrite it.\n:::\n\n"
    + ":::{dropdown} The code\n```{literalinclude} ../ragkit/kettle.py\n:pyobject: boil\n```\n:::\n\n"
    + ":::{loses}\nCold water.\n:::\n"
)
KETTLE = """def boil(litres: float) -> float:
    return 2.5 * litres


def pour() -> str:
    return "no part of the page"
"""


def small_book(root: Path, page: str = PAGE) -> Path:
    """A book under ``root`` with the real configuration, extension and style, and a package of one file."""
    book = root / "book"
    for folder in (book, root / "ragkit" / "corpus" / "recordings", root / "exercises" / "tiny"):
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("_ext", "_static", "references.bib", "references.md"):
        (book / name).symlink_to(ROOT / "book" / name)
    shutil.copy(ROOT / "_config.yml", root)
    (root / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n- file: one\n- file: references\n")
    (root / "requirements.txt").write_text("kettle==1.0\n")
    (root / "ragkit" / "kettle.py").write_text(KETTLE)
    (root / "exercises" / "tiny" / "tiny.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    )
    (book / "index.md").write_text("# Kettles explained\n\nSee {doc}`one`.\n")
    (book / "left-out.md").write_text("# Not in the table of contents\n\n{doc}`nowhere`\n")
    (book / "one.md").write_text(page)
    return root


def runs(root: Path) -> int:
    return len((root / "runs").read_text().splitlines()) if (root / "runs").exists() else 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """The small book, built once by the command line, without a network where this machine can take it away."""
    root = small_book(tmp_path_factory.mktemp("good"))
    command = [sys.executable, str(TOOLS / "build.py"), "--root", str(root), "--no-browser"]
    command = without_network(command) if bubblewrap_works() else command
    env = {**os.environ, "RAGKIT_LLM": "http://127.0.0.1:9/v1"}
    return root, subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=env)


def test_a_good_book_builds_without_a_word_on_stderr(built: tuple[Path, "subprocess.CompletedProcess[str]"]) -> None:
    root, done = built
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "no problem found" in done.stdout
    assert "3 pages" in done.stdout
    assert not (root / "_build" / "html" / "left-out.html").exists()


def test_each_cell_runs_once_although_sphinx_reads_it_again(
    built: tuple[Path, "subprocess.CompletedProcess[str]"],
) -> None:
    assert runs(built[0]) == 1


def test_the_devices_of_a_chapter_reach_the_page(built: tuple[Path, "subprocess.CompletedProcess[str]"]) -> None:
    page = BeautifulSoup((built[0] / "_build" / "html" / "one.html").read_text(), "html.parser")
    text = page.get_text(" ")
    assert page.select_one("p .pasted-text").get_text() == "0.625"
    assert page.select_one(".rk-table caption").get_text() == "Recall"
    assert page.select_one("span.rk-badge.rk-computed").get_text() == "computed"
    assert "computed: 135M" in text
    assert page.select_one("figure#fig-one img")["alt"] == "One bar at 0.63."
    assert page.select_one("figure#fig-one img")["src"].endswith(".svg")
    assert "Fig. 1" in text
    assert "def boil" in page.select_one("details").get_text()
    assert "no part of the page" not in text
    for look, title in (("objectives", "Objectives"), ("loses", "When it loses"), ("exercise", "Exercise: tiny")):
        assert page.select_one(f".admonition.{look} > .admonition-title").get_text() == title
    link = page.select_one(".admonition.exercise a.download")["href"]
    assert (built[0] / "_build" / "html" / link).read_text().startswith('{"cells"')
    assert "Robertson" in text


def test_pages_load_no_script_for_widgets_or_live_code(built: tuple[Path, "subprocess.CompletedProcess[str]"]) -> None:
    for path in (built[0] / "_build" / "html").glob("*.html"):
        html = path.read_text()
        for word in ("THEBE_JS_URL", "require.js", "plausible", "unpkg.com", "cdn.jsdelivr", "fonts.googleapis"):
            assert word not in html, f"{path.name} mentions {word}"


def test_a_cell_that_raises_fails_the_build_and_names_page_and_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = small_book(tmp_path, HEAD + "# 1. Broken\n\n" + COUNTED + CELL % 'raise RuntimeError("the kettle is cold")')
    assert build.build(root, browser=False) == 1
    message = capsys.readouterr().err
    assert "one.md" in message
    assert "the kettle is cold" in message
    assert "\x1b[" not in message
    assert not (root / "_build" / "html").exists()
    # a failure is never cached
    assert build.build(root, browser=False) == 1
    assert runs(root) == 2


def test_a_claim_that_no_longer_holds_fails_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = CELL % 'from ragkit.show import claim\nclaim("one-recall", 0.5, 0.6, 0.7)'
    assert build.build(small_book(tmp_path, HEAD + "# 1. Broken\n\n" + claim), browser=False) == 1
    assert "'one-recall' does not hold" in capsys.readouterr().err


def test_every_warning_is_reported_and_fails_the_build(tmp_path: Path) -> None:
    page = HEAD + (
        "# 1. Warned\n\n{doc}`nowhere` and {cite:t}`nobody2000`\n\n{glue:text}`one-unknown`\n\n"
        ":::{exercise} unwritten\nWrite it.\n:::\n\n```{literalinclude} ../ragkit/kettle.py\n:pyobject: gone\n```\n\n"
    )
    page += CELL % 'import sys\nprint("a library complains", file=sys.stderr)'
    command = [sys.executable, str(TOOLS / "build.py"), "--root", str(small_book(tmp_path, page)), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1
    for words in ("nowhere", "nobody2000", "one-unknown", "exercises/unwritten/unwritten.ipynb", "gone", "stderr"):
        assert words in done.stderr, f"no warning about {words}:\n{done.stderr}"


@pytest.fixture
def no_sphinx(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Leave jupyter-book out, and let a page of the given HTML stand for what it makes."""

    def use(html: str) -> None:
        def made(root: Path, work: Path, *_: object) -> int:
            (work / "_build" / "html").mkdir(parents=True, exist_ok=True)
            (work / "_build" / "html" / "index.html").write_text(html)
            return 0

        monkeypatch.setattr(build, "_jupyter_book", made)

    return use


def test_what_a_gate_finds_fails_the_build(
    tmp_path: Path, no_sphinx: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    root = small_book(tmp_path, "# 1. No cells\n")
    no_sphinx("<h1>Fine</h1>")
    assert build.build(root, browser=False) == 0
    no_sphinx('<img src="https://example.org/a.png">')
    assert build.build(root, browser=False) == 1
    assert "example.org" in capsys.readouterr().err


class Browser:
    """Stands in for the browser gate and remembers which pages it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[list[str]] = []
        self.problems: list[str] = []
        look = tool("browser")
        monkeypatch.setitem(sys.modules, "browser", look)
        monkeypatch.setattr(look, "unavailable", lambda: None)
        monkeypatch.setattr(look, "check", self.check)

    def check(self, site: Path, pages: list[str]) -> list[str]:
        self.opened.append(pages)
        return self.problems


def test_only_pages_that_changed_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, html = Browser(monkeypatch), tmp_path / "html"
    html.mkdir()
    for name in ("one.html", "two.html"):
        body = f'<h1>{name}</h1><img src="pot.svg" alt="A pot"><script src="searchindex.js"></script>'
        (html / name).write_text(body, encoding="utf-8")
    (html / "searchindex.js").write_text("words", encoding="utf-8")
    (html / "pot.svg").write_text("<svg/>", encoding="utf-8")

    def tried() -> list[str]:
        return build._try_pages(tmp_path, (), browser=True, required=True)

    assert (tried(), tried()) == ([], [])
    assert seen.opened == [["one.html", "two.html"]]
    (html / "two.html").write_text("<h1>Changed</h1>", encoding="utf-8")
    assert tried() == []
    assert seen.opened[1:] == [["two.html"]]
    (html / "searchindex.js").write_text("a word more", encoding="utf-8")
    assert tried() == []
    assert seen.opened[2:] == [[]], "the search is tried, no page is opened"
    del seen.opened[2:]
    (html / "pot.svg").write_text("<svg><title>Another</title></svg>", encoding="utf-8")
    assert tried() == []
    assert seen.opened[2:] == [["one.html"]], "one.html shows another picture now"


def test_a_page_that_did_not_pass_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, html = Browser(monkeypatch), tmp_path / "html"
    html.mkdir()
    (html / "one.html").write_text("<h1>Fine</h1>", encoding="utf-8")
    seen.problems = ["one.html: a script error"]
    for _ in range(2):
        assert build._try_pages(tmp_path, (), browser=True, required=True) == seen.problems
    assert len(seen.opened) == 2
    (html / "one.html").write_text('<img src="https://example.org/a.png">', encoding="utf-8")
    seen.problems = []
    for _ in range(2):
        (first, *_) = build._try_pages(tmp_path, (), browser=False, required=False)
        assert "example.org" in first


def test_a_pass_without_a_browser_does_not_stand_for_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Browser(monkeypatch)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "one.html").write_text("<h1>Fine</h1>", encoding="utf-8")
    assert build._try_pages(tmp_path, (), browser=False, required=False) == []
    assert build._try_pages(tmp_path, (), browser=True, required=True) == []
    assert seen.opened == [["one.html"]]


def test_a_page_that_left_the_table_of_contents_is_deleted(tmp_path: Path, no_sphinx: Callable[[str], None]) -> None:
    root = small_book(tmp_path, "# 1. No cells\n")
    no_sphinx("<h1>Fine</h1>")
    html = root / "_build" / "html"
    assert build.build(root, browser=False) == 0
    (html / "gone.html").write_text("<h1>Gone</h1>")
    (html / "genindex.html").write_text("<h1>Index</h1>")
    assert build.build(root, browser=False) == 0
    assert {path.name for path in html.glob("*.html")} == {"index.html", "genindex.html"}


def test_a_changed_extension_or_package_makes_every_page_anew(tmp_path: Path) -> None:
    root = small_book(tmp_path)
    (root / "book" / "_ext").unlink()
    (root / "book" / "_ext").mkdir()
    seen = [build.page_stamp(root), build.page_stamp(root)]
    (root / "book" / "_ext" / "course.py").write_text("")
    seen.append(build.page_stamp(root))
    (root / "ragkit" / "kettle.py").write_text(KETTLE + "\n# changed\n")
    seen.append(build.page_stamp(root))
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3


def test_a_changed_package_is_never_hidden_by_the_cache(tmp_path: Path, no_sphinx: Callable[[str], None]) -> None:
    root = small_book(tmp_path, HEAD + "# 1. Counted\n\n" + COUNTED)
    no_sphinx("<h1>Fine</h1>")

    def after(change: Callable[[], object]) -> int:
        before = runs(root)
        change()
        assert build.build(root, browser=False) == 0
        return runs(root) - before

    assert after(lambda: None) == 1
    assert after(lambda: None) == 0
    assert after(lambda: (root / "ragkit" / "kettle.py").write_text(KETTLE + "\n# changed\n")) == 1
    assert after(lambda: (root / "ragkit" / "corpus" / "recordings" / "hyde.toml").write_text("a = 1\n")) == 1
    assert after(lambda: (root / "requirements.txt").write_text("kettle==2.0\n")) == 1
    before = runs(root)
    assert build.build(root, cold=True, browser=False) == 0
    assert runs(root) == before + 1


def test_the_fingerprint_sees_names_contents_and_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = small_book(tmp_path)
    seen = {build.fingerprint(root)}
    assert build.fingerprint(root) in seen
    (root / "ragkit" / "__pycache__").mkdir()
    (root / "ragkit" / "__pycache__" / "kettle.pyc").write_bytes(b"compiled")
    assert build.fingerprint(root) in seen
    (root / "ragkit" / "kettle.py").rename(root / "ragkit" / "pot.py")
    assert (renamed := build.fingerprint(root)) not in seen
    (root / "grading").mkdir()
    (root / "grading" / "judge.py").write_text("")
    assert (graded := build.fingerprint(root)) not in seen | {renamed}
    monkeypatch.setattr(build.platform, "python_version", lambda: "3.99.0")
    assert build.fingerprint(root) not in seen | {renamed, graded}


def test_the_kernels_see_no_hosted_model_and_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAGKIT_LLM", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RAGKIT_DATA", "/somewhere")
    env = build.environment(tmp_path, jobs=2)
    ours = {k for k in env if k.startswith("RAGKIT_")} - {"RAGKIT_CACHE", "RAGKIT_THREADS", "RAGKIT_REQUIRE_ALL"}
    assert ours == {"RAGKIT_BOOK"}
    assert env["HF_HUB_OFFLINE"] == "1"
    assert int(env["OMP_NUM_THREADS"]) >= 1


def test_a_page_that_the_table_of_contents_names_and_nobody_wrote(tmp_path: Path) -> None:
    root = small_book(tmp_path)
    (root / "book" / "one.md").unlink()
    with pytest.raises(FileNotFoundError, match=r"_toc\.yml names one"):
        build.build(root, browser=False)


@pytest.mark.parametrize("name", ["build", "gates", "browser", "shots"])
def test_the_examples_in_the_tools_hold(name: str) -> None:
    assert doctest.testmod(tool(name)).failed == 0


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_whole_book_builds_cold_and_without_a_network(tmp_path: Path) -> None:
    need_bubblewrap()
    for name in ("book", "ragkit", "exercises", "_config.yml", "_toc.yml", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, str(TOOLS / "build.py"), "--root", str(tmp_path), "--cold"]
    done = subprocess.run(without_network(command), capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
