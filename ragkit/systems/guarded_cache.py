"""A semantic cache that asks twice: the vectors must be close, and the texts must agree in what decides the answer.

Gate one is the cosine of ``semantic_cache.py``, gate two the rules of ``cache_gate.py``. Questions that hold an
identifier are neither stored nor served: each is a question of its own. Entries live in a scope (model, prompt version,
corpus version, user), expire, and are dropped when a source changes. Left out: eviction and approximate search.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragkit.base import Embedder
from ragkit.systems.answer_cache import Scope
from ragkit.systems.cache_gate import difference, holds_identifier
from ragkit.systems.rows import Rows
from ragkit.systems.semantic_cache import TIE, SemanticCache, unit


@dataclass(frozen=True, slots=True)
class Stored:
    """One answered question of a scope."""

    question: str
    answer: str
    sources: frozenset[str]
    expires: float


class Shelf:
    """The entries of one scope, oldest first, and their vectors as the rows of one matrix."""

    def __init__(self) -> None:
        self.entries: list[Stored] = []
        self.vectors = Rows()
        self.soonest = math.inf  # nothing expires before: a lookup need not go through all entries to find out

    def add(self, entry: Stored, vector: NDArray[np.float64]) -> None:
        self.entries.append(entry)
        self.vectors.append(vector)
        self.soonest = min(self.soonest, entry.expires)

    def keep(self, wanted: Callable[[Stored], bool]) -> int:
        """Drop the entries that are not ``wanted``; returns how many."""
        kept = [position for position, entry in enumerate(self.entries) if wanted(entry)]
        dropped = len(self.entries) - len(kept)
        if dropped:
            self.entries = [self.entries[position] for position in kept]
            self.vectors.keep(kept)
            self.soonest = min((entry.expires for entry in self.entries), default=math.inf)
        return dropped


def nearest_first(cosines: NDArray[np.float64], threshold: float) -> Iterator[int]:
    """Positions of the cosines that reach the threshold, highest first; among equal ones the last position first.

    >>> list(nearest_first(np.array([0.9, 0.5, 0.9, 0.95]), 0.8))
    [3, 2, 0]
    """
    left = cosines.copy()
    while len(left) and left.max() >= threshold - TIE:
        position = int(np.flatnonzero(left >= left.max() - TIE)[-1])
        left[position] = -np.inf
        yield position


class GuardedSemanticCache:
    """Answers by question and `Scope`, behind both gates.

    ``embed`` gives the vectors, ``threshold`` in [-1, 1] is the first gate, ``names`` are further words that count as
    names (products, colours, stores; any case), ``ttl`` seconds of ``clock`` the life of an entry. ``stats`` counts
    ``hit``, ``miss``, ``identifier`` (refused, also a miss), ``guard:<reason>`` for every near entry that the second
    gate refused, ``expired``, ``invalidated`` and ``false_hit`` (see `report_false_hit`).
    """

    def __init__(
        self,
        threshold: float,
        embed: Embedder,
        names: Iterable[str] = (),
        ttl: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not -1 <= threshold <= 1:
            raise ValueError(f"threshold must lie in [-1, 1], got {threshold!r}")
        if not ttl > 0:
            raise ValueError(f"ttl must be above 0 seconds, got {ttl!r}")
        self.threshold, self.embed, self.ttl, self.clock = threshold, embed, ttl, clock
        self.names = frozenset(word for name in names for word in name.lower().split())
        self.stats: Counter[str] = Counter()
        self._shelves: defaultdict[Scope, Shelf] = defaultdict(Shelf)

    def put(self, question: str, answer: str, scope: Scope, sources: Collection[str] = ()) -> bool:
        """Store an answer; False, and nothing stored, for a blank question and one that holds an identifier."""
        if isinstance(sources, str):
            raise ValueError(f"sources must be a collection of ids, got the string {sources!r}")
        if not question.strip() or holds_identifier(question):
            return False
        vector = unit(self.embed([question])[0])
        if not vector.any():
            return False
        entry = Stored(question, answer, frozenset(sources), self.clock() + self.ttl)
        self._shelves[scope].add(entry, vector)
        return True

    def get(self, question: str, scope: Scope) -> str | None:
        """The answer of the nearest stored question that passes both gates; the latest put among equally near ones."""
        if holds_identifier(question):
            self.stats["identifier"] += 1
        entry = self._lookup(question, scope)
        self.stats["hit" if entry else "miss"] += 1
        return entry.answer if entry else None

    def _lookup(self, question: str, scope: Scope) -> Stored | None:
        if not question.strip() or holds_identifier(question) or scope not in self._shelves:
            return None
        shelf, now = self._shelves[scope], self.clock()
        if now >= shelf.soonest:
            self._keep(scope, lambda entry: now < entry.expires, "expired")
        vector = unit(self.embed([question])[0])
        if not shelf.entries or not vector.any():
            return None
        # Not only the nearest: where that one is refused, a farther one may be the true match.
        for position in nearest_first(shelf.vectors.matrix @ vector, self.threshold):
            entry = shelf.entries[position]
            reason = difference(question, entry.question, self.names)
            if not reason:
                return entry
            self.stats[f"guard:{reason}"] += 1
        return None

    def invalidate(self, source: str) -> int:
        """Drop every answer, in every scope, that rests on the passage or document ``source``; returns how many."""
        return sum(self._keep(scope, lambda e: source not in e.sources, "invalidated") for scope in self._shelves)

    def report_false_hit(self, question: str, scope: Scope) -> bool:
        """A user says that the answer served for ``question`` belongs to another one: drop that entry and count it."""
        entry = self._lookup(question, scope)
        return entry is not None and self._keep(scope, lambda stored: stored is not entry, "false_hit") > 0

    def _keep(self, scope: Scope, wanted: Callable[[Stored], bool], reason: str) -> int:
        dropped = self._shelves[scope].keep(wanted)
        self.stats[reason] += dropped
        return dropped


class CacheReport(NamedTuple):
    """Outcomes over labelled pairs: right answers served, wrong ones served, right ones missed, wrong ones refused."""

    hits: int
    false_hits: int
    missed: int
    refused: int


def audit(
    pairs: Iterable[tuple[str, str, bool]],
    threshold: float,
    embed: Embedder,
    guard: bool = True,
    names: Iterable[str] = (),
) -> CacheReport:
    """What a cache does with pairs ``(stored question, asked question, whether one answer serves both)``.

    ``guard=False`` measures the plain `SemanticCache`. Every pair gets a cache of its own, so the report is about the
    gates and not about the order of the pairs.
    """
    counts: Counter[tuple[bool, bool]] = Counter()
    scope, names = Scope("audit", "1", "1"), list(names)
    for stored, asked, same in pairs:
        if guard:
            guarded = GuardedSemanticCache(threshold, embed, names)
            guarded.put(stored, "answer", scope)
            served = guarded.get(asked, scope) is not None
        else:
            plain = SemanticCache(threshold)
            vectors = embed([stored, asked])
            plain.put(vectors[0], "answer")
            served = plain.get(vectors[1]) is not None
        counts[served, bool(same)] += 1
    return CacheReport(counts[True, True], counts[True, False], counts[False, True], counts[False, False])
