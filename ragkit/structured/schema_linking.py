"""Schema linking by retrieval: the tables of a large schema that a question needs, and no others, for the prompt.

A table is found as a passage is: by its name, its columns, its description and its sample values, which is retrieval of
a part of the schema before a query is written, as in CRUSH (Kothyari et al., EMNLP 2023). Then the keys speak. A table
that only joins two others ("which store sells what") is named by no question, so where two retrieved tables are not
connected by keys, the tables on the shortest chain of keys between them come in too.

The measure is the recall of the tables that the gold query reads, at k. A query that lacks one table cannot be written,
so the share of questions with *all* of them counts more than the mean; what the bridges add to the prompt is the price.
Left out: columns one by one, and a model that names tables (RAT-SQL, Wang et al., ACL 2020, trains one).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ragkit.base import check_k
from ragkit.index.parents import Indexer
from ragkit.metrics import all_recall_at_k, recall_at_k
from ragkit.structured.schema import Schema
from ragkit.structured.schema_text import PARTS, table_passages


@dataclass(frozen=True)
class Linked:
    """``retrieved`` best first, then ``bridges`` that keys brought in, in the order of the pairs they join."""

    retrieved: tuple[str, ...]
    bridges: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """All of them, the retrieved first."""
        return self.retrieved + self.bridges


class SchemaLinker:
    """``linker(question, k)`` gives the ``k`` best tables of ``schema`` and the bridges between them.

    ``index`` makes a search out of passages: `BM25` with ``code_tokens``, or ``lambda ps: Dense(ps, embed)``. ``parts``
    chooses what a table is found by beside its name. ``bridge`` is how many tables a chain of keys may put between two
    retrieved ones, 0 for no bridges. An empty schema and a question that matches nothing link no table.
    """

    def __init__(self, schema: Schema, index: Indexer, bridge: int = 1, parts: Collection[str] = PARTS) -> None:
        if isinstance(bridge, bool) or bridge < 0:
            raise ValueError(f"bridge must be at least 0, got {bridge!r}")
        self.schema, self.bridge = schema, bridge
        self.search = index(table_passages(schema, parts))
        self._keys = key_graph(schema)

    def __call__(self, question: str, k: int) -> Linked:
        check_k(k)
        retrieved = tuple(hit.id for hit in self.search(question, k))
        return Linked(retrieved, bridges(self._keys, retrieved, self.bridge))


def key_graph(schema: Schema) -> dict[str, list[str]]:
    """Table -> the tables that a key joins it to, in either direction, in the order of the schema."""
    joined: dict[str, set[str]] = {table.name: set() for table in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.other in joined and key.other != table.name:
                joined[table.name].add(key.other)
                joined[key.other].add(table.name)
    return {name: [other for other in joined if other in joined[name]] for name in joined}


def bridges(keys: dict[str, list[str]], tables: Sequence[str], most: int = 1) -> tuple[str, ...]:
    """The tables that connect ``tables``: for every pair that keys do not connect yet, those on the shortest chain.

    Pairs are taken by rank: (1, 2), (1, 3), (2, 3), (1, 4) ... A chain with more than ``most`` tables in between is
    not taken, nor is one needed where the pair is connected through tables that are there already. Among equally short
    chains the one through tables that come first in the schema wins.

    >>> bridges({"stores": ["range"], "products": ["range"], "range": ["stores", "products"]}, ["stores", "products"])
    ('range',)
    """
    present = list(dict.fromkeys(tables))
    added: list[str] = []
    for second in range(1, len(present)):
        for first in range(second):
            one, other = present[first], present[second]
            here = {*present, *added}
            if _chain(keys, one, other, within=here) is not None:
                continue
            chain = _chain(keys, one, other)
            if chain is not None and len(chain) - 2 <= most:
                added += [table for table in chain if table not in here]
    return tuple(added)


def _chain(
    keys: dict[str, list[str]], start: str, goal: str, within: Collection[str] | None = None
) -> list[str] | None:
    """The shortest chain of joined tables from one to another, both ends included, by breadth-first search."""
    before: dict[str, str] = {start: ""}
    waiting = deque([start])
    while waiting:
        table = waiting.popleft()
        if table == goal:
            chain = [table]
            while before[chain[-1]]:
                chain.append(before[chain[-1]])
            return chain[::-1]
        for other in keys.get(table, ()):
            if other not in before and (within is None or other in within):
                before[other] = table
                waiting.append(other)
    return None


@dataclass(frozen=True)
class LinkingScore:
    """One question: share of the gold tables that were linked, whether all were, and how many tables were linked."""

    recall: float
    all_recall: float
    tables: int


def linking_scores(linker: SchemaLinker, cases: Iterable[tuple[str, Collection[str]]], k: int) -> list[LinkingScore]:
    """Scores at ``k`` of ``(question, gold tables)`` pairs; names are compared in whatever case.

    ``k`` counts the retrieved tables; ``tables`` of the score says how many there are with the bridges. Questions
    without a gold table raise a `ValueError`, as recall is undefined for them.
    """
    scores = []
    for question, gold in cases:
        linked = [table.lower() for table in linker(question, k).tables]
        wanted = {table.lower() for table in gold}
        found = len(linked)
        scores.append(
            LinkingScore(recall_at_k(linked, wanted, found), all_recall_at_k(linked, wanted, found), len(linked))
        )
    return scores
