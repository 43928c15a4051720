"""The glossary, and the links from the first use of a term on a page."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

from docutils import nodes
from docutils.utils import new_document
from sphinx.addnodes import pending_xref

from tests.test_book_gates import ROOT
from tests.test_book_pages import CHAPTERS, source

SOURCE = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("first_uses", ROOT / "book" / "_ext" / "first_uses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIRST = tool()


def page(*blocks: nodes.Node) -> nodes.document:
    document = new_document("page")
    document.extend(blocks)
    return document


def links(document: nodes.document) -> list[tuple[str, str]]:
    return [(ref["reftarget"], ref.astext()) for ref in document.findall(pending_xref)]


def test_the_first_use_alone_is_linked_and_the_text_stays() -> None:
    text = "A hop, then two hops. Top k of the Hop; shop, hop-by-hop."
    document = page(nodes.paragraph("", text), nodes.paragraph("", "hop top k"))
    assert FIRST.link(document, ["top k", "hop"], "01-x") == ["hop", "top k"]
    assert links(document) == [("hop", "hop"), ("top k", "Top k")]
    assert document.children[0].astext() == text


def test_titles_code_links_and_outputs_are_left_alone() -> None:
    outside = nodes.reference("", "hop", refuri="x")
    document = page(
        nodes.section("", nodes.title("", "hop")),
        nodes.paragraph("", "", nodes.literal("", "hop"), outside),
        nodes.container("", nodes.paragraph("", "hop"), classes=["cell_output"]),
    )
    assert FIRST.link(document, ["hop"], "01-x") == []
    document += nodes.paragraph("", "hop")
    assert FIRST.link(document, ["hop"], "01-x") == ["hop"]


def test_a_link_by_hand_is_enough() -> None:
    by_hand = pending_xref("", nodes.inline("", "step"), reftype="term", reftarget="hop")
    document = page(nodes.paragraph("", "", by_hand), nodes.paragraph("", "a hop"))
    assert FIRST.link(document, ["hop"], "01-x") == []
    assert FIRST.link(document, [], "01-x") == []


def test_longer_terms_go_first_and_capitals_count() -> None:
    document = page(nodes.paragraph("", "Dense search beats louvain; dense again, Louvain too"))
    words = FIRST.terms("{glossary}\ndense\n  a\n\nLouvain\n  b\n\ndense search\n  c\n")
    assert FIRST.link(document, words, "01-x") == ["dense search", "dense", "Louvain"]


def test_every_term_is_used_on_a_page_and_explained_in_a_chapter_that_says_it() -> None:
    entries = dict(re.findall(r"^(\S.*)\n  (\S.*)$", SOURCE, re.MULTILINE))
    assert len(entries) > 50
    chapters = {page: source(page).casefold() for page in [*CHAPTERS, "index"]}
    for term, explained in entries.items():
        (home,) = re.findall(r"\{doc\}`([^`]+)`$", explained)
        word = re.compile(rf"{re.escape(term.casefold())}", re.IGNORECASE)
        assert home in chapters, f"{term}: {home} is no page"
        assert word.search(chapters[home]), f"{home} never says {term!r}"
