"""Python files cut along their syntax tree: a function, a method, the head of a class, the code between them.

Chunks by syntax, with the path of names and the enclosing heads as context (Zhang et al., *cAST: Enhancing Code
Retrieval-Augmented Generation with Structural Chunking via Abstract Syntax Tree*, 2025, cut by size along the tree).
A chunk is a run of whole lines, every line of the file is in exactly one, and the stored texts joined are the file.

Walking the tree with ``ast.walk`` and keeping functions and classes is the usual slip: a method comes out twice (alone
and in its class) and without its class's name, decorators are cut off (``lineno`` is the line of ``def``), async
functions are another node class, and docstring, imports, constants and ``if TYPE_CHECKING`` blocks of the module
vanish. Here each line has one owner. A function owns its lines from its first decorator, and the comment right above,
to its end, whatever is nested in it; a class owns what is left of it when its methods are taken out; the module owns
the rest. Definitions inside ``if``, ``try`` and the like are found too. Runs of more than ``max_lines`` are cut where a
statement begins, the outermost one within reach; one statement that is longer stays whole.

Left out: merging small neighbours up to a size, and other languages: there take tree-sitter.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ragkit.structured.code_text import (
    Definition,
    comment_columns,
    docstring,
    docstring_lines,
    first_sentence,
    signature,
    source_lines,
    without_comments,
)
from ragkit.structured.identifiers import spoken

MAX_LINES = 200
Kind = Literal["module", "class", "function"]


@dataclass(frozen=True)
class CodeChunk:
    """Lines ``start`` to ``end`` (from 1, both included) of a file.

    ``name`` is the qualified name, ``id`` the same with ``#2``, ``#3`` ... for what is cut in parts or defined again.
    ``text`` are the lines unchanged. ``context`` are the heads that stand above it: module, classes, signature.
    ``embedded`` is what is searched: names in words, docstrings, and the code without comments.
    """

    id: str
    name: str
    kind: Kind
    text: str
    start: int
    end: int
    context: str
    embedded: str


@dataclass(frozen=True)
class _Owner:
    """A definition (or the module) that owns lines, with the definitions around it, outermost first."""

    name: str
    node: Definition | ast.Module
    around: tuple[Definition, ...] = ()


class _Source:
    """One file taken apart: who owns each line, and where statements begin."""

    def __init__(self, source: str, module: str) -> None:
        self.lines = source_lines(source)
        self.comments = comment_columns(self.lines)
        self.tree = ast.parse(source)
        self.owner: list[_Owner] = [_Owner(module, self.tree)] * (len(self.lines) + 1)  # by line number, 0 unused
        self.cuts: dict[int, int] = {}  # line at which a statement begins -> how deep it is nested
        self._walk(self.tree.body, self.owner[0], 0)

    def blank(self, line: int) -> bool:
        return not self.lines[line - 1].strip()

    def only_comment(self, line: int) -> bool:
        return line in self.comments and not self.lines[line - 1][: self.comments[line]].strip()

    def has_code(self, line: int) -> bool:
        return not self.blank(line) and not self.only_comment(line)

    def _begin(self, node: ast.stmt) -> int:
        """The first line of a statement: its first decorator's, or that of the comment lines right above."""
        line: int = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        while line > 1 and (self.only_comment(line - 1) or self._continues(line - 1)):
            line -= 1
        return line

    def _continues(self, line: int) -> bool:
        """Whether a backslash joins the line to the next one, as after a decorator's lone "@"."""
        return line not in self.comments and self.lines[line - 1].rstrip("\r\n").endswith("\\")

    def _walk(self, body: list[ast.stmt], owner: _Owner, depth: int) -> None:
        """Hand the lines of every definition to it; note where statements begin, the first of a block left out."""
        end = 0
        for statement in body:
            start = self._begin(statement)
            if end and start > end:
                self.cuts.setdefault(start, depth)
            end = statement.end_lineno or start
            inner = owner
            if isinstance(statement, Definition) and not isinstance(owner.node, ast.FunctionDef | ast.AsyncFunctionDef):
                around = owner.around if isinstance(owner.node, ast.Module) else (*owner.around, owner.node)
                inner = _Owner(f"{owner.name}.{statement.name}", statement, around)
                self.owner[start : end + 1] = [inner] * (end + 1 - start)
            for block in _blocks(statement):
                self._walk(block, inner, depth + 1)
            branches = [*getattr(statement, "handlers", []), *_elif(statement, self.lines)]
            self.cuts.update({branch.lineno: depth for branch in branches})

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last line of each run of one owner; a run without code goes to a neighbour.

        Blank lines go to the run before, comments to the one after, which they usually introduce.
        """
        if not self.lines:
            return
        starts = [n for n in range(1, len(self.lines) + 1) if n == 1 or self.owner[n] is not self.owner[n - 1]]
        kept: list[int] = []
        pending = 0  # where lines begin that wait for a run with code
        for start, after in zip(starts, [*starts[1:], len(self.lines) + 1], strict=True):
            inside = range(start, after)
            if any(map(self.has_code, inside)):
                kept.append(pending or start)
                self.owner[kept[-1]] = self.owner[start]
                pending = 0
            elif not kept or any(map(self.only_comment, inside)):
                pending = pending or start
        kept = kept or [1]
        yield from zip(kept, [*(start - 1 for start in kept[1:]), len(self.lines)], strict=True)

    def parts(self, start: int, end: int, most: int) -> Iterator[tuple[int, int]]:
        """A run in parts of at most ``most`` lines, cut before the outermost, then the last statement within reach."""
        long = end - start + 1 > most
        inside = sorted(line for line in self.cuts if start < line <= end) if long else []
        while end - start + 1 > most:
            near = [line for line in inside if start < line <= start + most]
            far = [line for line in inside if line > start + most]
            if not near and not far:
                break
            cut = min(near, key=lambda line: (self.cuts[line], -line)) if near else far[0]
            yield start, cut - 1
            start = cut
        yield start, end


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements inside a statement."""
    for node in (statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        for field in ("body", "orelse", "finalbody"):
            if block := getattr(node, field, []):
                yield block


def _elif(statement: ast.stmt, lines: list[str]) -> list[ast.stmt]:
    """The ``elif`` of an ``if``, which the tree shows as an ``if`` inside ``else``."""
    inner = statement.orelse[:1] if isinstance(statement, ast.If) else []
    return [node for node in inner if lines[node.lineno - 1].lstrip().startswith("elif")]


def code_chunks(source: str, module: str, max_lines: int = MAX_LINES) -> list[CodeChunk]:
    """The chunks of a Python file, in order; their texts joined are ``source``. An empty file gives ``[]``.

    ``module`` is the dotted name that qualified names begin with. A file that does not parse is a ``ValueError`` with
    the line: what cannot be cut must be seen, not left out in silence.
    """
    if isinstance(max_lines, bool) or max_lines < 1:
        raise ValueError(f"max_lines must be at least 1, got {max_lines!r}")
    mark = "\ufeff" if source.startswith("\ufeff") else ""  # a byte order mark is no Python, and still in the file
    try:
        file = _Source(source.removeprefix(mark), module)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ValueError(f"source of {module} is no Python{f', line {line}' if line else ''}: {error}") from error
    chunks: list[CodeChunk] = []
    times: Counter[str] = Counter()
    seen: set[int] = set()
    for first, last in file.runs():
        owner = file.owner[first]
        for start, end in file.parts(first, last, max_lines):
            times[owner.name] += 1
            number = times[owner.name]
            text = ("" if chunks else mark) + "".join(file.lines[start - 1 : end])
            context, embedded = _texts(file, owner, module, range(start, end + 1), id(owner) not in seen)
            seen.add(id(owner))
            name = owner.name if number == 1 else f"{owner.name}#{number}"
            chunks.append(CodeChunk(name, owner.name, _kind(owner.node), text, start, end, context, embedded))
    return chunks


def _kind(node: Definition | ast.Module) -> Kind:
    if isinstance(node, ast.Module):
        return "module"
    return "class" if isinstance(node, ast.ClassDef) else "function"


def _texts(file: _Source, owner: _Owner, module: str, lines: range, opening: bool) -> tuple[str, str]:
    """Context and embedded text: the opening part has its docstring in full, later ones its first sentence."""
    own = [] if isinstance(owner.node, ast.Module) else [owner.node]
    heads = [*owner.around, *own]
    context = "\n".join([f"# {module}", *("    " * i + signature(node) for i, node in enumerate(heads))])
    above = [first_sentence(docstring(node)) for node in (file.tree, *owner.around) if node is not owner.node]
    about = docstring(owner.node) if opening else first_sentence(docstring(owner.node))
    code = {n: file.lines[n - 1] for n in lines}
    body = without_comments(code, file.comments, drop=docstring_lines(owner.node, file.lines))
    shown = owner.around if opening else heads  # the opening part begins with its own head
    named = [owner.name, spoken(owner.name), *above, *(signature(node) for node in shown), about, body]
    return context, "\n".join(part for part in named if part)
