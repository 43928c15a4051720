"""Retrieval on the course corpus: technique by question class, with intervals, cost and who answered.

    python benchmarks/course_corpus.py [--split dev|test]

Recall@5 over the index of passages and tickets, with 95% bootstrap intervals. A technique that prompts a model is run
on the classes that it is recorded for, once with the answers written by hand and once with those of the local 135M
model; ``calls`` and ``tokens`` are means a question. Replayed answers count tokens and no milliseconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console
from rich.table import Table

from ragkit import corpus
from ragkit.base import Hit, Retriever
from ragkit.corpus import Question
from ragkit.graph import extract_all, model_entities, triples_from
from ragkit.graph.hipporag import HippoRAG
from ragkit.index import doc2query_index, hypothetical_questions
from ragkit.metrics import evaluate_run
from ragkit.models import Metered, Recording, embedder
from ragkit.query import (
    decompose_search,
    hyde_search,
    multi_query_search,
    query2doc_search,
    rewrite_search,
    standalone_question,
    step_back_search,
)
from ragkit.recorded import hipporag as walked
from ragkit.recorded import queries as recorded
from ragkit.search import BM25, Dense, fuse_retrievers

K = 5
ANSWERERS = ("hand", "135M")


def row(
    name: str,
    answerer: str,
    questions: Sequence[Question],
    find: Callable[[Question], list[Hit]],
    meter: Metered | None,
) -> list[list[str]]:
    """One line a class: technique, who answered, class, recall with its interval, calls and tokens a question."""
    lines = []
    for cls in dict.fromkeys(question.cls for question in questions):
        mine = [question for question in questions if question.cls == cls and question.relevant]
        if not mine:
            continue
        if meter:
            meter.reset()
        run = {question.id: [hit.id for hit in find(question)] for question in mine}
        recall = evaluate_run(run, mine, k=K).interval("recall")
        calls = meter.calls / len(mine) if meter else 0.0
        tokens = (meter.prompt_tokens + meter.completion_tokens) / len(mine) if meter else 0.0
        lines.append(
            [
                name,
                answerer,
                cls,
                str(recall.n),
                f"{recall.mean:.2f} [{recall.low:.2f}, {recall.high:.2f}]",
                f"{calls:.1f}",
                f"{tokens:.0f}",
            ]
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=["dev", "test"], help="one half of the questions (default: all)")
    split = parser.parse_args().split
    world, embed = corpus.load(), embedder()

    def of(task: str) -> list[Question]:
        return [question for question in recorded.questions(task) if split in (None, question.split)]

    every = world.select(split=split)
    bm25, dense = BM25(world.index), Dense(world.index, embed)
    hybrid = fuse_retrievers([bm25, dense])

    def plain(retriever: Retriever) -> Callable[[Question], list[Hit]]:
        return lambda question: retriever(question.text, K)

    lines: list[list[str]] = []
    for name, retriever in (("BM25", bm25), ("dense", dense), ("hybrid (RRF)", hybrid)):
        lines += row(name, "-", every, plain(retriever), None)
    for answerer in ANSWERERS:
        transforms: dict[str, tuple[str, Callable[[Metered], Retriever]]] = {
            "rewrite": ("rewrite", lambda llm: partial(rewrite_search, retriever=hybrid, llm=llm)),
            "multi-query": ("paraphrases", lambda llm: partial(multi_query_search, retriever=hybrid, llm=llm)),
            "step-back": ("step_back", lambda llm: partial(step_back_search, retriever=hybrid, llm=llm)),
            "decompose": ("decompose", lambda llm: partial(decompose_search, retriever=hybrid, llm=llm)),
            "HyDE (dense)": ("hyde", lambda llm: partial(hyde_search, dense=dense, llm=llm)),
            "Query2doc (BM25)": ("query2doc", lambda llm: partial(query2doc_search, retriever=bm25, llm=llm)),
        }
        meter = Metered(Recording("standalone", answerer))

        def follow(question: Question, llm: Metered = meter) -> list[Hit]:
            return hybrid(standalone_question(question.history, question.text, llm), K)

        lines += row("conversational", answerer, of("standalone"), follow, meter)
        for name, (task, make) in transforms.items():
            meter = Metered(Recording(task, answerer))
            lines += row(name, answerer, of(task), plain(make(meter)), meter)
    expansions = hypothetical_questions(world.passages, Recording("questions"))
    expanded = fuse_retrievers([doc2query_index(world.index, expansions, BM25), dense])
    lines += row("doc2query + dense", "hand", every, plain(expanded), None)
    triples = triples_from(extract_all(world.passages, Recording("extraction")))
    asked = [question for question in walked.questions() if split in (None, question.split)]
    for answerer in ANSWERERS:
        meter = Metered(Recording("query_entities", answerer))
        graph = HippoRAG(world.index, triples, embed, model_entities(meter))
        lines += row("HippoRAG", answerer, asked, plain(graph), meter)

    table = Table(
        "technique", "answered by", "class", "questions", f"recall@{K}", "calls", "tokens", title="The course corpus"
    )
    for line in lines:
        table.add_row(*line)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
