"""What a built page must do in a browser: Chromium opens every page of a folder, light and dark, wide and narrow.

    python book/_tools/browser.py [HTML_FOLDER] [--pages PAGE ...]

The folder is served from a loopback address by this very process. Every request to anywhere else is refused and is a
problem, as are an error in the console, a file that is missing, mathematics that was not set, a page that scrolls
sideways at 360 pixels, a search that finds nothing, and what axe-core calls serious or critical.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever slips past the interception below finds no address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
THEMES = ("light", "dark")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
SEARCH_MS = 15_000
LEVELS = {"serious", "critical"}
# The theme reads its choice from here before the first paint.
CHOOSE = "localStorage.setItem('mode', '{0}'); localStorage.setItem('theme', '{0}');"
# What is folded has to be legible too, and not while it fades in: colours are computed at once.
UNFOLD = """() => {
  const still = document.createElement('style');
  still.textContent = '*, *::before, *::after { animation: none !important; transition: none !important }';
  document.head.append(still);
  document.querySelectorAll('details').forEach(d => d.open = true);
}"""
WIDE = """() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return null;
  const clipped = e => {
    for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
      if (getComputedStyle(p).overflowX !== 'visible') return true;
    return false;
  };
  const sticksOut = e => e.getBoundingClientRect().right > root.clientWidth + 1 && !clipped(e);
  const last = [...document.body.querySelectorAll('*')].filter(sticksOut).pop();
  return root.scrollWidth + ' pixels wide' + (last ? ', at ' + last.outerHTML.slice(0, 120) : '');
}"""
# An element's colours follow from the tags, classes and styles on its way up, and in a striped table from its row. A
# page has thousands of elements and a few hundred such ways, and what axe-core takes for colours grows with all of them
# (18 s of 20 on a chapter), passed over or not. So one element of each way stays, the others leave the page before.
ONE_OF_EACH = """() => {
  const ways = new Map(), seen = new Set(), kept = new Set();
  const step = e => e.tagName + '.' + e.getAttribute('class') + (e.getAttribute('style') || '')
    + (e.tagName === 'TR' ? e.rowIndex % 2 : '');
  const all = [...document.body.querySelectorAll('*')];
  for (const e of all) {
    const way = (ways.get(e.parentElement) || '') + ' > ' + step(e);
    ways.set(e, way);
    if (!seen.has(way)) for (let a = e; a && !kept.has(a); a = a.parentElement) kept.add(a);
    seen.add(way);
  }
  for (const e of all) if (!kept.has(e)) e.remove();
}"""
# Rules that look at colours run once a theme, the others once.
COLOURS = ["color-contrast", "link-in-text-block"]
UNSET = """async () => {
  if (!document.querySelector('.math')) return 0;
  if (!window.MathJax || !MathJax.startup || !MathJax.startup.promise) return -1;
  await MathJax.startup.promise;
  const bare = [...document.querySelectorAll('.math')].filter(e => !e.querySelector('mjx-container'));
  return bare.length + document.querySelectorAll('mjx-merror').length;
}"""


def chromium() -> str | None:
    """The browser's path, or ``None``."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def unavailable() -> str | None:
    """Why pages cannot be tried here, or ``None`` where they can."""
    for module in ("playwright", "axe_playwright_python"):
        if importlib.util.find_spec(module) is None:
            return f"the package {module} is not installed"
    return None if chromium() else "Chromium is not installed"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that is closed in mid-answer is no news."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder from a free loopback port for as long as the block lasts."""
    server = _Server(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def launched() -> Iterator[Any]:
    """Chromium, for as long as the block lasts."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield chrome
        finally:
            chrome.close()


def opened(chrome: Any, theme: str, viewport: dict[str, int]) -> tuple[Any, list[str]]:
    """A page with nothing remembered, in the given theme, and the list that collects what goes wrong on it."""
    found: list[str] = []
    context = chrome.new_context(viewport=viewport, color_scheme=theme, reduced_motion="reduce")
    context.add_init_script(CHOOSE.format(theme))
    context.route("**/*", lambda route: _guard(route, found))
    page = context.new_page()
    page.on("console", lambda m: found.append(f"console error: {m.text[:300]}") if m.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"script error: {str(error)[:300]}"))
    page.on("response", lambda r: found.append(f"{r.status} for {urlsplit(r.url).path}") if r.status >= 400 else None)
    return page, found


def _guard(route: Any, found: list[str]) -> None:
    parts = urlsplit(route.request.url)
    if parts.scheme in ("data", "blob", "file", "about") or parts.hostname in ("127.0.0.1", "localhost"):
        route.continue_()
    else:
        found.append(f"external request: {route.request.url[:200]}")
        route.abort()


def check(site: Path, pages: Sequence[str] | None = None) -> list[str]:
    """Every problem that a browser meets on the pages (names such as ``index.html``; all of them by default)."""
    names = sorted(p.relative_to(site).as_posix() for p in html_pages(site)) if pages is None else list(pages)
    problems: list[str] = []
    with served(site) as address, ThreadPoolExecutor(len(THEMES)) as pool:
        for found in pool.map(lambda theme: _look(address, names, theme), THEMES):
            problems += found
        if (site / "search.html").is_file() and (site / "searchindex.js").is_file():
            with launched() as chrome:
                problems += _search(chrome, site, address, names or ["index.html"])
    return problems


def _look(address: str, names: Sequence[str], theme: str) -> list[str]:
    """One theme, in a browser of its own: what is no matter of colour is looked at in the first theme alone."""
    from axe_playwright_python.sync_playwright import Axe

    axe, first, problems = Axe(), theme == THEMES[0], list[str]()
    with launched() as chrome:
        page, found = opened(chrome, theme, PHONE)
        for name in names:
            page.goto(f"{address}/{name}", wait_until="load")
            if first and (unset := page.evaluate(UNSET)):
                found.append("MathJax did not start" if unset < 0 else f"{unset} formulas were not set")
            page.evaluate(UNFOLD)
            if first and (wide := page.evaluate(WIDE)):
                found.append(f"scrolls sideways at {PHONE['width']} pixels: {wide}")
            found += _axe(axe, page, structure=first)
            problems += [f"{name} ({theme}): {one}" for one in dict.fromkeys(found)]
            found.clear()
    return problems


def html_pages(site: Path) -> list[Path]:
    """The pages of a site, without theme files and without those that only send the browser on to another page."""
    pages = [p for p in site.rglob("*.html") if not p.relative_to(site).parts[0].startswith("_")]
    return [p for p in pages if 'http-equiv="refresh"' not in p.read_text(encoding="utf-8").lower()]


def _axe(axe: Any, page: Any, structure: bool) -> list[str]:
    """What axe-core finds about the structure of a page, where wanted, and about its colours; leaves a thinned page."""
    # Preloading makes axe itself fetch the style sheets again, from addresses that it gets wrong.
    options = {"preload": False, "resultTypes": ["violations"]}
    violations = []
    if structure:
        rules = {rule: {"enabled": False} for rule in COLOURS}
        violations += axe.run(page, options=options | {"rules": rules}).response["violations"]
    page.evaluate(ONE_OF_EACH)
    violations += axe.run(page, options=options | {"runOnly": COLOURS}).response["violations"]
    found = []
    for violation in violations:
        if violation["impact"] in LEVELS:
            where = violation["nodes"][0]
            more = f" and {n - 1} more" if (n := len(violation["nodes"])) > 1 else ""
            found.append(f"axe {violation['impact']} {violation['id']}: {where['html'][:160]}{more}")
    return found


def _search(chrome: Any, site: Path, address: str, names: Sequence[str]) -> list[str]:
    """Search for the longest word of a page's heading: that page holds it, so something must be found."""
    from gates import Page
    from playwright.sync_api import TimeoutError

    name = next((n for n in names if n not in ("search.html", "genindex.html")), names[0])
    heading = Page(site, site / name).tree.find("h1")
    words = [w.strip(".,:;?#¶") for w in heading.get_text(" ").split()] if heading else []
    word = max(words, key=len, default="")
    if not word:
        return [f"{name}: has no heading to search for"]
    page, found = opened(chrome, "light", DESK)
    page.goto(f"{address}/search.html?q={word}", wait_until="load")
    try:
        page.wait_for_selector("#search-results ul.search li", timeout=SEARCH_MS)
    except TimeoutError:
        found.append(f"searching for {word!r} finds nothing")
    page.context.close()
    return [f"search.html: {one}" for one in dict.fromkeys(found)]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--pages", nargs="+", metavar="PAGE", help="file names inside the folder, e.g. index.html")
    args = parser.parse_args(argv)
    if (why := unavailable()) is not None:
        print(f"cannot try the pages: {why}", file=sys.stderr)
        return 2
    problems = check(args.site, args.pages)
    print("\n".join(problems) or "no problem found", file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    raise SystemExit(main())
