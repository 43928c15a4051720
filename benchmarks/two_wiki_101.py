"""101 questions of 2WikiMultiHopQA: the stored runs of four systems, and ours beside them.

    python benchmarks/two_wiki_101.py [DATA] [--fast] [--lexical] [--maxsim] [--missed]

DATA holds ``two_wiki_101/`` and ``hipporag/`` (by default the environment variable RAGKIT_DATA, else ``../shared/data``
beside the checkout). The measure is the share of questions with *all* gold passages among the first eight, as in the
benchmark of fast-graphrag that the runs come from; a gold passage is one that holds a supporting fact.

The four systems searched the paragraphs of their 101 questions, in order and each once. That is how HippoRAG's pooled
collection of 6,119 passages begins, and no run of dense search leads beyond its first 780. These 780 are the comparable
collection. The 6,119 hold the paragraphs of some 900 questions more and are harder; ours is shown on both. LightRAG's
and nano-graphrag's runs cut titles at a comma or colon, which may cost them hits; "at most" counts a cut title as every
page that begins with it.

Our graph (``ragkit.graph.MentionGraph``) has no triples and asks no model: a passage leads to the pages whose titles it
mentions. Its settings are the defaults: what is in no paper (ten hits, 1 / rank, capitals) was chosen on the 100
questions of MuSiQue, and its rows follow with the same code, as do those of HotpotQA.
It suits Wikipedia, where a page is called by its title; 2Wiki's questions also write the exact titles, so the first hop
is given away: the rows "names only" and "no names" part the two. Embeddings are all-MiniLM-L6-v2 (some minutes on a
CPU, once; the row of dense search has their time, later rows find them in memory).

``--fast`` leaves the variants of the graph out, ``--lexical`` all that needs a model. ``--maxsim`` adds a reranker by
token vectors on the first collection, minutes long. ``--missed`` says what the graph does not find, and why.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hipporag_musique import read as read_musique
from hipporag_musique import remembering

from ragkit.base import Embedder, Passage, Retriever
from ragkit.datasets import read_passages
from ragkit.graph import MentionGraph
from ragkit.metrics import all_recall_at_k, bootstrap_interval, paired_bootstrap, recall_at_k
from ragkit.models import embedder, token_embedder
from ragkit.search import BM25, Dense, LateInteraction, full_texts, fuse_retrievers, rerank
from ragkit.text import LUCENE_STOP_WORDS, tokenize

DEFAULT = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")
SYSTEMS = {
    "vdb": "dense, OpenAI",
    "lightrag_local": "LightRAG, local",
    "nano_graphrag_local": "nano-graphrag, local",
    "fast_graphrag": "fast-graphrag",
}
K = 8
HEADING = f"{'':34} recall@2    @5    @8   all gold@8             build    a question"
# Porter stems and Lucene's stop words: the analysis that goes with k1 0.9 and b 0.4.
lucene = partial(tokenize, stem=True, stop=LUCENE_STOP_WORDS)


class Set(NamedTuple):
    """A collection, its questions, and for each the ids of its gold passages."""

    name: str
    passages: list[Passage]
    questions: list[str]
    gold: list[set[str]]


def read_2wiki(data: Path) -> tuple[list[Passage], list[dict[str, Any]]]:
    """6,119 passages, whose ids are their titles, and the 101 rows with the stored runs."""
    lines = (data / "two_wiki_101" / "2wiki101.jsonl").read_text(encoding="utf-8").splitlines()
    return read_passages(data / "hipporag" / "2wikimultihopqa_corpus.json"), [json.loads(line) for line in lines]


def read_hotpot(data: Path) -> Set:
    """994 passages and 100 questions of HotpotQA, as HippoRAG's repository pools them."""
    rows = json.loads((data / "hipporag" / "hotpotqa_train.json").read_text(encoding="utf-8"))
    passages = read_passages(data / "hipporag" / "hotpotqa_train_corpus.json")
    gold = [{title for title, _ in row["supporting_facts"]} for row in rows]
    return Set("HotpotQA", passages, [row["question"] for row in rows], gold)


def pool(passages: Sequence[Passage], rows: Sequence[Mapping[str, Any]]) -> int:
    """How many passages, from the first on, hold every gold passage and all that the stored dense search found."""
    position = {passage.id: i for i, passage in enumerate(passages)}
    return 1 + max(position[title] for row in rows for title in [*row["gold_titles"], *row["systems"]["vdb"]])


def figures(ranked: Sequence[Sequence[str]], gold: Sequence[set[str]]) -> tuple[str, list[float]]:
    """The columns of a row, and for each question whether all gold is among the first eight."""
    parts = [100 * np.mean([recall_at_k(ids, g, k) for ids, g in zip(ranked, gold, strict=True)]) for k in (2, 5, K)]
    whole = [all_recall_at_k(ids, g, K) for ids, g in zip(ranked, gold, strict=True)]
    found = bootstrap_interval(whole)
    recalls = " ".join(f"{part:5.1f}" for part in parts)
    return f"   {recalls}   {found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]", whole


def show(name: str, cells: str) -> None:
    print(f"{name:34} {cells}", flush=True)


def measured(name: str, build: Callable[[], Any], data: Set) -> tuple[Any, list[float]]:
    """Build a retriever and search with it, and print the row with what both took; per question what it found."""
    start = time.perf_counter()
    search = build()
    built = time.perf_counter() - start
    start = time.perf_counter()
    ranked = [[hit.id for hit in search(question, K)] for question in data.questions]
    spent = 1000 * (time.perf_counter() - start) / len(data.questions)
    cells, whole = figures(ranked, data.gold)
    show(name, f"{cells} {built:6.1f} s {spent:9.1f} ms")
    return search, whole


def stored(rows: Sequence[dict[str, Any]], titles: Sequence[str]) -> list[float]:
    """The four systems, recomputed from their runs; per question what fast-graphrag found."""
    known, gold = set(titles), [set(row["gold_titles"]) for row in rows]
    wholes: dict[str, list[float]] = {}
    for key, name in SYSTEMS.items():
        runs = [row["systems"][key] for row in rows]
        cells, wholes[key] = figures(runs, gold)
        if any(title not in known for run in runs for title in run):
            read = [{t for cut in run for t in ([cut] if cut in known else begun(cut, titles))} for run in runs]
            cells += f"   at most {np.mean([g <= found for g, found in zip(gold, read, strict=True)]):.3f}"
        show(name, cells)
    return wholes["fast_graphrag"]


def begun(cut: str, titles: Sequence[str]) -> list[str]:
    """The titles that begin with a cut one.

    >>> begun("Vera Falk", ["Vera Falk, Painter", "Ida Falk"])
    ['Vera Falk, Painter']
    """
    return [title for title in titles if title.startswith(cut)]


def rows_of(data: Set, embed: Embedder | None, fast: bool, tokens: bool) -> tuple[MentionGraph, list[float]]:
    """Our rows on one collection; the graph from dense search, or else BM25, and per question what it found."""
    bm25, _ = measured("BM25, k1 0.9, b 0.4", lambda: BM25(data.passages, k1=0.9, b=0.4, tokenize=lucene), data)
    firsts: dict[str, Retriever] = {"BM25": bm25}
    if embed is not None:
        firsts["dense"], _ = measured("dense, MiniLM", lambda: Dense(data.passages, embed), data)
        firsts["hybrid"], _ = measured("hybrid, RRF", lambda: fuse_retrievers([bm25, firsts["dense"]]), data)
        if tokens:
            measured("  its first 50 by MaxSim", lambda: by_tokens(firsts["hybrid"], data.passages), data)
    best: tuple[MentionGraph, list[float]] | None = None
    for name, first in firsts.items():
        row = measured(f"mention graph, from {name}", partial(MentionGraph, data.passages, first), data)
        best = row if best is None or name == "dense" else best
    assert best is not None
    first = best[0].first
    for name, changes in ({} if fast else VARIANTS).items():
        measured(name, partial(MentionGraph, data.passages, first, **changes), data)
    return best


def by_tokens(first: Retriever, passages: Sequence[Passage]) -> Retriever:
    late, texts = LateInteraction(token_embedder()), full_texts(passages)
    late.prepare(list(texts.values()))
    return rerank(first, late, 50, texts)


VARIANTS: dict[str, dict[str, Any]] = {
    "  names only": {"name_share": 1.0},
    "  no names": {"name_share": 0.0},
    "  both, 5 hits": {"depth": 5},
    "  both, 20 hits": {"depth": 20},
    "  links walked both ways": {"directed": False},
    "  names without capitals too": {"capitals": False},
    "  restart 0.15": {"restart": 0.15},
    "  restart 0.85": {"restart": 0.85},
}
"""Changes to the graph from dense search (from BM25 with ``--lexical``)."""


def why(graph: MentionGraph, question: str, gold: set[str], lacking: str) -> str:
    """Why a gold passage is not among the first eight."""
    named = {an_id for name in graph.find(question) for an_id in graph.names[name]}
    if lacking in named:
        return "the question names it, and others come before it"
    sources = {a for a, b in graph.links if b == lacking}
    if sources & named:
        return "a passage that the question names mentions its title, and others come before it"
    if sources & gold:
        return "a gold passage mentions its title, which the question does not name"
    return "neither the question nor a gold passage mentions its title"


def missed(graph: MentionGraph, data: Set, listed: bool) -> None:
    """Print how many gold passages are missed for each reason, and with ``listed`` which."""
    reasons: dict[str, list[str]] = {}
    title = {passage.id: passage.title for passage in graph.passages}
    for question, gold in zip(data.questions, data.gold, strict=True):
        ranked = [hit.id for hit in graph(question, len(graph.passages)) if hit.score > 0]
        for an_id in sorted(gold - set(ranked[:K])):
            place = f"rank {ranked.index(an_id) + 1}" if an_id in ranked else "not reached"
            case = f"{title[an_id]} ({place}): {question}"
            reasons.setdefault(why(graph, question, gold, an_id), []).append(case)
    for reason, cases in reasons.items():
        print(f"  {len(cases)} missed: {reason}")
        for case in cases if listed else ():
            print(f"    {case}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--fast", action="store_true", help="leave out the variants of the graph")
    parser.add_argument("--lexical", action="store_true", help="only what needs no model")
    parser.add_argument("--maxsim", action="store_true", help="a row that reranks by token vectors; minutes")
    parser.add_argument("--missed", action="store_true", help="what the graph did not find, and why")
    options = parser.parse_args()
    if not (options.data / "two_wiki_101").is_dir():
        print(f"{options.data}/two_wiki_101 is not there: give the folder that holds it, or set RAGKIT_DATA")
        return 2
    embed = None if options.lexical else remembering(embedder())
    passages, rows = read_2wiki(options.data)
    n, questions = pool(passages, rows), [row["question"] for row in rows]
    gold = [{passages[i].id for i in row["gold_idx"]} for row in rows]
    musique = read_musique(options.data / "hipporag")
    sets = [
        Set("2Wiki, the collection of the stored runs", passages[:n], questions, gold),
        Set("2Wiki, the whole collection", passages, questions, gold),
        read_hotpot(options.data),
        Set("MuSiQue", musique.passages, musique.questions, musique.gold),
    ]
    for number, data in enumerate(sets):
        print(f"\n{data.name}: {len(data.passages):,} passages, {len(data.questions)} questions\n{HEADING}")
        theirs = stored(rows, [passage.title for passage in data.passages]) if number == 0 else None
        graph, ours = rows_of(data, embed, options.fast, options.maxsim and number == 0)
        print(f"the graph has {len(graph.links):,} links")
        if theirs is not None:
            by = paired_bootstrap(ours, theirs)
            print(f"all gold@8, graph minus fast-graphrag: {by.mean:+.3f} [{by.low:+.3f}, {by.high:+.3f}]")
        if options.missed:
            missed(graph, data, listed=number < 2)
    import resource  # not on Windows

    unit = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kilobytes on Linux
    print(f"\npeak resident memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:,.0f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
