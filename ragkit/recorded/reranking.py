"""Reranking: what slow rerankers made of the candidates of hybrid search, and the prompts of those that ask a model.

The candidates of every labelled test question are kept in ``corpus/runs/reranking/``, so that prompts need no vector
and are the same on every machine. Beside them lie the orders by MaxSim and by the trained head (all questions), and by
query likelihood of the local model (`sample`); `deepest` says over how many candidates each has been run.
``python -m ragkit.recorded.reranking METHOD`` makes one of these files again; it goes on where it was stopped. Left
out: scores of MaxSim and the head, which compare within a question only.
"""

from __future__ import annotations

import argparse
import datetime
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ragkit import corpus
from ragkit.base import Hit
from ragkit.corpus import Question
from ragkit.models import Likelihood, embedder, token_embedder
from ragkit.models.recording_tasks import Settings
from ragkit.search import (
    BM25,
    Dense,
    LateInteraction,
    Reranker,
    cross_encoder_head,
    full_texts,
    fuse_retrievers,
    permutation_prompt,
    query_likelihood,
    relevance_prompt,
)

FOLDER = Path(corpus.__file__).parent / "runs" / "reranking"
DEPTH = 50
LIKELIHOOD_DEPTH = 30
PROMPT_DEPTH = 10
"""Candidates that are kept, that are scored by likelihood, and that a model is asked about."""
PER_CLASS = 2

RERANKERS: dict[str, Callable[[], Reranker]] = {
    "maxsim": lambda: LateInteraction(token_embedder()),
    "head": cross_encoder_head,
    "likelihood": lambda: query_likelihood(Likelihood()),
}


def asked() -> list[Question]:
    """The test questions that have gold passages, class by class in the order of the corpus."""
    return [question for question in corpus.load().select(split="test") if question.relevant]


def sample(per_class: int = PER_CLASS) -> list[Question]:
    """The first test questions of each class, for whatever takes seconds a candidate: all firsts, then all seconds."""
    found = asked()
    classes = dict.fromkeys(question.cls for question in found)
    by_class = [[question for question in found if question.cls == cls] for cls in classes]
    return [group[i] for i in range(per_class) for group in by_class if i < len(group)]


@cache
def stored(name: str) -> Mapping[str, Any]:
    """One file of the folder: ``date``, ``machine``, ``command``, ``milliseconds`` a pair, and ``questions``."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def candidates(question: Question, depth: int = DEPTH) -> list[Hit]:
    """The stored candidates of hybrid search, best first, with title and text, as a reranker reads them."""
    texts = _texts()
    ids = stored("candidates")["questions"][question.id][:depth]
    return [Hit(name, texts[name], 1 / rank) for rank, name in enumerate(ids, start=1)]


@cache
def _texts() -> dict[str, str]:
    return full_texts(corpus.load().index)


def run(method: str, depth: int, questions: Sequence[Question]) -> dict[str, list[str]]:
    """Question id to candidate ids as ``method`` orders the first ``depth`` of them; ``first`` leaves them as they are.

    A score of a pair does not depend on the other candidates, so the order of fewer is the order of more, thinned out.
    """
    found = {}
    for question in questions:
        ids = stored("candidates")["questions"][question.id]
        order = range(depth) if method == "first" else stored(method)["questions"][question.id]
        if method != "first" and len(order) < min(depth, len(ids)):
            raise ValueError(f"depth {depth} is more than the {len(order)} candidates that {method} has seen")
        found[question.id] = [ids[place] for place in order if place < min(depth, len(ids))]
    return found


def deepest(method: str) -> int:
    """How many candidates ``method`` has been run over, for every question of its file."""
    return min(map(len, stored(method)["questions"].values()))


def pointwise_prompts() -> Iterator[tuple[str, str]]:
    """Every pair of a sampled question and one of its first candidates."""
    for question in sample():
        for place, hit in enumerate(candidates(question, PROMPT_DEPTH), start=1):
            yield f"{question.id}/{place}", relevance_prompt(question.text, hit.text)


def listwise_prompts(reverse: bool = False) -> Iterator[tuple[str, str]]:
    """The first candidates of every sampled question as one list, best first or, reversed, best last."""
    for question in sample():
        texts = [hit.text for hit in candidates(question, PROMPT_DEPTH)]
        yield question.id, permutation_prompt(question.text, texts[::-1] if reverse else texts)


TASKS = {
    "rerank_pointwise": pointwise_prompts,
    "rerank_listwise": listwise_prompts,
    "rerank_listwise_reversed": lambda: listwise_prompts(reverse=True),
}

SETTINGS = {"rerank_pointwise": Settings(max_tokens=8)} | dict.fromkeys(
    ("rerank_listwise", "rerank_listwise_reversed"), Settings(max_tokens=64)
)


def main() -> None:
    """Write one file of the folder: the candidates, or the order of them by one reranker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["candidates", *RERANKERS])
    parser.add_argument("--machine", default="one thread of a shared processor", help="what it runs on, in words")
    options = parser.parse_args()
    path = FOLDER / f"{options.method}.toml"
    if options.method == "candidates":
        world = corpus.load()
        hybrid = fuse_retrievers([BM25(world.index), Dense(world.index, embedder())])
        save(path, {q.id: [hit.id for hit in hybrid(q.text, DEPTH)] for q in asked()}, options.machine)
        return
    done: dict[str, list[int]] = dict(stored(options.method)["questions"]) if path.exists() else {}
    spent = stored(options.method)["milliseconds"] * sum(map(len, done.values())) if done else 0.0
    depth, questions = (LIKELIHOOD_DEPTH, sample()) if options.method == "likelihood" else (DEPTH, asked())
    reranker = RERANKERS[options.method]()
    if isinstance(reranker, LateInteraction):
        reranker.prepare([hit.text for question in questions for hit in candidates(question, depth)])
    reranker(questions[0].text, candidates(questions[0], 2))  # loads what there is to load
    for question in questions:
        if question.id in done:
            continue
        hits, start = candidates(question, depth), time.process_time()
        place = {hit.id: i for i, hit in enumerate(hits)}
        done[question.id] = [place[hit.id] for hit in reranker(question.text, hits)]
        spent += (time.process_time() - start) * 1000
        save(path, done, options.machine, spent / sum(map(len, done.values())))


def save(path: Path, rows: Mapping[str, Sequence[object]], machine: str, milliseconds: float = 0.0) -> None:
    """Write a file of the folder. Milliseconds are of processor time, a pair; what an index prepares is not in it."""
    head = [
        "# What is in here, and how it is made: ragkit/recorded/reranking.py",
        f"date = {datetime.date.today()}",
        f'machine = "{machine}"',
        f'command = "python -m ragkit.recorded.reranking {path.stem}"',
        f"milliseconds = {milliseconds:.1f}",
        "\n[questions]",
    ]
    lines = [f"{name} = [{', '.join(_toml(value) for value in row)}]" for name, row in rows.items()]
    path.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    main()
