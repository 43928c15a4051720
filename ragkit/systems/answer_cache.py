"""An exact answer cache: the same question, asked of the same system by the same user, is answered from memory.

Ordinary memoisation with what a RAG answer needs besides: its key holds everything that could change the answer (model,
prompt version, corpus version, user), it expires, and it is dropped when a passage it was made from changes. The clock
comes in as a callable, so tests move time by hand. Left out: a shared store, and single-flight (two callers who miss at
once both ask the model).
"""

from __future__ import annotations

import time
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """All but the question that decides an answer; ``user`` is the tenant or person, "" for answers that are public."""

    model: str
    prompt_version: str
    corpus_version: str
    user: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored answer, the ids of passages and documents it was made from, and the time at which it dies."""

    answer: str
    sources: frozenset[str]
    expires: float


def normal_form(query: str) -> str:
    """What counts as the same question: case, width of characters, white space and final marks aside.

    Words, numbers and their order stay: two orders' codes never meet.

    >>> normal_form("  Where is order  ORD-482913 ?"), normal_form("where is order ord-482913")
    ('where is order ord-482913', 'where is order ord-482913')
    """
    text = unicodedata.normalize("NFKC", query).casefold()
    return " ".join(text.split()).rstrip("?!. ")


class AnswerCache:
    """Answers by question and `Scope`.

    ``ttl`` is in seconds of ``clock``; an entry is dead from ``ttl`` on. At most ``max_entries`` are kept, the least
    recently used goes first. ``stats`` counts ``hit``, ``miss``, ``expired`` (also a miss), ``evicted`` and
    ``invalidated``.
    """

    def __init__(
        self, ttl: float = 3600.0, clock: Callable[[], float] = time.monotonic, max_entries: int = 10_000
    ) -> None:
        if not ttl > 0:
            raise ValueError(f"ttl must be above 0 seconds, got {ttl!r}")
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, got {max_entries}")
        self.ttl, self.clock, self.max_entries = ttl, clock, max_entries
        self.stats: Counter[str] = Counter()
        self._entries: OrderedDict[tuple[str, Scope], Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, query: str, answer: str, scope: Scope, sources: Collection[str] = ()) -> None:
        """Store an answer with the ids of the passages, and of their documents, it rests on.

        A blank query is not stored. ``sources`` is a collection of ids; one string is refused, being a collection of
        letters.
        """
        if isinstance(sources, str):
            raise ValueError(f"sources must be a collection of ids, got the string {sources!r}")
        form = normal_form(query)
        if not form:
            return
        self._entries[form, scope] = Entry(answer, frozenset(sources), self.clock() + self.ttl)
        self._entries.move_to_end((form, scope))
        if len(self._entries) > self.max_entries:
            self._entries.popitem(last=False)
            self.stats["evicted"] += 1

    def get(self, query: str, scope: Scope) -> str | None:
        """The live answer to this question in this scope, or None."""
        key = (normal_form(query), scope)
        entry = self._entries.get(key)
        if entry is not None and self.clock() >= entry.expires:
            del self._entries[key]
            self.stats["expired"] += 1
            entry = None
        self.stats["miss" if entry is None else "hit"] += 1
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry.answer

    def invalidate(self, source: str) -> int:
        """Drop every answer that rests on ``source``, in every scope; returns how many there were.

        Call it with the id of a passage or document that was changed or deleted. A *new* document that would have
        changed an answer is named by no stored one: for that, raise the corpus version of the scope.
        """
        stale = [key for key, entry in self._entries.items() if source in entry.sources]
        for key in stale:
            del self._entries[key]
        self.stats["invalidated"] += len(stale)
        return len(stale)
