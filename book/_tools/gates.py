"""What a built page must hold, read from its HTML: no page is loaded here (``browser.py`` does that).

    python book/_tools/gates.py [HTML_FOLDER]

Links and anchors lead somewhere, every picture says in words what it shows, nothing is taken from another machine,
every style, script and picture is there, a page with mathematics brings the script that sets it, no markup shows as
text, and a page's own text and pictures stay under a megabyte. Ordinary links to other sites are fine. Each rule is a
function from a page to messages; ``check`` applies all.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Comment, Tag

ROOT = Path(__file__).resolve().parents[2]
PICTURE = re.compile(r"\.(svg|png|jpe?g|gif|webp)$", re.IGNORECASE)
CSS_ADDRESS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
RAW = re.compile(r"^\s*(?:`{3,}|:{3,})\{[a-z][^}\n]*\}|\{[a-z][a-z:-]*\}`", re.MULTILINE)
HEAVIEST = 1_000_000
FEW = 8
"""Pages that one process reads sooner than it starts others."""
# What every page of the site loads from one address. It grows with the book, not with the page.
SEARCH_INDEX = "searchindex.js"
SHARED_FILES = ("_static", SEARCH_INDEX)
# (element, attribute) pairs that make a browser fetch something as it shows the page
LOADS = (
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("track", "src"),
    ("link", "href"),
)
LINK_LOADS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "manifest", "preconnect", "dns-prefetch"}


@dataclass
class Page:
    """One HTML file, parsed once. ``site`` is the folder that is published, ``path`` the file in it."""

    site: Path
    path: Path

    @cached_property
    def tree(self) -> BeautifulSoup:
        return BeautifulSoup(self.path.read_text(encoding="utf-8"), "html.parser")

    @cached_property
    def elements(self) -> dict[str, list[Tag]]:
        """The page's elements by their names, found in one walk: a page has thousands, and a walk for each question
        that is asked below would take most of a build."""
        found: dict[str, list[Tag]] = defaultdict(list)
        for node in self.tree.descendants:
            if isinstance(node, Tag):
                found[node.name].append(node)
        return found

    def every(self, attribute: str) -> list[Tag]:
        return [tag for tags in self.elements.values() for tag in tags if tag.has_attr(attribute)]

    @property
    def anchors(self) -> set[str]:
        return {str(tag[key]) for key in ("id", "name") for tag in self.every(key)}

    @property
    def links(self) -> list[str]:
        return [str(tag["href"]) for tag in self.elements["a"] if tag.has_attr("href")]

    @cached_property
    def loaded(self) -> list[str]:
        """Every address that a browser fetches to show the page, as it is written there."""
        found = [
            str(tag[attribute])
            for element, attribute in LOADS
            for tag in self.elements[element]
            if tag.has_attr(attribute) and (element != "link" or LINK_LOADS & set(_rel(tag)))
        ]
        for tag in self.every("srcset"):
            found += [part.split()[0] for part in str(tag["srcset"]).split(",") if part.strip()]
        styles = [style.get_text() for style in self.elements["style"]]
        styles += [str(tag["style"]) for tag in self.every("style")]
        return found + [address for style in styles for address in css_addresses(style)]

    @property
    def name(self) -> str:
        return self.path.relative_to(self.site).as_posix()

    def target(self, address: str) -> Path:
        return (self.path.parent / unquote(urlsplit(address).path)).resolve() if urlsplit(address).path else self.path

    @property
    def state(self) -> str:
        """A hash of the page and of everything of the site that it loads: equal where a browser would show the same.
        The search index, which changes with every word of every page, is only shown by the search."""
        digest = hashlib.sha256(self.path.read_bytes())
        for address in sorted(set(self.loaded)):
            file = self.target(address)
            if not is_external(address) and file.is_file() and file.name != SEARCH_INDEX:
                digest.update(hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()


@dataclass(frozen=True)
class Facts:
    """What one page is and says by itself; whether its links lead anywhere is seen when all pages are read."""

    anchors: set[str]
    links: list[str]
    problems: list[str]
    state: str


def pages_of(site: Path) -> dict[Path, Page]:
    """The pages of a site by file; what ``_static`` and ``_sources`` hold is not a page."""
    found = (p for p in sorted(site.rglob("*.html")) if not p.relative_to(site).parts[0].startswith("_"))
    return {p.resolve(): Page(site, p) for p in found}


def is_external(address: str) -> bool:
    """Whether an address leaves the site.

    >>> [is_external(a) for a in ("//cdn.example.org/x.js", "https://example.org", "a.html#b", "data:image/png,")]
    [True, True, False, False]
    """
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp", "ws", "wss")


def broken_links(page: Page, facts: Mapping[Path, Facts], elsewhere: Collection[str] = ()) -> Iterator[str]:
    """Links inside the site whose file or anchor does not exist; ``elsewhere`` are pages known to be built apart."""
    site = page.site.resolve()
    for address in facts[page.path.resolve()].links:
        if is_external(address) or urlsplit(address).scheme:
            continue
        target = page.target(address).resolve()
        if not target.is_relative_to(site):
            yield f"{page.name}: the link {address} leaves the site"
        elif not target.exists():
            if target.relative_to(site).as_posix() not in elsewhere:
                yield f"{page.name}: broken link to {address}"
        elif (
            (anchor := unquote(urlsplit(address).fragment)) and target in facts and anchor not in facts[target].anchors
        ):
            yield f"{page.name}: {address} names an anchor that does not exist"


def missing_alternatives(page: Page) -> Iterator[str]:
    """Pictures without words. Sphinx writes the file's name where no alternative is given: that is not one."""
    for img in page.elements["img"]:
        alt = str(img.get("alt") or "").strip()
        if img.get("role") == "presentation" or img.get("aria-hidden") == "true":
            continue
        if not alt or PICTURE.search(alt):
            yield f"{page.name}: the picture {str(img.get('src'))[:80]} has no alternative text"
    for svg in page.elements["svg"]:
        hidden = svg.get("aria-hidden") == "true" or svg.find_parent(attrs={"aria-hidden": "true"})
        if not (hidden or svg.get("aria-label") or svg.get("aria-labelledby") or svg.find("title")):
            yield f"{page.name}: a drawing (svg) has no alternative text"


def _rel(tag: Tag) -> list[str]:
    rel = tag.get("rel") or []
    return rel.split() if isinstance(rel, str) else list(rel)


def css_addresses(css: str) -> Iterator[str]:
    """The addresses that a style sheet fetches.

    >>> list(css_addresses('@import "a.css"; b { background: url(c.png) }'))
    ['a.css', 'c.png']
    """
    for match in CSS_ADDRESS.finditer(css):
        yield match.group(1) or match.group(2)


def resources(page: Page) -> Iterator[str]:
    """What the page takes from other machines, and what it asks its own for in vain."""
    for address in page.loaded:
        if is_external(address):
            yield f"{page.name}: loads {address} from another machine"
            continue
        if urlsplit(address).scheme or not urlsplit(address).path:
            continue
        target = page.target(address)
        if not target.is_file():
            yield f"{page.name}: {address} does not exist"
        elif target.suffix == ".css":
            for inner in _outside_of(target):
                yield f"{page.name}: {address} loads {inner} from another machine"


@lru_cache(maxsize=64)
def _outside_of(sheet: Path) -> list[str]:
    return [address for address in css_addresses(sheet.read_text("utf-8", "replace")) if is_external(address)]


def unset_mathematics(page: Page) -> Iterator[str]:
    """A page with formulas and without the script that sets them would show TeX."""
    has_formula = any("math" in tag.get_attribute_list("class") for tag in page.every("class"))
    if has_formula and not any("mathjax" in str(script.get("src")).lower() for script in page.elements["script"]):
        yield f"{page.name}: has mathematics and loads no MathJax"


def raw_markup(page: Page) -> Iterator[str]:
    """Markup that was not understood and reached the reader: a fence whose info string holds a backtick, say."""
    for text in page.tree.find_all(string=RAW):
        if isinstance(text, Comment) or text.find_parent(["script", "style"]):
            continue
        if text.find_parent("code") and not text.find_parent("pre"):
            continue
        yield f"{page.name}: markup shows as text: {RAW.search(text).group(0)!r}"


def weight(page: Page) -> int:
    """Bytes of a page's own text and pictures, each file once. What all pages share is fetched once and left out."""
    own = [page.path, *(page.target(address) for address in page.loaded if not is_external(address))]
    shared = [page.site.resolve() / name for name in SHARED_FILES]
    files = {path.resolve() for path in own if path.is_file()}
    return sum(p.stat().st_size for p in files if not any(p.is_relative_to(place) for place in shared))


def heavy(page: Page) -> Iterator[str]:
    """More than a megabyte of text and pictures of its own."""
    if (found := weight(page)) > HEAVIEST:
        yield f"{page.name}: weighs {found:,} bytes, {HEAVIEST:,} are allowed"


def facts_of(page: Page) -> Facts:
    """Everything that can be said of a page without the others."""
    seen = (gate(page) for gate in (missing_alternatives, resources, unset_mathematics, raw_markup, heavy))
    return Facts(page.anchors, page.links, [problem for problems in seen for problem in problems], page.state)


def inspect(site: Path, elsewhere: Collection[str] = ()) -> tuple[list[str], dict[str, str]]:
    """Every problem of the site in ``site``, as messages that name the page, and the state of every page by its name.
    A folder without pages is a problem."""
    pages = pages_of(site) if site.is_dir() else {}
    if not pages:
        return [f"{site} holds no pages"], {}
    if len(pages) > FEW:
        with ProcessPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            facts = dict(zip(pages, pool.map(facts_of, pages.values()), strict=True))
    else:
        facts = {path: facts_of(page) for path, page in pages.items()}
    problems: list[str] = []
    for path, page in pages.items():
        problems += [*broken_links(page, facts, elsewhere), *facts[path].problems]
    return list(dict.fromkeys(problems)), {page.name: facts[path].state for path, page in pages.items()}


def check(site: Path, elsewhere: Collection[str] = ()) -> list[str]:
    """Every problem of the site in ``site``; see `inspect`."""
    return inspect(site, elsewhere)[0]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "_build" / "html")
    problems = check(parser.parse_args(argv).site)
    print("\n".join(problems) or "no problem found", file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
