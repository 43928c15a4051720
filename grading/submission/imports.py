"""Finds imports of names that an answer may not use (the reference answer, say), by reading the syntax tree.

Caught: `import a.b as f` and `f.name` after it, `from a.b import name`, `from a.b import *`, the module given to
importlib or `__import__` as text. Left out: what no reading can find, such as a name put together at run time; that is
not there to be imported (`running.withholding`, and a sandbox that shows no more than the tests need).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from grading.syntax import parse

LOADERS = {
    "import_module",
    "__import__",
    "find_spec",
    "run_module",
    "resolve_name",
    "exec",
    "eval",
    "modules",
    "find_loader",
}


def forbidden_imports(sources: Sequence[str], forbidden: Sequence[str]) -> tuple[str, ...]:
    """The forbidden names that pieces of code import: (["from a.b import c"], ["a.b.c"]) -> ("a.b.c",).

    The pieces are cells of one notebook: what one imports, the next may use. A name `p.q.f` is also reached when `f` is
    taken from any other module of the package `p` (packages re-export).
    """
    if not forbidden:
        return ()
    body = [statement for source in sources for statement in parse(source).body]
    reached = list(_reached(ast.Module(body=body, type_ignores=[]), frozenset(forbidden)))
    return tuple(name for name in forbidden if any(_touches(path, whole, name) for path, whole in reached))


def _touches(path: str, whole: bool, name: str) -> bool:
    """Whether a dotted path that code reaches touches a name. `whole`: everything in the module came with it."""
    parts = name.split(".")
    steps = path.split(".")
    if path == name or path.startswith(name + "."):
        return True
    if steps[0] != parts[0]:
        return False
    if len(parts) > 1 and parts[-1] in steps[1:]:
        return True
    holder = parts[:-1]
    return whole and len(steps) > 1 and (steps == holder or (holder[: len(steps)] == steps))


def _reached(tree: ast.Module, forbidden: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Dotted paths that the code imports or walks to by attributes, each with whether a whole module comes.

    Of paths put together from texts, those that could end at a forbidden name.
    """
    aliases: dict[str, str] = {}
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, True
                if alias.asname:
                    aliases[alias.asname] = alias.name
                else:
                    aliases[alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name == "*":
                    yield node.module, True
                else:
                    path = f"{node.module}.{alias.name}"
                    yield path, False
                    aliases[alias.asname or alias.name] = path
    words = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    spoken = words | {alias.split(".")[-1] for alias in aliases.values()}
    if spoken & LOADERS:
        texts = {n.value.strip() for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        roots = {name.split(".")[0] for name in forbidden}
        steps = {step for name in forbidden for step in name.split(".")}
        ends = [end for end in sorted(texts | words) if steps & set(end.split("."))]
        for text in sorted(texts):
            if text.split(".")[0] in roots:
                yield text, True
                yield from ((f"{text}.{end}", False) for end in ends)
            if spoken & {"exec", "eval"} and "import" in text:
                yield from _reached(parse(text), forbidden)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            path = _dotted(node, aliases)
            if path:
                yield path, False
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            name = node.args[1] if len(node.args) > 1 else None
            path = _dotted(node.args[0], aliases) if isinstance(name, ast.Constant) else ""
            if path and isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield f"{path}.{name.value}", False


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    """The dotted path an expression names, if it starts at an import: f.g with `import a.b as f` -> "a.b.g"."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in aliases:
        return ".".join([aliases[node.id], *reversed(parts)])
    return ""
