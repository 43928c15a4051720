"""The notebooks that a reader downloads: plain Markdown, the cells as they are, and nothing of Sphinx left."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.test_book_gates import ROOT, tool
from tests.test_book_pages import CHAPTERS
from tests.tools import bubblewrap_works, without_network

TOOL: Any = tool("notebooks")
BOOK = ROOT / "book"
WORDS = TOOL.Words(
    {"a-number": "0.62 [0.51, 0.73]"}, {"02-hybrid": "2. Hybrid"}, {"page1999": "Page et al. 1999"}, BOOK
)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("It is {glue:text}`a-number`.", "It is 0.62 [0.51, 0.73]."),
        ("See {doc}`02-hybrid` or {doc}`here <02-hybrid>`.", "See *2. Hybrid* or here."),
        ("{cite:t}`page1999` and {cite:p}`page1999`", "Page et al. 1999 and (Page et al. 1999)"),
        ("{replayed}`hand, 2026-11-30`", "(replayed: hand, 2026-11-30)"),
        ("{numref}`fig-x` shows, as {numref}`fig-x` says {eq}`eq-x`.", "The figure shows, as the figure says above."),
        ("(label)=\n# 2. Title\n\n{.reading-time}\nAbout", "# 2. Title\n\nAbout"),
        ("```{math}\n:label: eq-x\nx = y\n```", "$$\nx = y\n$$"),
        (":::{loses}\nNever {glue:text}`a-number`.\n:::", "> **When it loses**\n> \n> Never 0.62 [0.51, 0.73]."),
        (":::{exercise} interleave\nWrite it.\n:::",
         "> **Exercise: interleave.** Open `exercises/interleave/interleave.ipynb`.\n> \n> Write it."),
        ("1. Why?\n\n   :::{dropdown} Answer\n   So.\n   :::",
         "1. Why?\n\n   <details><summary>Answer</summary>\n\n   So.\n\n   </details>"),
    ],
)  # fmt: skip
def test_markup_becomes_plain(source: str, shown: str) -> None:
    assert TOOL.readable(source, WORDS) == shown


def test_a_listing_is_copied_with_its_decorators() -> None:
    source = (
        "```{literalinclude} ../ragkit/search/fusion.py\n:language: python\n:pyobject: interleave\n:caption: f.py\n```"
    )
    made = TOOL.readable(f":::{{dropdown}} Code\n{source}\n:::", WORDS)
    function = re.search(r"```python\n(def interleave.*?)\n```", made, re.DOTALL)
    assert function
    assert function[1] in (ROOT / "ragkit" / "search" / "fusion.py").read_text(encoding="utf-8")
    assert "`f.py`" in made
    assert "@property" in TOOL.listing(ROOT / "ragkit" / "systems" / "rows.py", "Rows.matrix", "")
    with pytest.raises(ValueError, match=r"there is no Rows\.nothing to list"):
        TOOL.listing(ROOT / "ragkit" / "systems" / "rows.py", "Rows.nothing", "")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{glow}`x`", "the role glow has no plain form"),
        ("```{mermaid}\nx\n```", "the directive mermaid has no plain form"),
        (":::{loses}\nx", "the directive loses is never closed"),
    ],
)
def test_what_has_no_rule_is_an_error(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TOOL.readable(source, WORDS)


def test_cells_keep_their_code_and_lose_their_outputs() -> None:
    cell = nbformat.v4.new_code_cell("1 + 1", outputs=[nbformat.v4.new_output("stream", text="2")])
    cell.metadata.update({"tags": ["hide-input"], "mystnb": {"figure": {"caption": "Two, {glue:text}`a-number`."}}})
    made = TOOL.convert(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("---\nx: y\n---\n"), cell]), WORDS
    )
    assert [c.cell_type for c in made.cells] == ["code", "markdown"], "an empty page of settings is no cell"
    assert made.cells[0].source == "1 + 1"
    assert made.cells[0].outputs == []
    assert made.cells[0].metadata == {"jupyter": {"source_hidden": True}}
    assert made.cells[1].source == "*Two, 0.62 [0.51, 0.73].*"
    nbformat.validate(made)


def downloaded(page: str) -> tuple[str, nbformat.NotebookNode]:
    """A page's source and the notebook that a reader gets; numbers of a build are stood in for."""
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    path = BOOK / f"{page}.md"
    text = path.read_text(encoding="utf-8")
    reader = create_nb_reader(str(path), MdParserConfig(enable_extensions={"colon_fence"}), NbParserConfig(), text)
    assert reader is not None
    words = TOOL.Words(
        defaultdict(lambda: "0.5"), TOOL.titles(BOOK), TOOL.citations(BOOK / "references.bib"), BOOK
    )  # the cells do not run here
    return text, TOOL.convert(reader.read(text), words)


@pytest.mark.parametrize("page", [*CHAPTERS, "published-code", "study", "status", "instructors"])
def test_nothing_of_sphinx_is_left_of_any_page(page: str) -> None:
    text, made = downloaded(page)
    nbformat.validate(made)
    assert sum(cell.cell_type == "code" for cell in made.cells) == len(
        re.findall(r"^```\{code-cell\}", text, re.MULTILINE)
    )
    prose = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    prose = re.sub(r"```.*?```", "", prose, flags=re.DOTALL)
    assert re.findall(r"\{[a-z][a-z:-]*\}`|^\s*:::|^\([\w-]+\)=$", prose, re.MULTILINE) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", CHAPTERS)
def test_a_downloaded_notebook_runs_in_an_empty_folder(page: str, tmp_path: Path) -> None:
    """Run as a reader would: anywhere, with the widgets of a live notebook and no network."""
    _, made = downloaded(page)
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, tmp_path / f"{page}.ipynb")
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute", f"{page}.ipynb"]
    env = {k: v for k, v in os.environ.items() if k not in ("RAGKIT_BOOK", "RAGKIT_LLM")}
    if bubblewrap_works():
        command = without_network(command)
    done = subprocess.run(
        [*command, "--output", "run.ipynb"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    run = nbformat.read(tmp_path / "run.ipynb", as_version=4)
    cells = [cell for cell in run.cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.execution_count for cell in cells)


def test_the_titles_and_names_are_those_of_the_book() -> None:
    assert TOOL.titles(BOOK)["02-hybrid"] == TOOL.titles(BOOK)["hybrid"] == "2. Hybrid retrieval"
    cited = TOOL.citations(BOOK / "references.bib")
    assert cited["page1999pagerank"] == "Page et al. 1999"
    assert Path(TOOL.__file__).is_file()
