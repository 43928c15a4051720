"""HippoRAG on 100 MuSiQue questions, beside dense search and BM25, with the ablations of the paper.

    python benchmarks/hipporag_musique.py [DATA] [--fast]

DATA holds ``hipporag/`` (by default the environment variable RAGKIT_DATA, else ``../shared/data`` beside the checkout).
The triples are the stored ones that GPT-3.5 extracted from the 1,890 passages; embeddings are all-MiniLM-L6-v2, run
here (some minutes on a CPU). The stored files hold no entities of these questions. They are taken from the questions as
runs of capitalised words (``ragkit.graph.capitalised_spans``), joined over "of", "and", "in" and the like, since many
are titles of works; a row shows what it costs to end a name at "in", "for" and "on". No model is asked, and a question
without a capitalised name is answered by dense search; the first line says how many there are.

The reference column holds the figures of a straight port of the authors' code with the same embeddings; its question
entities are not stored, so equality to the decimal is not to be expected. BM25's reference row is the default of
Elasticsearch (k1 1.2, b 0.75), whose tokenizer differs from ours. ``--fast`` shows only the rows that have a reference.

The last rows leave the straight port: a graph of titles mentioned (``ragkit.graph.MentionGraph``) that needs no
triples, and HippoRAG fused by rank with dense search and with that graph, at the usual constants of both.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragkit.base import Embedder, Hit, Passage
from ragkit.graph import TITLE_JOINERS, HippoRAG, MentionGraph, capitalised_spans
from ragkit.models import embedder
from ragkit.search import BM25, Dense, fuse_retrievers

DEFAULT = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")
TRIPLES = "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"


class MuSiQue(NamedTuple):
    passages: list[Passage]
    triples: dict[str, list[list[str]]]
    questions: list[str]
    gold: list[set[str]]


def read(folder: Path) -> MuSiQue:
    """1,890 passages with their triples, 100 questions with the ids of their supporting passages."""
    docs = json.loads((folder / TRIPLES).read_text(encoding="utf-8"))["docs"]
    records = json.loads((folder / "musique_train.json").read_text(encoding="utf-8"))
    passages = [Passage(str(i), doc["text"], doc["title"]) for i, doc in enumerate(docs)]
    by_content = {(p.title, p.text): p.id for p in passages}
    triples = {p.id: doc["extracted_triples"] for p, doc in zip(passages, docs, strict=True)}
    gold = [
        {by_content[p["title"], p["paragraph_text"]] for p in record["paragraphs"] if p["is_supporting"]}
        for record in records
    ]
    return MuSiQue(passages, triples, [record["question"] for record in records], gold)


def recalls(data: MuSiQue, search: Callable[[str, int], list[Hit]]) -> tuple[float, float]:
    """Mean share of the supporting passages among the first 2 and the first 5, in percent."""
    rows = []
    for question, gold in zip(data.questions, data.gold, strict=True):
        ids = [hit.id for hit in search(question, 5)]
        rows.append([len(gold & set(ids[:k])) / len(gold) for k in (2, 5)])
    two, five = (100 * np.mean(rows, axis=0)).tolist()
    return two, five


def remembering(embed: Embedder) -> Embedder:
    """Embed each text once in this process: the ablations rebuild the index on the same phrases."""
    known: dict[str, Any] = {}

    def wrapped(texts: list[str]) -> Any:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return wrapped


def titles(question: str) -> list[str]:
    return capitalised_spans(question, TITLE_JOINERS)


def variants(fast: bool) -> Sequence[tuple[str, dict[str, Any], str]]:
    rows: list[tuple[str, dict[str, Any], str]] = [
        ("HippoRAG, restart 0.5", {}, "53.7 / 68.2"),
        ("  without node specificity", {"node_specificity": False}, "51.5 / 68.1"),
        ("  without synonym edges", {"synonym_threshold": None}, "52.7 / 66.6"),
    ]
    more: list[tuple[str, dict[str, Any], str]] = [
        ("  names end at in, for, on", {"query_entities": capitalised_spans}, ""),
        ("  restart 0.15", {"restart": 0.15}, ""),
        ("  restart 0.85", {"restart": 0.85}, ""),
    ]
    return rows if fast else [*rows, *more]


def show(name: str, found: tuple[float, float], reference: str) -> None:
    print(f"{name:31} {found[0]:5.1f} / {found[1]:5.1f}   {reference}", flush=True)


def beyond(data: MuSiQue, dense: Dense, hipporag: HippoRAG) -> None:
    """Rows without a reference: no triples, and triples fused with what reads the whole passage."""
    graph = MentionGraph(data.passages, dense)
    show("mention graph, from dense", recalls(data, graph), "no triples")
    show("HippoRAG + dense, RRF", recalls(data, fuse_retrievers([hipporag, dense])), "")
    show("HippoRAG + mention graph, RRF", recalls(data, fuse_retrievers([hipporag, graph])), "")
    both = MentionGraph(data.passages, fuse_retrievers([hipporag, dense]))
    show("mention graph, from both by RRF", recalls(data, both), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--fast", action="store_true", help="only the rows that have a reference")
    options = parser.parse_args()
    folder = options.data / "hipporag"
    if not folder.is_dir():
        print(f"{folder} is not there: give the folder that holds hipporag/, or set RAGKIT_DATA")
        return 2
    data, embed = read(folder), remembering(embedder())
    without = sum(not capitalised_spans(question) for question in data.questions)
    print(f"{len(data.passages)} passages, {len(data.questions)} questions, {without} without a capitalised name")
    print(f"{'':31} recall@2 / @5   reference")
    show("BM25, k1 1.2, b 0.75", recalls(data, BM25(data.passages, k1=1.2, b=0.75)), "39.6 / 49.6")
    dense = Dense(data.passages, embed)
    show("dense, MiniLM", recalls(data, dense), "47.2 / 62.2")
    for name, changes, reference in variants(options.fast):
        index = HippoRAG(data.passages, data.triples, embed, **{"query_entities": titles, **changes})
        start = time.perf_counter()
        found = recalls(data, index)
        spent = 1000 * (time.perf_counter() - start) / len(data.questions)
        show(name, found, f"{reference:13} {spent:6.1f} ms a question, {len(index.phrases)} phrases")
    if not options.fast:
        beyond(data, dense, HippoRAG(data.passages, data.triples, embed, titles))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
