"""The few Sphinx pieces of this book: three boxes, three badges, scripts for explorers, and no other machine asked.

Boxes: ``objectives``, ``loses`` and ``exercise NAME`` (links the notebook in ``exercises/NAME/``). Badges: the roles
``computed``, ``replayed`` and ``cited`` mark in a sentence where a number comes from. What a table says of itself
comes from ``ragkit.show.table``. A page that shows an explorer of ``ragkit.explore`` gets its script, no other does.
"""

from __future__ import annotations

import re
import typing
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst.directives.admonitions import BaseAdmonition
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

logger = logging.getLogger(__name__)
# Not below _static: jupyter-book would load every script and style there on every page.
ASSETS = Path(__file__).parent / "assets"
# Neither touches a page that is read: the first replaces a method that runs when all have been (this book does not use
# it), the second copies files and sets where a page finds them.
UNDECLARED = ("sphinx_multitoc_numbering", "sphinx-mathjax-offline")
KIND = re.compile(r'<div class="rk-explorer"[^>]* data-kind="(\w+)"')


class _Box(BaseAdmonition):
    """An admonition whose title and look are fixed, so that every chapter has the same one."""

    node_class = nodes.admonition
    required_arguments = 0
    option_spec: ClassVar[dict[str, Any]] = {}
    title = ""
    look = ""

    def run(self) -> list[nodes.Node]:
        self.arguments = [self.title]
        self.options = {"class": [self.look]}
        return super().run()


class Objectives(_Box):
    title, look = "Objectives", "objectives"


class Loses(_Box):
    title, look = "When it loses", "loses"


class Exercise(SphinxDirective):
    """A box that links the exercise notebook, which exists or the build fails."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0].strip()
        target = f"/../exercises/{name}/{name}.ipynb"
        box = nodes.admonition("", nodes.title("", f"Exercise: {name}"), classes=["exercise"])
        self.state.nested_parse(self.content, self.content_offset, box)
        link = download_reference("", "", nodes.literal("", f"{name}.ipynb"), reftarget=target, refdoc=self.env.docname)
        links = nodes.paragraph("", "", nodes.Text("Open "), link)
        command = nodes.literal("", f".venv/bin/jupyter lab exercises/{name}/{name}.ipynb")
        links += [nodes.Text(", or run "), command, nodes.Text(" in the course folder.")]
        if not (Path(self.env.srcdir).parent / "exercises" / name / f"{name}.ipynb").is_file():
            # Said here as well, because Sphinx would only report a file that cannot be read.
            logger.warning("exercises/%s/%s.ipynb does not exist", name, name, location=self.get_location())
            return [box]
        box += links
        return [box]


class Badge(SphinxRole):
    """``{replayed}`hand, 2026-11-29``` is a badge with the word *replayed* and what follows it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        words = f"{self.name}: {self.text}" if self.text.strip() else self.name
        return [nodes.inline(self.rawtext, words, classes=["rk-badge", f"rk-{self.name}"])], []


def plain_bibliography(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Sphinx calls the bibliography a list for screen readers and its entries something else: that is no list."""
    if "body" in context:
        context["body"] = context["body"].replace(
            '<div role="list" class="citation-list">', '<div class="citation-list">'
        )


def short_description(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The first paragraph of a page describes it to a search engine; the theme would cut the text anywhere."""
    if doctree is None:
        return
    first = next(iter(doctree.findall(nodes.paragraph)), None)
    if first is not None:
        context["page_description"] = re.sub(r"\s+", " ", first.astext())[:300]


def notebook_to_download(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Tell the theme's download button of the notebook that the build writes beside the page's source."""
    if doctree is not None and any("cell" in node["classes"] for node in doctree.findall(nodes.container)):
        context["ipynb_source"] = f"{pagename}.ipynb"


def carry_assets(app: Sphinx, config: Any) -> None:
    """Copy the scripts of the explorers into the site, as ``_static/explorers``."""
    config.html_static_path.append(str(ASSETS))


def explorer_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the scripts of those kinds of explorer that the page shows; nothing on other pages."""
    kinds = sorted(set(KIND.findall(context.get("body", ""))))
    for number, name in enumerate(["core", *kinds] if kinds else []):
        if not (ASSETS / "explorers" / f"{name}.js").is_file():
            logger.warning("no script for explorers of the kind %s", name, location=pagename)
        app.add_js_file(f"explorers/{name}.js", priority=600 + number, loading_method="defer")
    if kinds:
        app.add_css_file("explorers/explorers.css", priority=900)


def read_side_by_side(app: Sphinx, config: Any) -> None:
    """Say of two extensions that pages may be read side by side; they do not declare it, and Sphinx would read one
    page after another, and warn."""
    for name in UNDECLARED:
        if (extension := app.extensions.get(name)) is not None:
            extension.parallel_read_safe = True


def whole_annotations(app: Sphinx, what: str, name: str, obj: Any, *rest: Any) -> None:
    """Give autodoc the types of a named tuple and not their names: two modules may each have a class of one name."""
    for tuples in vars(obj).values() if what == "module" else ():
        if isinstance(tuples, type) and hasattr(tuples, "_fields") and tuples.__module__ == name:
            tuples.__new__.__annotations__ = typing.get_type_hints(tuples)


def without_fields(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave the fields of a named tuple out: its signature shows them, and "Alias for field number 0" says nothing."""
    return True if re.match(r"Alias for field number \d+$", getattr(obj, "__doc__", None) or "") else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("objectives", Objectives)
    app.add_directive("loses", Loses)
    app.add_directive("exercise", Exercise)
    for name in ("computed", "replayed", "cited"):
        app.add_role(name, Badge())
    # jupyter-book sets this for an extension that this book does not load.
    app.add_config_value("comments_config", {}, "html")
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", whole_annotations)  # a module comes before its classes
    app.connect("autodoc-skip-member", without_fields)
    app.connect("config-inited", carry_assets)
    app.connect("config-inited", read_side_by_side)
    app.connect("html-page-context", notebook_to_download, priority=400)  # before the theme makes its buttons
    app.connect("html-page-context", explorer_scripts)
    app.connect("html-page-context", plain_bibliography, priority=900)
    app.connect("html-page-context", short_description, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
