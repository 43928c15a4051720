"""Screenshots of built pages, light and dark, wide and narrow: what a person looks at before a change is done.

    python book/_tools/shots.py FOLDER [--pages PAGE ...] [--html HTML_FOLDER]
    python book/_tools/shots.py --readme [--pages PAGE]

The first form writes ``page-theme-width.png`` for every page into FOLDER. The second writes the README's picture.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import browser

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "book" / "_static" / "shots" / "page-light.png"


def shoot(page: Any, address: str, target: Path, middle: str | None = None) -> None:
    """Open a page, wait until its mathematics is set and its pictures are loaded, and write the picture.

    The whole page is taken, or the window with the first element of the CSS selector ``middle`` in its middle.
    """
    page.goto(address, wait_until="load")
    page.evaluate(browser.UNSET)
    page.evaluate("document.fonts.ready")
    target.parent.mkdir(parents=True, exist_ok=True)
    if middle is not None:
        page.locator(middle).first.evaluate("e => e.scrollIntoView({block: 'center', behavior: 'instant'})")
    page.screenshot(path=target, full_page=middle is None)


def shoot_all(site: Path, folder: Path, names: Sequence[str]) -> list[Path]:
    """Each page in both themes and at both widths; the pictures written."""
    written = []
    with browser.served(site) as address, browser.launched() as chrome:
        for theme, viewport in itertools.product(browser.THEMES, (browser.DESK, browser.PHONE)):
            page, _ = browser.opened(chrome, theme, viewport)
            for name in names:
                target = folder / f"{Path(name).stem}-{theme}-{viewport['width']}.png"
                shoot(page, f"{address}/{name}", target)
                written.append(target)
            page.context.close()
    return written


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--pages", nargs="+", metavar="PAGE", help="file names inside the folder (default: all of them)"
    )
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--readme", action="store_true", help=f"write {README.relative_to(ROOT)}")
    args = parser.parse_args(argv)
    if args.readme == bool(args.folder):
        parser.error("give a folder, or --readme")
    if (why := browser.unavailable()) is not None:
        print(f"cannot take pictures: {why}", file=sys.stderr)
        return 2
    names = args.pages or sorted(p.name for p in args.html.glob("*.html"))
    if args.readme:
        name = args.pages[0] if args.pages else "02-hybrid.html"
        with browser.served(args.html) as address, browser.launched() as chrome:
            page, _ = browser.opened(chrome, "light", browser.DESK)
            shoot(page, f"{address}/{name}", README, middle=".rk-table")
        print(README)
        return 0
    print("\n".join(map(str, shoot_all(args.html, args.folder, names))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
