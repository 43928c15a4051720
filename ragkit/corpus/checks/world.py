"""Promises of ``WORLD.md``: its chains of entities lead through the passages one way only.

Two neighbours of a chain stand together in exactly one passage of the index, entities further apart in none, and no
passage of the outside collection joins any two. A multi-hop question walks along one of the chains, from its anchor
over its answer, and its gold passages are the links in their order. Each link is the only one of its kind, so taking
any one gold passage out leaves two entities that nothing joins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path

from ragkit.corpus.checks.faults import Fault, Minimums
from ragkit.corpus.checks.matching import holds, naming
from ragkit.corpus.records import Corpus, Question

FILE = "WORLD.md"


def world_faults(corpus: Corpus, least: Minimums) -> Iterator[Fault]:
    """Faults of the chains, and of the multi-hop questions that follow none; a folder may do without the file."""
    path = corpus.root / FILE
    chains = read_chains(path) if path.exists() else []
    if len(chains) < least.chains:
        yield Fault("size", FILE, f"has {len(chains)} chains, needs {least.chains}")
    if not chains:
        return
    names = sorted({name for chain in chains for name in chain})
    inside, outside = naming(corpus.index, names), naming(corpus.outside, names)
    for chain in chains:
        yield from _chain_faults(chain, inside, outside)
    for question in corpus.select("multi_hop"):
        if question.chain and not any(follows(question, chain, inside) for chain in chains):
            message = (
                f"its passages are not the only links from {question.anchor!r} over the answer on a chain in {FILE}"
            )
            yield Fault("chain-gap", question.id, message)


def read_chains(path: Path) -> list[tuple[str, ...]]:
    """The numbered lines under ``## Chains``, each a list of names divided by commas."""
    _, _, section = path.read_text(encoding="utf-8").partition("\n## Chains\n")
    lines = re.findall(r"^\d+\. (.+)$", section.partition("\n## ")[0], re.MULTILINE)
    return [tuple(name.strip() for name in line.split(",")) for line in lines]


def follows(question: Question, chain: Sequence[str], where: Mapping[str, frozenset[str]]) -> bool:
    """Whether the question's passages are the only links of a run of the chain that begins at its anchor.

    The answer is a name of the run. It need not be the last one: "which of them was floated" ends one hop further on.
    """
    wanted = [frozenset([passage_id]) for passage_id in question.chain]
    links = [where[here] & where[there] for here, there in pairwise(chain)]
    for start, name in enumerate(chain):
        run = chain[start + 1 : start + 1 + len(wanted)]
        if links[start : start + len(wanted)] == wanted and _alike(name, question.anchor):
            return any(_alike(name, answer) for name in run for answer in question.answers)
    return False


def _chain_faults(
    chain: Sequence[str], inside: Mapping[str, frozenset[str]], outside: Mapping[str, frozenset[str]]
) -> Iterator[Fault]:
    for (i, here), (j, there) in combinations(enumerate(chain), 2):
        where, both = f"{here} and {there}", sorted(inside[here] & inside[there])
        if j == i + 1 and len(both) != 1:
            yield Fault("world-link", where, f"must stand together in one passage, do in {', '.join(both) or 'none'}")
        elif j > i + 1 and both:
            yield Fault("world-shortcut", where, f"must not stand together, do in {', '.join(both)}")
        for passage_id in sorted(outside[here] & outside[there]):
            yield Fault("outside-shortcut", passage_id, f"joins {where} of one chain")


def _alike(name: str, other: str) -> bool:
    """Whether one of two names holds the words of the other: "Wren" and "Wren radio"."""
    return holds(name, other) or holds(other, name)
