"""BM25 on SciFact, beside Anserini's published run and beside bm25s in the same process.

    python benchmarks/scifact_bm25.py [DATA]

DATA holds ``scifact/`` (by default the environment variable RAGKIT_DATA, else ``../shared/data`` beside the checkout).
The set-up is Anserini's flat one: Lucene variant, k1 0.9, b 0.4, Porter stems, Lucene's 33 stop words, title and text
as one field. Two tokenizers are measured. ``standard`` cuts words where Lucene's StandardTokenizer does, as far as a
regular expression can say it; ``course`` is ``ragkit.text.tokenize``, which keeps codes such as ``il-2`` whole: what
helps with order codes costs a little here. Quality is computed by ``pytrec_eval``. Times are medians of three runs, and
what is compared with bm25s is the ratio: the same tokens, the same machine, the same minute.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import bm25s
import pytrec_eval

from ragkit.base import Passage
from ragkit.search import BM25
from ragkit.text import LUCENE_STOP_WORDS, stem, tokenize

ANSERINI = {"ndcg_cut_10": 0.6789, "recall_100": 0.9253}
DEFAULT = Path(os.environ.get("RAGKIT_DATA") or Path(__file__).resolve().parents[1] / "../shared/data")


STANDARD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:'[^\W_]+)*")


def standard(text: str) -> list[str]:
    """Words as Lucene's EnglishAnalyzer makes them, nearly: split at hyphens, possessives cut, stopped, stemmed."""
    words = (word.removesuffix("'s") for word in STANDARD.findall(text.replace("’", "'").lower()))
    return [stem(word) for word in words if word not in LUCENE_STOP_WORDS]


course = partial(tokenize, stem=True, stop=LUCENE_STOP_WORDS)


class SciFact(NamedTuple):
    passages: list[Passage]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def read(folder: Path) -> SciFact:
    """The 5,183 abstracts, 300 test claims and 339 judgements."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    passages = [Passage(r["_id"], r["text"], r["title"]) for r in records]
    with (folder / "queries_test.jsonl").open(encoding="utf-8") as lines:
        queries = {r["_id"]: r["text"] for r in map(json.loads, lines)}
    qrels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.beir-v1.0.0-scifact.test.txt").read_text().splitlines():
        query, _, document, gain = line.split()
        qrels.setdefault(query, {})[document] = int(gain)
    return SciFact(passages, queries, qrels)


def quality(data: SciFact, index: BM25, depth: int = 100) -> dict[str, float]:
    """nDCG@10 and recall@100 over all judged queries; one without results counts 0."""
    run = {q: {hit.id: hit.score for hit in index(text, depth)} for q, text in data.queries.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(data.qrels, {"ndcg_cut.10", "recall.100"})
    rows = evaluator.evaluate(run)
    return {m: sum(rows.get(q, {}).get(m, 0.0) for q in data.qrels) / len(data.qrels) for m in ANSERINI}


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """Median wall time of ``work``."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def their_index(tokens: list[list[str]]) -> bm25s.BM25:
    model = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    model.index(tokens, show_progress=False)
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    folder = parser.parse_args().data / "scifact"
    if not folder.is_dir():
        print(f"{folder} is not there: give the folder that holds scifact/, or set RAGKIT_DATA")
        return 2
    data = read(folder)
    for name, words in (("standard", standard), ("course", course)):
        for measure, value in quality(data, BM25(data.passages, k1=0.9, b=0.4, tokenize=words)).items():
            gap = value - ANSERINI[measure]
            print(f"{name:9} {measure:12} {value:.4f}   Anserini {ANSERINI[measure]:.4f}   difference {gap:+.4f}")

    start = time.perf_counter()
    tokens = [course(p.full_text) for p in data.passages]
    print(f"tokenizing, stems known from before: {time.perf_counter() - start:.2f} s")

    # From here on both sides get the tokens ready made: what is timed is the index and the search.
    ready = {p.full_text: t for p, t in zip(data.passages, tokens, strict=True)}
    ready.update((text, course(text)) for text in data.queries.values())
    ours, theirs = BM25(data.passages, k1=0.9, b=0.4, tokenize=ready.__getitem__), their_index(tokens)
    known = cache(lambda text: [word for word in ready[text] if word in theirs.vocab_dict])
    rows = [
        (
            f"index, {len(data.passages)} passages",
            seconds(lambda: BM25(data.passages, k1=0.9, b=0.4, tokenize=ready.__getitem__)),
            seconds(lambda: their_index(tokens)),
        ),
        (
            f"scores, {len(data.queries)} queries",
            seconds(lambda: [ours.scores(text) for text in data.queries.values()]),
            seconds(lambda: [theirs.get_scores(known(text)) for text in data.queries.values()]),
        ),
        (
            f"top 100, {len(data.queries)} queries",
            seconds(lambda: [ours(text, 100) for text in data.queries.values()]),
            seconds(
                lambda: [theirs.retrieve([known(text)], k=100, show_progress=False) for text in data.queries.values()]
            ),
        ),
    ]
    for what, own, other in rows:
        print(f"{what:22} {1000 * own:8.1f} ms   bm25s {1000 * other:8.1f} ms   ratio {own / other:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
