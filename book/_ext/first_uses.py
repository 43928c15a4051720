"""Links the first use of every glossary term on a page to the glossary.

The terms are those of ``glossary.md``, so a new entry is linked everywhere at the next build, and no chapter has to
carry the links. Only running text counts: no titles, links, code, formulas, captions or outputs of cells. A page that
has a link of its own to a term keeps it and gets no second one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

CHAPTER = re.compile(r"\d\d-")
HEAD = re.compile(r"^(\S.*)\n  \S", re.MULTILINE)
INSIDE = (
    nodes.title,
    nodes.reference,
    pending_xref,
    nodes.literal,
    nodes.caption,
    nodes.figure,
    nodes.table,
    nodes.raw,
)
SKIPPED_CLASSES = {"cell_output", "rk-badge", "objectives", "reading-time"}


def terms(glossary: str) -> list[str]:
    """The entries of the glossary's source, longest first, so that *dense search* is found before *search*.

    >>> terms("```{glossary}\\n:sorted:\\n\\nhop\\n  One step.\\n\\ntop k\\n  The best.\\n```")
    ['top k', 'hop']
    """
    body = glossary.partition("{glossary}")[2]
    return sorted(HEAD.findall(body), key=lambda term: (-len(term), term))


def pattern(words: list[str]) -> re.Pattern[str]:
    """Finds a term as a whole word, also in the plural; capitals count where the glossary has them.

    >>> [found[0] for found in pattern(["BM25", "hop"]).finditer("Two hops, one Hop, a shop and bm25")]
    ['hops', 'Hop']
    """
    ways = (re.escape(word) if re.search(r"[A-Z]", word) else f"(?i:{re.escape(word)})" for word in words)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(f'({way})' for way in ways)})s?(?![\w-])")


def link(doctree: nodes.document, words: list[str], docname: str) -> list[str]:
    """Put the links into a page; the terms that were linked, in the order of their first uses."""
    if not words:
        return []
    waiting = set(words)
    waiting -= {str(ref["reftarget"]) for ref in doctree.findall(pending_xref) if ref.get("reftype") == "term"}
    wanted, linked = pattern(words), list[str]()
    for text in list(_running_text(doctree)):
        pieces: list[nodes.Node] = []
        end = 0
        for found in wanted.finditer(text.astext()):
            word = words[(found.lastindex or 1) - 1]
            if word not in waiting:
                continue
            waiting.remove(word)
            linked.append(word)
            pieces += [nodes.Text(text.astext()[end : found.start()]), _reference(word, found[0], docname)]
            end = found.end()
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text.astext()[end:])])
    return linked


def _running_text(doctree: nodes.document) -> Iterator[nodes.Text]:
    for text in doctree.findall(nodes.Text):
        above = list(_ancestors(text))
        if not any(isinstance(node, (nodes.paragraph, nodes.list_item)) for node in above):
            continue
        if any(isinstance(node, INSIDE) or SKIPPED_CLASSES & set(node.get("classes", ())) for node in above):
            continue
        yield text


def _ancestors(node: nodes.Node) -> Iterator[nodes.Element]:
    while (node := node.parent) is not None:
        yield node  # type: ignore[misc]


def _reference(word: str, shown: str, docname: str) -> pending_xref:
    inner = nodes.inline(shown, shown, classes=["xref", "std", "std-term"])
    return pending_xref(
        shown, inner, refdomain="std", reftype="term", reftarget=word, refexplicit=True, refdoc=docname, refwarn=True
    )


def link_first_uses(app: Sphinx, doctree: nodes.document) -> None:
    """Sphinx calls this for every page that it has read."""
    docname = app.env.docname
    source = Path(app.srcdir) / "glossary.md"
    if CHAPTER.match(docname) and "glossary" in app.env.found_docs and source.is_file():
        app.env.note_dependency(str(source))
        link(doctree, terms(source.read_text(encoding="utf-8")), docname)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", link_first_uses)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
