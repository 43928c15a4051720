"""The smallest entity graph: names that share a passage, and its connected components.

Co-occurrence needs no model: two names are linked as often as passages hold both. Communities are then the
connected components of the links that are strong enough (the idea of GraphRAG, Edge et al., 2024, section 2,
without extraction and without modularity). Left out: names that differ by spelling (see ``merge``) and splitting
a component that is too large (see ``communities`` in the module of that name).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations


def entity_graph(chunk_entities: Sequence[Sequence[str]]) -> dict[tuple[str, str], int]:
    """Count, for each pair of names, the chunks that hold both.

    ``chunk_entities`` has one list of names a chunk; names are compared as plain strings. The key of a pair is
    ``(a, b)`` with ``a < b``, the value at least 1. A name repeated inside a chunk counts once there, so no name
    is linked to itself. No chunks, or chunks of one name each, give ``{}``.

    >>> entity_graph([["Aster", "Riverside"], ["Riverside", "Aster", "Aster"], ["Aster"]])
    {('Aster', 'Riverside'): 2}
    """
    counts: Counter[tuple[str, str]] = Counter()
    for names in chunk_entities:
        counts.update(combinations(sorted(set(names)), 2))
    return dict(counts)


def communities(edges: Mapping[tuple[str, str], float], min_weight: float) -> list[list[str]]:
    """Connected components of the edges whose weight is at least ``min_weight``.

    Each component is a sorted list; most members first, ties by the smallest first member. A name without such
    an edge is in no component. ``edges`` is left as it was.

    >>> communities({("a", "b"): 2, ("b", "c"): 1, ("x", "y"): 3}, min_weight=2)
    [['a', 'b'], ['x', 'y']]
    """
    neighbours: defaultdict[str, list[str]] = defaultdict(list)
    for (a, b), weight in edges.items():
        if weight >= min_weight:
            neighbours[a].append(b)
            neighbours[b].append(a)
    seen: set[str] = set()
    found: list[list[str]] = []
    for start in neighbours:
        if start in seen:
            continue
        seen.add(start)
        members = [start]
        for name in members:  # the list grows while it is walked: breadth first, with no recursion limit to meet
            for other in neighbours[name]:
                if other not in seen:
                    seen.add(other)
                    members.append(other)
        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members[0]))
