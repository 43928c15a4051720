"""The structure of a stored GraphRAG index of *A Christmas Carol*, and our communities on the same graph.

    python benchmarks/graphrag_index.py [DATA]

DATA holds ``graphrag_christmas_carol/`` (by default the environment variable RAGKIT_DATA, else ``../shared/data``
beside the checkout). The stored partition reaches its modularity of 0.659 on the weights that its indexer clustered:
where a pair is listed in both directions, the last row's weight only. On summed weights it is lower, so both are
printed, and each of our rows is measured on the weights that it was given.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pandas as pd

from ragkit.graph.communities import Community, Weights, cover, hierarchy, leiden, louvain, modularity

DEFAULT = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")


def stored_communities(communities: pd.DataFrame, title: dict[str, str]) -> list[Community]:
    columns = zip(communities.community, communities.level, communities.parent, communities.entity_ids, strict=True)
    return [Community(c, level, parent, tuple(sorted(title[i] for i in ids))) for c, level, parent, ids in columns]


def pair_weights(relations: pd.DataFrame, inside: set[str]) -> tuple[dict[tuple[str, str], float], Weights]:
    """Weights by pair among ``inside``, once with the last row of a pair and once summed."""
    last: dict[tuple[str, str], float] = {}
    summed: dict[tuple[str, str], float] = {}
    for a, b, weight in zip(relations.source, relations.target, relations.weight, strict=True):
        if {a, b} <= inside:
            pair = (min(a, b), max(a, b))
            last[pair] = weight
            summed[pair] = summed.get(pair, 0.0) + weight
    return last, summed


def levels(name: str, communities: list[Community]) -> None:
    print(f"{name}: level, communities, entities in them, entities after the roll-up")
    for level in range(max(c.level for c in communities) + 1):
        here = [c for c in communities if c.level == level]
        members = {m for c in here for m in c.members}
        print(f"  {level}  {len(here):4}  {len(members):4}  {len(cover(communities, level)):4}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    folder = parser.parse_args().data / "graphrag_christmas_carol"
    if not folder.is_dir():
        print(f"{folder} is not there: give the folder that holds graphrag_christmas_carol/, or set RAGKIT_DATA")
        return 2
    names = ("entities", "relationships", "communities")
    entities, relations, communities = (pd.read_parquet(folder / f"{name}.parquet") for name in names)
    title = dict(zip(entities.id, entities.title, strict=True))
    stored = stored_communities(communities, title)
    ends = {*relations.source, *relations.target}
    print(f"{len(entities)} entities, {len(relations)} relationships, {len(stored)} communities")
    print(f"{len(ends - set(entities.title))} names at relationship ends are not in the entity table")
    levels("stored", stored)

    inside = {m for c in stored if c.level == 0 for m in c.members}
    parts = [c.members for c in stored if c.level == 0]
    last, summed = pair_weights(relations, inside)
    print(f"{len(summed)} pairs among the {len(inside)} entities of level 0; modularity by the weights of a pair:")
    print(f"  {'':22} last row   summed   communities")
    values = modularity(last, parts, inside), modularity(summed, parts, inside)
    print(f"  {'stored, level 0':22} {values[0]:8.3f} {values[1]:8.3f}   {len(parts)}")
    for name, method in (("Louvain", louvain), ("Leiden", leiden)):
        on_last, on_summed = method(last, inside), method(summed, inside)
        values = modularity(last, on_last, inside), modularity(summed, on_summed, inside)
        print(f"  {name:22} {values[0]:8.3f} {values[1]:8.3f}   {len(on_last)}, {len(on_summed)}")

    _, everything = pair_weights(relations, ends)
    ours = hierarchy(everything, entities.title)
    levels("ours, all components and the dangling ends as nodes, summed weights", ours)
    top = [c.members for c in ours if c.level == 0]
    print(f"  modularity of level 0: {modularity(everything, top, entities.title):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
