"""How long the book takes to make, whole and after a change, what its pages weigh, and when the heaviest shows.

The files of this checkout are copied to a folder of their own and built there, so nothing is cached at the start. In
turn: everything cold; again with nothing changed; with one sentence added to a chapter; with one cell added to it. The
chapter is the one whose cells take the median time. A build stands beside its floor, which is the larger of the longest
page and an equal share of all cells: no schedule of these pages on so many processors is quicker. Cells and pages are
timed, the browser's tests are not, unless ``--browser`` asks for them.

Weight is a page's HTML with its own pictures, and apart from it what all pages share (theme, mathematics, search).
First paint is taken from Chromium's own clock, the page being opened from disk; the median of nine.

    python benchmarks/book_build.py [--keep]

``--keep`` writes the table to ``book_build.csv`` beside this file, which the book's status page shows with its date.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).with_suffix(".csv")
TOOLS = ROOT / "book" / "_tools"
RAN = re.compile(r"^ran (\S+) in ([\d.]+) s", re.MULTILINE)
PAINT = """() => new Promise(done => new PerformanceObserver(list => {
  const found = list.getEntries().find(entry => entry.name === 'first-contentful-paint');
  if (found) done(found.startTime);
}).observe({type: 'paint', buffered: true}))"""


class Row(NamedTuple):
    """One line of the table; ``aim`` is empty where none was set."""

    what: str
    measured: str
    aim: str = ""


def copy(root: Path, to: Path) -> None:
    """The files that git knows or would add; no build, no cache."""
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)


def build(root: Path, *options: str) -> tuple[float, dict[str, float]]:
    """Build the book under ``root``; seconds of the whole, and of the cells of each page that ran."""
    # The package that the cells import is the copy's.
    env = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, str(root / "book" / "_tools" / "build.py"), *options]
    started = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the build failed:\n{done.stdout}\n{done.stderr}")
    return time.perf_counter() - started, {page: float(s) for page, s in RAN.findall(done.stdout)}


def floor(cells: Sequence[float], jobs: int) -> float:
    """The least seconds in which ``jobs`` processors can run pages of these lengths.

    >>> floor([5, 1, 1], 2), floor([3, 3, 2], 2)
    (5, 4.0)
    """
    return max(max(cells), sum(cells) / jobs)


def tool(name: str) -> Any:
    """A module of the book's tools, which are scripts and no package."""
    sys.path.insert(0, str(TOOLS))
    return importlib.import_module(name)


def weights(site: Path) -> tuple[dict[str, int], int]:
    """Bytes of each page with its pictures, and of what all pages share."""
    gates = tool("gates")
    pages = {page.name: gates.weight(page) for page in gates.pages_of(site).values()}
    shared = [file for name in gates.SHARED_FILES for file in [site / name, *(site / name).rglob("*")]]
    return pages, sum(file.stat().st_size for file in shared if file.is_file())


def first_paint(page: Path, times: int = 9) -> float | None:
    """Milliseconds until Chromium shows something of a page on disk; ``None`` without Chromium."""
    browser = tool("browser")
    if browser.unavailable():
        return None
    found: list[float] = []
    with browser.launched() as chrome:
        for _ in range(times):
            context = chrome.new_context(viewport=browser.DESK)
            tab = context.new_page()
            tab.goto(page.as_uri(), wait_until="load")
            found.append(tab.evaluate(PAINT))
            context.close()
    return statistics.median(found)


def measure(work: Path, jobs: int, extra: Sequence[str]) -> list[Row]:
    """All rows, on a copy of the checkout in ``work``."""
    copy(ROOT, work)
    options = [*extra, "--jobs", str(jobs)]
    whole, cells = build(work, "--cold", *options)
    longest = max(cells, key=lambda page: cells[page])
    least = floor(list(cells.values()), jobs)
    rows = [
        Row("whole book, cold", f"{whole:.0f} s", "at most 300 s"),
        Row("cells of all pages together", f"{sum(cells.values()):.0f} s"),
        Row(f"longest page, {longest}", f"{cells[longest]:.0f} s"),
        Row("whole book against its floor", f"{whole / least:.2f}", "at most 1.4"),
    ]
    rows.append(Row("nothing changed", f"{build(work, *options)[0]:.0f} s", "at most 20 s"))
    middle = sorted(cells, key=lambda page: cells[page])[len(cells) // 2]
    source = work / "book" / f"{middle}.md"
    text = source.read_text(encoding="utf-8")
    changes: dict[str, Any] = {
        "a sentence": "\nThis sentence was added.\n",
        "a cell": "\n```{code-cell} python\n1 + 1\n```\n",
    }
    for change, addition in changes.items():
        source.write_text(text + addition, encoding="utf-8")
        seconds, _ = build(work, *options)
        rows.append(Row(f"{change} added to {middle}", f"{seconds:.0f} s", "at most 40 s"))
    site = work / "_build" / "html"
    pages, shared = weights(site)
    heaviest = max(pages, key=lambda page: pages[page])
    rows.append(Row(f"heaviest page, {heaviest}", f"{pages[heaviest] / 1e6:.2f} MB", "under 1 MB"))
    rows.append(Row("what all pages share", f"{shared / 1e6:.1f} MB"))
    paint = first_paint(site / heaviest)
    shown = "no Chromium" if paint is None else f"{paint:.0f} ms"
    rows.append(Row("its first paint, from disk", shown, "under 1,000 ms"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2, help="pages whose cells run at the same time (default 2)")
    parser.add_argument("--browser", action="store_true", help="let the browser's tests count as part of each build")
    parser.add_argument("--keep", action="store_true", help=f"write the table to {KEPT.name}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.jobs, ["--browser" if options.browser else "--no-browser"])
    where = f"{options.jobs} pages at a time, {os.cpu_count()} processors, {platform.system()} on {platform.machine()}"
    rows.append(Row("measured on", f"{datetime.date.today()}: {where}"))
    table = Table(title="Making the book")
    for heading in Row._fields:
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if options.keep:
        with KEPT.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([Row._fields, *rows])


if __name__ == "__main__":
    main()
