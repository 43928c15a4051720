"""The sources of the book: its frame, its sources in print, and the arc that every chapter follows."""

import re
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_file

from tests.test_book_gates import ROOT, tool

BOOK = ROOT / "book"
PAGES = tool("build").toc_pages(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))
CHAPTERS = [page for page in PAGES if re.match(r"\d\d-", page)]
NEEDED = {"article": {"author", "title", "journal", "year"}, "inproceedings": {"author", "title", "booktitle", "year"}}
NEEDED |= {"book": {"author", "title", "publisher", "year"}, "techreport": {"author", "title", "institution", "year"}}


def source(page: str) -> str:
    return (BOOK / f"{page}.md").read_text(encoding="utf-8")


def test_every_page_of_the_contents_is_there_and_every_chapter_in_the_contents() -> None:
    assert [page for page in PAGES if not (BOOK / f"{page}.md").is_file()] == []
    assert sorted(path.stem for path in BOOK.glob("[0-9][0-9]-*.md")) == sorted(CHAPTERS)


def test_the_welcome_page_links_every_chapter() -> None:
    assert set(CHAPTERS) <= set(re.findall(r"\{doc\}`([^`]+)`", source("index")))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_follows_the_arc(chapter: str) -> None:
    text = source(chapter)
    number = int(chapter[:2])
    assert re.search(rf"^# {number}\. ", text, re.MULTILINE), f"the title of {chapter} starts with '# {number}. '"
    assert "file_format: mystnb" in text.split("---")[1]
    for device in (
        "{.reading-time}",
        "{objectives}",
        "{loses}",
        "{literalinclude} ../ragkit/",
        "{dropdown}",
        "{cite:",
    ):
        assert device in text, f"{chapter} has no {device}"
    for call in ("claim(", "table("):
        assert call in text, f"{chapter} never calls {call}"
    assert re.search(r"About \d+ minutes", text)


LONGEST = {"open": 8, "folded": 16, "imports": 12}


def too_long(text: str) -> list[str]:
    """The code cells that are longer than a reader takes in at once; the first cell of a page imports and sets up."""
    found = []
    for n, cell in enumerate(re.finditer(r"^```\{code-cell\}.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)):
        options, code = re.fullmatch(r"((?:---\n.*?^---\n)?)(.*)", cell[1], re.MULTILINE | re.DOTALL).groups()  # type: ignore[union-attr]
        lines = [line for line in code.splitlines() if line.strip()]
        tags = options + "".join(line for line in lines if line.startswith(":tags:"))
        kind = "folded" if re.search(r"(hide|remove)-(input|cell)", tags) else "imports" if n == 0 else "open"
        length = sum(not line.startswith(":tags:") for line in lines)
        if length > LONGEST[kind]:
            line = text[: cell.start()].count("\n") + 1
            found.append(f"line {line}: {length} lines of {LONGEST[kind]}")
    return found


def test_a_long_cell_is_noticed() -> None:
    nine = "x = 1\n" * 9
    page = "```{{code-cell}} python\nimport os\n```\n```{{code-cell}} python\n{}" + nine + "```\n"
    assert too_long(page.format("")) == ["line 4: 9 lines of 8"]
    assert too_long(page.format(":tags: [hide-input]\n")) == []
    assert too_long(page.format("---\ntags: [remove-input]\n---\n" + nine)) == ["line 4: 18 lines of 16"]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_cells_are_short(chapter: str) -> None:
    assert too_long(source(chapter)) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_promises_nothing_that_is_not_there(page: str) -> None:
    assert not re.search(r"coming soon|to be written|\bTODO\b|\bTBD\b", source(page), re.IGNORECASE)
    linked = set(re.findall(r"\{doc\}`(?:[^`<]*<)?/?([\w/-]+)>?`", source(page)))
    assert linked <= set(PAGES), f"{page} links pages that are not in the contents: {linked - set(PAGES)}"


def test_the_names_of_claims_and_figures_are_used_once() -> None:
    for pattern in (r'claim\(\s*"([^"]+)"', r"^    name: (\S+)", r"^:label: (\S+)", r"^\(([\w-]+)\)="):
        names = [name for page in PAGES for name in re.findall(pattern, source(page), re.MULTILINE)]
        assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})


def test_one_symbol_means_one_thing() -> None:
    rows = [line.split("|")[1].strip() for line in source("symbols").splitlines() if line.startswith("| $")]
    symbols = [symbol for row in rows for symbol in re.findall(r"\$([^$]+)\$", row)]
    assert len(symbols) == len(set(symbols)), sorted({s for s in symbols if symbols.count(s) > 1})
    alpha = next(line for line in source("symbols").splitlines() if line.startswith(r"| $\alpha$"))
    assert "restarting" in alpha
    assert "`restart`" in alpha


def test_the_bibliography_is_complete() -> None:
    entries = parse_file(str(BOOK / "references.bib")).entries
    for key, entry in entries.items():
        fields = set(entry.fields) | set(entry.persons)
        assert NEEDED[entry.type] <= fields, f"{key} lacks {NEEDED[entry.type] - fields}"
        assert entry.fields["year"] in key, f"{key} is not named by its year {entry.fields['year']}"
    titles = [entry.fields["title"].lower() for entry in entries.values()]
    assert len(titles) == len(set(titles))


def test_lost_in_the_middle_is_the_tacl_paper_of_2024() -> None:
    """It circulates as a 2023 preprint."""
    entry = parse_file(str(BOOK / "references.bib")).entries["liu2024lost"]
    assert (entry.fields["journal"], entry.fields["year"]) == (
        "Transactions of the Association for Computational Linguistics",
        "2024",
    )


def test_every_citation_has_an_entry() -> None:
    entries = set(parse_file(str(BOOK / "references.bib")).entries)
    cited = {
        key.strip()
        for page in PAGES
        if Path(BOOK / f"{page}.md").is_file()
        for keys in re.findall(r"\{cite:[tp]\}`([^`]+)`", source(page))
        for key in keys.split(",")
    }
    assert cited <= entries, sorted(cited - entries)
