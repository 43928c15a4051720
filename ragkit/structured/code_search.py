"""Searching a package of Python code: found by the embedded text, returned as it stands in the file.

The index holds for each chunk the text that is good to search (names in words, docstrings, code without comments) and
hands over the text that is good to read. A file that cannot be read or parsed is reported: an ``except: continue`` over
files hides what was not indexed, and nobody asks about what they do not know is missing.

Left out: a graph of calls and imports, and models trained on code (MiniLM has read little of it).
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragkit.base import Hit, Passage, check_k, check_unique
from ragkit.index.parents import Indexer
from ragkit.structured.code_chunks import MAX_LINES, CodeChunk, code_chunks


@dataclass(frozen=True)
class CodeFiles:
    """Chunks of all files, in the order of their paths, and a fault for each file that has none."""

    chunks: list[CodeChunk] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a file below ``root``, whose own name comes first; a package is called as its folder.

    >>> module_name(Path("src/ragkit/search/bm25.py"), Path("src/ragkit"))
    'ragkit.search.bm25'
    >>> module_name(Path("src/ragkit/search/__init__.py"), Path("src/ragkit"))
    'ragkit.search'
    """
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_source(path: Path) -> str:
    """The text of a Python file by its own declared encoding, its line endings as they are."""
    data = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode("utf-8" if encoding == "utf-8-sig" else encoding)


def package_chunks(folder: str | Path, max_lines: int = MAX_LINES, skip: Iterable[str] = ("__pycache__",)) -> CodeFiles:
    """The chunks of every ``*.py`` below a folder; names begin with the folder's. ``skip`` names folders to pass by.

    A folder that does not exist is a ``ValueError``; one without Python files gives no chunks.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise ValueError(f"folder does not exist: {root}")
    passed, found = set(skip), CodeFiles()
    for path in sorted(root.rglob("*.py")):
        if passed & set(path.relative_to(root).parts):
            continue
        try:
            found.chunks.extend(code_chunks(read_source(path), module_name(path, root), max_lines))
        except (ValueError, SyntaxError, OSError) as error:  # UnicodeDecodeError is a ValueError
            found.faults.append(f"{path.relative_to(root)}: {error}")
    return found


class CodeSearch:
    """A `Retriever` of chunks: ``search(question, k)`` gives ids and stored texts, best first.

    ``index`` makes the search over the embedded texts: ``lambda ps: BM25(ps, tokenize=code_tokens)`` or a dense one.
    No chunks find nothing.
    """

    def __init__(self, chunks: Sequence[CodeChunk], index: Indexer) -> None:
        check_unique([chunk.id for chunk in chunks], "chunks")
        self.chunks = {chunk.id: chunk for chunk in chunks}
        self._search = index([Passage(chunk.id, chunk.embedded) for chunk in chunks])

    def __call__(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` chunks, each with its stored text."""
        return [Hit(hit.id, self.chunks[hit.id].text, hit.score) for hit in self._search(query, k)]

    def names(self, query: str, k: int) -> list[str]:
        """The first ``k`` qualified names: parts of one definition count once, at the place of the best."""
        check_k(k)
        fetch = k
        while True:
            hits = self._search(query, fetch)
            names = list(dict.fromkeys(self.chunks[hit.id].name for hit in hits))
            if len(names) >= k or len(hits) < fetch:
                return names[:k]
            fetch *= 2
