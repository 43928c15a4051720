"""Every gate of the book proves here that it can fail: a clean page passes, and each fault is found by name."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.tools import missing

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "book" / "_tools"


def tool(name: str) -> ModuleType:
    """A script of ``book/_tools`` as a module; they import each other by plain name."""
    if str(TOOLS) not in sys.path:
        sys.path.insert(0, str(TOOLS))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


gates = tool("gates")

PAGE = """<!doctype html><html lang="en"><head><title>Page</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="style.css"></head><body><main><h1 id="top">Retrieval explained</h1>
<p><a href="#top">up</a> <a href="other.html#there">other</a> <a href="https://example.org/">out</a></p>
<img src="chart.svg" alt="Two bars of equal height">{}</main></body></html>"""
OTHER = """<!doctype html><html lang="en"><head><title>Other</title></head>
<body><main><h1 id="there">Other</h1></main></body></html>"""
CHART = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'


@pytest.fixture
def site(tmp_path: Path) -> Callable[..., Path]:
    """A tiny site of two pages; its argument goes into the first page, keywords are further files."""

    def make(inside: str = "", **files: str) -> Path:
        contents = {"index.html": PAGE.format(inside), "other.html": OTHER, "chart.svg": CHART, "style.css": "body {}"}
        contents |= {name.replace("_", "."): text for name, text in files.items()}
        for name, text in contents.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return make


def test_a_clean_site_passes(site: Callable[..., Path]) -> None:
    assert gates.check(site()) == []
    assert gates.main([str(site())]) == 0


FAULTS = {
    "broken link": ('<a href="gone.html">x</a>', "broken link to gone.html"),
    "broken anchor": ('<a href="other.html#nowhere">x</a>', "other.html#nowhere names an anchor"),
    "broken anchor here": ('<a href="#nowhere">x</a>', "#nowhere names an anchor"),
    "link out of the site": ('<a href="../secret.html">x</a>', "leaves the site"),
    "no alternative": ('<img src="chart.svg">', "no alternative text"),
    "empty alternative": ('<img src="chart.svg" alt="  ">', "no alternative text"),
    # what Sphinx writes where the author gave none
    "file name as alternative": ('<img src="chart.svg" alt="_images/0a1b.svg">', "no alternative text"),
    "silent drawing": ("<svg><path d='M0 0'/></svg>", "no alternative text"),
    "external script": ('<script src="https://cdn.example.org/x.js"></script>', "cdn.example.org/x.js"),
    "scheme-less script": ('<script src="//cdn.example.org/x.js"></script>', "cdn.example.org/x.js"),
    "external style": ('<link rel="stylesheet" href="https://fonts.example.org/f.css">', "fonts.example.org"),
    "preconnect": ('<link rel="preconnect" href="https://fonts.example.org">', "fonts.example.org"),
    "external picture": ('<img src="http://example.org/a.png" alt="A">', "example.org/a.png"),
    "external srcset": ('<img src="chart.svg" srcset="https://example.org/a.png 2x" alt="A">', "example.org/a.png"),
    "external frame": ('<iframe src="https://example.org/"></iframe>', "example.org"),
    "external import": ('<style>@import "https://example.org/a.css";</style>', "example.org/a.css"),
    "external background": ('<p style="background: url(https://example.org/a.png)">x</p>', "example.org/a.png"),
    "missing picture": ('<img src="gone.svg" alt="A">', "gone.svg does not exist"),
    "missing style": ('<link rel="stylesheet" href="basic.css">', "basic.css does not exist"),
    "bare mathematics": ('<span class="math notranslate">\\(x\\)</span>', "loads no MathJax"),
    "raw directive": ("<p>```{dropdown} The code</p>", "markup shows as text"),
    "raw role": ("<p>see {doc}`02-hybrid`</p>", "markup shows as text"),
    "swallowed cells": ("<pre>\n```{code-cell} python\n1\n```</pre>", "markup shows as text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_and_nothing_else(fault: str, site: Callable[..., Path]) -> None:
    inside, message = FAULTS[fault]
    problems = gates.check(site(inside))
    assert len(problems) == 1
    assert problems[0].startswith("index.html: ")
    assert message in problems[0]
    assert gates.main([str(site(inside))]) == 1


def test_a_heavy_page_is_found_and_what_all_pages_share_is_not_counted(site: Callable[..., Path]) -> None:
    big = f"<svg>{' ' * 1_000_000}</svg>"
    (problem,) = gates.check(site('<img src="big.svg" alt="A large drawing">', big_svg=big))
    assert "index.html: weighs 1,0" in problem
    folder = site('<img src="_static/big.svg" alt="A large drawing">')
    (folder / "_static").mkdir()
    (folder / "big.svg").rename(folder / "_static" / "big.svg")
    assert gates.check(folder) == []
    assert gates.check(site('<script src="searchindex.js"></script>', searchindex_js=big)) == []
    (problem,) = gates.check(site('<script src="own.js"></script>', own_js=big))
    assert "weighs" in problem


def test_a_style_sheet_that_loads_from_outside_is_found(site: Callable[..., Path]) -> None:
    assert (
        "loads https://example.org/a.woff"
        in gates.check(site(style_css="@font-face {src: url('https://example.org/a.woff')}"))[0]
    )


@pytest.mark.parametrize(
    "inside",
    [
        '<img src="chart.svg" alt="" role="presentation">',
        '<svg aria-hidden="true"><path d="M0 0"/></svg>',
        "<svg><title>Two bars</title></svg>",
        '<a href="mailto:someone@example.org">x</a>',
        '<link rel="canonical" href="https://example.org/">',
        '<img src="data:image/png;base64,AAAA" alt="A dot">',
        "<p>write <code>{doc}`name`</code></p>",
        "<p>{'a': 1} and {braces}</p>",
    ],
)
def test_what_is_fine_is_left_alone(inside: str, site: Callable[..., Path]) -> None:
    assert gates.check(site(inside)) == []


def test_pages_known_to_be_elsewhere_are_not_missed(site: Callable[..., Path]) -> None:
    assert gates.check(site('<a href="12-hipporag.html">x</a>'), elsewhere={"12-hipporag.html"}) == []


def test_a_folder_without_pages_is_a_problem(tmp_path: Path) -> None:
    assert gates.check(tmp_path) == [f"{tmp_path} holds no pages"]
    assert gates.check(tmp_path / "gone") == [f"{tmp_path / 'gone'} holds no pages"]


# ---- in a browser ----

browser = tool("browser")


@pytest.fixture(scope="module")
def chromium() -> None:
    if browser.unavailable() is not None:
        missing("a browser (Chromium, playwright and axe-playwright-python)")


SEEN = {
    "external request": (
        "<script>fetch('https://example.org/x').catch(() => 0)</script>",
        "external request: https://example.org/x",
    ),
    "console error": ("<script>console.error('broken')</script>", "console error: broken"),
    "script error": ("<script>undefinedFunction()</script>", "script error"),
    "missing file": ("<script src='gone.js'></script>", "404 for /gone.js"),
    "sideways": ("<p style='width: 900px'>wide</p>", "scrolls sideways at 360 pixels"),
    "contrast": ("<p style='color: #bbb; background: #fff'>Pale words</p>", "color-contrast"),
    "folded contrast": (
        "<details><summary>x</summary><p style='color:#bbb;background:#fff'>Pale</p></details>",
        "color-contrast",
    ),
    "contrast of one among its likes": (
        "<p>Words</p><p>Words</p><p style='color: #bbb; background: #fff'>Pale words</p>",
        "color-contrast",
    ),
    "contrast of every other row": (
        "<style>tr:nth-child(even) td {color: #bbb; background: #fff}</style>"
        "<table><tr><td>one</td></tr><tr><td>two</td></tr><tr><td>three</td></tr></table>",
        "color-contrast",
    ),
    "contrast in the dark": (
        "<style>@media (prefers-color-scheme: dark) {p {color: #333; background: #222}}</style><p>Words</p>",
        "(dark): axe serious color-contrast",
    ),
    "structure": ("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>", "axe critical image-alt"),
    "unset mathematics": ("<span class='math'>x</span>", "MathJax did not start"),
}


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
def test_each_fault_shows_in_the_browser(site: Callable[..., Path]) -> None:
    # One site with a page a fault: starting a browser costs more than opening a page.
    pages = {f"p{i}_html": PAGE.format(inside) for i, (inside, _) in enumerate(SEEN.values())}
    found = browser.check(site(**pages))
    for i, (fault, (_, message)) in enumerate(SEEN.items()):
        mine = [line for line in found if line.startswith(f"p{i}.html")]
        assert any(message in line for line in mine), f"{fault}: {mine}"
    assert not [line for line in found if line.startswith(("index.html", "other.html"))]


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
def test_a_search_that_finds_nothing_is_a_problem(site: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    empty = OTHER.replace("</main>", "<div id='search-results'><ul class='search'></ul></div></main>")
    full = empty.replace("</ul>", "<li>a page</li></ul>")
    folder = site()
    with browser.launched() as chrome, browser.served(folder) as address:
        for page, expected in ((full, []), (empty, ["search.html: searching for 'Retrieval' finds nothing"])):
            (folder / "search.html").write_text(page, encoding="utf-8")
            if expected:  # only the wait that must be in vain is cut short: a busy machine may be slow to find
                monkeypatch.setattr(browser, "SEARCH_MS", 1000)
            assert browser._search(chrome, folder, address, ["index.html"]) == expected


def test_a_missing_browser_is_said_and_can_be_made_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build = tool("build")
    monkeypatch.setattr(browser, "chromium", lambda: None)
    assert browser.unavailable() == "Chromium is not installed"
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("<h1>Fine</h1>", encoding="utf-8")
    assert build._try_pages(tmp_path, (), browser=True, required=False) == []
    assert build._try_pages(tmp_path, (), browser=True, required=True) == ["browser: Chromium is not installed"]


def test_a_page_that_only_redirects_is_not_tried(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<meta http-equiv="Refresh" content="0; url=one.html" />', encoding="utf-8")
    (tmp_path / "one.html").write_text("<h1>One</h1>", encoding="utf-8")
    assert [path.name for path in browser.html_pages(tmp_path)] == ["one.html"]
