"""Contextual chunks under a stream of documents: one arrives, changes, is deleted, and the index keeps up.

The indexing step of contextual retrieval (Anthropic, 2024) made incremental. The model call sits on the write path: a
document is searchable only when its chunks have contexts, unless one indexes the bare chunks first and fills contexts
in later; ``put`` does either. What is written again follows from content hashes: a chunk whose text is known in its
document keeps its context, so a change costs as many calls as there are new chunk texts.

What hashes cannot see is written down: a kept context was made from the *older* document, and may now name the wrong
year. Such chunks are ``stale`` until ``refresh``. And each change of a document costs a cache write, since its prefix
is new. Left out: the index itself (build it from ``contextualised()`` or apply a ``Change``), and persistence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ragkit.base import LLM, Passage
from ragkit.index.contextual import context_prompt, contextualised, read_context
from ragkit.text import content_hash


@dataclass(frozen=True, slots=True)
class Change:
    """What one operation did to one document, by chunk ids, each list in the document's order.

    ``kind`` is "added", "changed", "unchanged", "deleted", "unknown" (deleted, but never seen) or "refreshed".
    ``index`` are the chunks to (re)index, ``remove`` those to take out, ``stale`` those that keep a context of an
    older version, ``pending`` those without a context yet. ``calls`` counts calls to the model.
    """

    doc: str
    kind: str
    index: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    calls: int = 0


@dataclass
class _Document:
    source: Passage
    version: str  # hash of the text: what contexts were written from
    chunks: list[Passage]
    # chunk text's hash -> (context, hash of the document it was written from)
    contexts: dict[str, tuple[str, str]] = field(default_factory=dict)


def paragraphs(text: str) -> list[str]:
    """Pieces between blank lines. Their edges lie in the content, so an insertion moves none of the others.

    A splitter that packs sentences up to a budget has no such edges: one new sentence at the head can move every
    boundary behind it, and then every chunk is new.

    >>> paragraphs("Fill it.\\n\\nBoil it.\\nPour it.\\n")
    ['Fill it.', 'Boil it.\\nPour it.']
    """
    return [piece.strip() for piece in re.split(r"\n\s*\n", text) if piece.strip()]


class StreamingContexts:
    """Chunks of a changing collection with their contexts. Operations are atomic: if the model fails, nothing changed.

    Chunk ids are ``<document>#<12 digits of the text's hash>``, so an unchanged chunk keeps its id wherever it moves;
    a text repeated inside a document has ``-1``, ``-2`` … behind it and shares the context, for one call: its prompt
    is the same.
    """

    def __init__(self, llm: LLM, split: Callable[[str], list[str]] = paragraphs) -> None:
        self.llm, self.split = llm, split
        self._documents: dict[str, _Document] = {}

    def put(self, document: Passage, wait: bool = True) -> Change:
        """Add a document or replace it. With ``wait=False`` no call is made: new chunks are pending until ``refresh``.

        The same document again changes nothing and costs nothing, but for chunks still pending. A blank document is
        kept, without chunks.
        """
        old = self._documents.get(document.id)
        new = _Document(document, content_hash(document.text), self._chunks(document))
        known = old.contexts if old else {}
        new.contexts = {h: known[h] for h in map(_hash, new.chunks) if h in known}
        due = {h for h in map(_hash, new.chunks) if h not in known} if wait else set()
        self._fill(new, due)
        self._documents[document.id] = new
        before = {c.id: c for c in old.chunks} if old else {}
        touched = [c.id for c in new.chunks if before.get(c.id) != c or _hash(c) in due]
        removed = [an_id for an_id in before if an_id not in {c.id for c in new.chunks}]
        kind = "added" if old is None else "unchanged" if old.source == document else "changed"
        return self._change(document.id, kind, touched, removed, len(due))

    def delete(self, doc: str) -> Change:
        """Take a document out; one that is not there is no error (``kind`` "unknown"): streams repeat themselves."""
        old = self._documents.pop(doc, None)
        return Change(doc, "deleted", remove=tuple(c.id for c in old.chunks)) if old else Change(doc, "unknown")

    def refresh(self, doc: str) -> Change:
        """Write the pending and the stale contexts of a document anew, from its present text."""
        if doc not in self._documents:
            raise ValueError(f"doc {doc!r} is not in the collection")
        old = self._documents[doc]
        new = _Document(old.source, old.version, old.chunks, dict(old.contexts))
        due = {h for h in map(_hash, old.chunks) if old.contexts.get(h, ("", ""))[1] != old.version}
        self._fill(new, due)
        self._documents[doc] = new
        return self._change(doc, "refreshed", [c.id for c in old.chunks if _hash(c) in due], calls=len(due))

    @property
    def documents(self) -> list[str]:
        """Ids in order of first arrival."""
        return list(self._documents)

    def chunks(self) -> list[Passage]:
        """The original chunks of all documents, in order."""
        return [chunk for document in self._documents.values() for chunk in document.chunks]

    def contexts(self) -> dict[str, str]:
        """Chunk id -> context; pending chunks, and those whose reply was empty, have none."""
        found = {c.id: d.contexts.get(_hash(c), ("", ""))[0] for d in self._documents.values() for c in d.chunks}
        return {an_id: context for an_id, context in found.items() if context}

    def contextualised(self) -> list[Passage]:
        """What an index is built from."""
        return contextualised(self.chunks(), self.contexts())

    def _chunks(self, document: Passage) -> list[Passage]:
        seen: Counter[str] = Counter()
        chunks = []
        for text in self.split(document.text):
            number = seen[text]
            seen[text] += 1
            an_id = f"{document.id}#{content_hash(text)[:12]}" + (f"-{number}" if number else "")
            chunks.append(Passage(an_id, text, document.title, {**document.meta, "doc": document.id}))
        return chunks

    def _fill(self, document: _Document, due: set[str]) -> None:
        text = {_hash(c): c.text for c in document.chunks}  # in the document's order
        for h in (h for h in text if h in due):
            reply = self.llm(context_prompt(document.source.text, text[h]))
            document.contexts[h] = (read_context(reply), document.version)

    def _change(
        self, doc: str, kind: str, index: list[str] | None = None, remove: list[str] | None = None, calls: int = 0
    ) -> Change:
        d = self._documents[doc]
        written = {c.id: d.contexts.get(_hash(c)) for c in d.chunks}
        stale = tuple(i for i, found in written.items() if found and found[1] != d.version)
        pending = tuple(i for i, found in written.items() if found is None)
        return Change(doc, kind, tuple(index or ()), tuple(remove or ()), stale, pending, calls)


def _hash(chunk: Passage) -> str:
    return content_hash(chunk.text)
