"""The summary tree over the company's passages: its clusters, kept in a file, and one prompt a cluster.

The members of a cluster decide its prompt, and a mixture model's answer may differ between versions of a library. So
the clusters were found once and lie in ``raptor_clusters.toml``. ``python -m ragkit.recorded.raptor`` finds them anew
and prints how far they agree; ``--write`` replaces a layer of the file. The second layer stands on the hand answers to
the first, whoever is asked. Left out: the support tickets, two thousand leaves that are not worth a call.
"""

from __future__ import annotations

import argparse
import random
import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from ragkit import corpus
from ragkit.base import LLM, Passage
from ragkit.index import Raptor
from ragkit.index.raptor import cluster_prompt
from ragkit.index.raptor_clusters import clusters
from ragkit.models import Recording, embedder
from ragkit.models.recording_tasks import Settings
from ragkit.search import Dense
from ragkit.text import count_tokens

WORDS = 100
"""Words that a summary may have, the default of ``Raptor``."""
TOKEN_LIMIT = 1_500
"""Tokens that one summary may stand for. With the authors' 3,500, a hundred words would have to hold forty passages."""
MAX_COMPONENTS = 20
"""Components that BIC may choose from, for time: the authors allow fifty. It never takes more than 16 here."""
FILE = Path(__file__).with_name("raptor_clusters.toml")
SAMPLE = 25
"""Clusters of the first layer that the small model summarises."""


def memberships() -> list[list[list[str]]]:
    """The kept clusters, layer by layer, as ids of the layer below."""
    return [layer["clusters"] for layer in tomllib.loads(FILE.read_text(encoding="utf-8"))["layer"]]


def tree(llm: LLM | None = None, passages: Sequence[Passage] | None = None) -> Raptor:
    """The tree of the kept clusters, its summaries by ``llm``, by default those written by hand.

    Leaves are the company's passages, or ``passages``: what is in no cluster is then a leaf without a parent.
    """
    leaves = corpus.load().passages if passages is None else passages
    return Raptor(leaves, embedder(), llm or Recording("raptor"), words=WORDS, groups=memberships())


def texts(layer: int) -> dict[str, str]:
    """Id -> text of a layer's nodes: passages with their titles, above them the hand-written summaries."""
    if layer == 0:
        return {passage.id: passage.full_text for passage in corpus.load().passages}
    answers = Recording("raptor")
    return {item: " ".join(answers(prompt).split()) for item, prompt in layer_prompts(layer)}


def layer_prompts(layer: int) -> Iterator[tuple[str, str]]:
    """Id and prompt of every summary of a layer, as ``Raptor`` asks for it."""
    below = texts(layer - 1)
    for number, members in enumerate(memberships()[layer - 1]):
        yield f"raptor-{layer}-{number}", cluster_prompt([below[an_id] for an_id in members], WORDS)


def prompts() -> Iterator[tuple[str, str]]:
    """Every prompt of the tree, layer by layer."""
    for layer in range(1, len(memberships()) + 1):
        yield from layer_prompts(layer)


def sample(n: int = SAMPLE, seed: int = 0) -> Iterator[tuple[str, str]]:
    """The prompts of ``n`` clusters of the first layer, drawn by ``seed``: enough to set two writers side by side."""
    first = list(layer_prompts(1))
    yield from (first[i] for i in sorted(random.Random(seed).sample(range(len(first)), n)))


def found_anew(layer: int) -> list[list[str]]:
    """The clusters that the code finds today in the nodes below ``layer``, as ids."""
    below = texts(layer - 1)
    vectors = Dense([Passage(an_id, text) for an_id, text in below.items()], embedder()).vectors
    lengths = [count_tokens(text) for text in below.values()]
    found = clusters(vectors, lengths, token_limit=TOKEN_LIMIT, max_components=MAX_COMPONENTS)
    names = list(below)
    return [[names[i] for i in members] for members in found]


def write(layers: Sequence[Sequence[Sequence[str]]]) -> None:
    """Replace the file."""
    import tomli_w

    head = "# Which nodes each summary stands for. Made by: python -m ragkit.recorded.raptor --write LAYER\n"
    rows = {"date": date.today(), "layer": [{"clusters": layer} for layer in layers]}
    FILE.write_text(head + tomli_w.dumps(rows), encoding="utf-8", newline="\n")


def main() -> None:
    """Compare the kept clusters with today's, or replace a layer and drop those above it."""
    parser = argparse.ArgumentParser(prog="python -m ragkit.recorded.raptor", description="The tree's clusters.")
    parser.add_argument("--write", type=int, metavar="LAYER", help="replace this layer of the file")
    chosen = parser.parse_args().write
    if chosen:
        write([*(memberships() if chosen > 1 else [])[: chosen - 1], found_anew(chosen)])
    for layer, kept in enumerate(memberships(), start=1):
        today = found_anew(layer)
        same = len({tuple(c) for c in kept} & {tuple(c) for c in today})
        print(f"layer {layer}: {len(kept)} clusters kept, {len(today)} today, {same} the same")


TASKS = {"raptor": prompts, "raptor_sample": sample}

SETTINGS = dict.fromkeys(TASKS, Settings(max_tokens=150))


if __name__ == "__main__":
    main()
