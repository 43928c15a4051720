"""Each page with cells as a notebook to download: it runs anywhere the package is installed, and reads without Sphinx.

    python book/_tools/notebooks.py [BUILD_FOLDER]

A page's source holds roles and directives that JupyterLab shows as they are written. Here they become plain Markdown:
numbers of this build in the place of their names, titles in the place of links to pages, listings copied from the
package, boxes as quotations, folded answers as ``<details>``. Cells keep their code and lose their outputs. A role or
directive without a rule is a ``ValueError``, so that a new one cannot slip into a download.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<indent>\s*)(?P<mark>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ \t]*(?P<argument>.*)$")
ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]*)`")
OPTION = re.compile(r"^\s*:(?P<key>[\w-]+):\s*(?P<value>.*)$")
NUMBER = re.compile(r"^# .*", re.MULTILINE)


@dataclass(frozen=True)
class Words:
    """What roles stand for: glued numbers, titles of pages, authors and years of citations; ``book`` is its folder."""

    glued: Mapping[str, str]
    titles: Mapping[str, str]
    cited: Mapping[str, str]
    book: Path


def readable(text: str, words: Words) -> str:
    """A Markdown cell of a page without Sphinx's markup."""
    lines: list[str] = []
    waiting = text.split("\n")
    while waiting:
        line = waiting.pop(0)
        if (opening := FENCE.match(line)) is None:
            if re.fullmatch(r"\s*\([\w-]+\)=\s*|\s*\{\.[\w.# -]+\}\s*", line):
                continue  # a label, or classes of the next paragraph
            lines.append(_roles(line, words))
            continue
        inside = _until_closed(opening, waiting)
        made = _directive(opening["name"], opening["argument"].strip(), inside, words)
        lines += textwrap.indent(made, opening["indent"]).split("\n")
    return "\n".join(lines)


def _until_closed(opening: re.Match[str], waiting: list[str]) -> list[str]:
    """Take the lines of a fence off the front; a fence that is never closed is a ``ValueError``."""
    closing = re.compile(rf"\s*{opening['mark'][0]}{{{len(opening['mark'])},}}\s*")
    inside, indent, depth = [], len(opening["indent"]), 1
    while waiting:
        line = waiting.pop(0)
        again = FENCE.match(line)
        if again and again["mark"][0] == opening["mark"][0] and len(again["mark"]) >= len(opening["mark"]):
            depth += 1
        elif closing.fullmatch(line):
            depth -= 1
            if not depth:
                return inside
        inside.append(line[indent:] if not line[:indent].strip() else line)
    raise ValueError(f"the directive {opening['name']} is never closed")


def _directive(name: str, argument: str, inside: Sequence[str], words: Words) -> str:
    options: dict[str, str] = {}
    body = list(inside)
    while body and (option := OPTION.match(body[0])):
        options[option["key"]] = option["value"]
        body.pop(0)
    if name == "math":
        return "\n".join(["$$", *(line for line in body if line.strip()), "$$"])
    if name == "literalinclude":
        return listing(words.book / argument, options.get("pyobject", ""), options.get("caption", ""))
    content = readable("\n".join(body).strip("\n"), words)
    if name == "dropdown":
        return f"<details><summary>{_roles(argument, words)}</summary>\n\n{content}\n\n</details>"
    if name == "exercise":
        return _quotation(f"**Exercise: {argument}.** Open `exercises/{argument}/{argument}.ipynb`.", content)
    titles = {"objectives": "Objectives", "loses": "When it loses", "note": "Note", "warning": "Warning", "tip": "Tip"}
    if name in titles:
        return _quotation(f"**{titles[name]}**", content)
    if name == "admonition":
        return _quotation(f"**{_roles(argument, words)}**", content)
    if name == "nb-exec-table":
        return "(The page of the book has a table of execution times here.)"
    if name == "csv-table":
        return f"(The page of the book has a table here: {_roles(argument, words)}.)"
    raise ValueError(f"the directive {name} has no plain form")


def _quotation(title: str, content: str) -> str:
    return textwrap.indent(f"{title}\n\n{content}", "> ", lambda line: True)


def listing(path: Path, name: str, caption: str) -> str:
    """The source of a function, or of ``Class.method``, from a file, as a block of code."""
    source = path.read_text(encoding="utf-8")
    text = _part(source, name.split(".")) if name else source
    above = f"`{caption}`\n\n" if caption else ""
    return f"{above}```python\n{textwrap.dedent(text).rstrip()}\n```"


def _part(source: str, names: Sequence[str]) -> str:
    body, found = ast.parse(source).body, None
    for name in names:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        found = next((node for node in body if isinstance(node, kinds) and node.name == name), None)
        if found is None:
            raise ValueError(f"there is no {'.'.join(names)} to list")
        body = found.body
    assert found is not None
    start = min([found.lineno, *(decorator.lineno for decorator in found.decorator_list)])
    return "\n".join(source.split("\n")[start - 1 : found.end_lineno])


def _roles(line: str, words: Words) -> str:
    def plain(found: re.Match[str]) -> str:
        name, text = found["name"], found["text"]
        shown, _, target = text.rstrip(">").rpartition("<") if text.endswith(">") else ("", "", text)
        rules: dict[str, Callable[[], str]] = {
            "glue:text": lambda: words.glued[target],
            "doc": lambda: shown.strip() or f"*{words.titles[target.lstrip('/')]}*",
            "ref": lambda: shown.strip() or f"*{words.titles.get(target, target)}*",
            "numref": lambda: "The figure" if not line[: found.start()].strip(" -*>1234567890.") else "the figure",
            "eq": lambda: "above",
            "term": lambda: shown.strip() or target,
            "download": lambda: shown.strip() or target,
            "cite:t": lambda: ", ".join(words.cited[key.strip()] for key in text.split(",")),
            "cite:p": lambda: "(" + "; ".join(words.cited[key.strip()] for key in text.split(",")) + ")",
            **{kind: lambda kind=name: f"({kind}: {text})" for kind in ("cited", "replayed", "computed")},
        }
        if name not in rules:
            raise ValueError(f"the role {name} has no plain form")
        return rules[name]()

    return ROLE.sub(plain, line)


def convert(notebook: nbformat.NotebookNode, words: Words) -> nbformat.NotebookNode:
    """A page's notebook as it is downloaded. The one that is given is not changed."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = readable(re.sub(r"\A---\n.*?\n---\n", "", cell.source, flags=re.DOTALL), words).strip()
            cells += [nbformat.v4.new_markdown_cell(text)] if text else []
            continue
        folded = {"hide-input", "remove-input"} & set(cell.metadata.get("tags", []))
        made = nbformat.v4.new_code_cell(cell.source)
        made.metadata.update({"jupyter": {"source_hidden": True}} if folded else {})
        cells.append(made)
        if caption := cell.metadata.get("mystnb", {}).get("figure", {}).get("caption"):
            cells.append(nbformat.v4.new_markdown_cell(f"*{_roles(str(caption).strip(), words)}*"))
    for n, cell in enumerate(cells):
        cell["id"] = f"cell-{n}"  # random ids would make every build's file another one
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def glued(path: Path) -> dict[str, str]:
    """The numbers that a page's cells glued, by name."""
    if not path.is_file():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {name: str(ast.literal_eval(output["data"]["text/plain"])) for name, output in stored.items()}


def citations(bibliography: Path) -> dict[str, str]:
    """Key -> authors and year, as *Page et al. 1999*."""
    from pybtex.database import parse_file

    found = {}
    for key, entry in parse_file(str(bibliography)).entries.items():
        names = [" ".join(person.last_names) for person in entry.persons.get("author", [])]
        who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
        found[key] = f"{who} {entry.fields['year']}"
    return found


def titles(book: Path) -> dict[str, str]:
    """The title of each page, by its name and by its label."""
    found = {}
    for path in book.rglob("*.md"):
        if not {"_build", "_tools"} & set(path.parts):
            text = path.read_text(encoding="utf-8")
            if title := NUMBER.search(text):
                found[path.relative_to(book).with_suffix("").as_posix()] = title[0][2:]
                found.update(dict.fromkeys(re.findall(r"^\(([\w-]+)\)=\n# ", text, re.MULTILINE), title[0][2:]))
    return found


def write(build: Path, book: Path) -> list[Path]:
    """Write a notebook beside the source of every page of ``build`` that has cells; their paths."""
    names, cited, written = titles(book), citations(book / "references.bib"), []
    for path in sorted((build / "jupyter_execute").rglob("*.ipynb")):
        page = path.relative_to(build / "jupyter_execute").with_suffix("")
        if not (build / "html" / page.with_suffix(".html")).is_file():
            continue
        words = Words(glued(path.with_suffix(".glue.json")), names, cited, book)
        try:
            notebook = convert(nbformat.read(path, as_version=4), words)
        except (KeyError, ValueError) as problem:
            raise ValueError(f"{page}: {problem}") from problem
        target = build / "html" / "_sources" / page.with_suffix(".ipynb")
        nbformat.write(notebook, target)
        written.append(target)
    return written


if __name__ == "__main__":
    for made in write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "_build", ROOT / "book"):
        print(made)
