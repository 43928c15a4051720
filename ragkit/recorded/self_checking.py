"""Retrieval that checks itself: a stored search, a small trained evaluator, and prompts for a model that grades.

Corrective RAG (Yan et al., 2024) asks an evaluator about every passage and strip. `trained` is the smallest one that
learns from labels, in the place of the paper's T5: a logistic regression on three features, fitted on the
development half. The search of the company lies in ``corpus/runs/self_checking/``, so that neither prompts nor scores
need a vector; the outside collection plays the web and is searched by BM25. A model that is asked grades the pairs of
`sample`. ``flare`` holds what the local model wrote without passages, with the probability of each token, and what its
queries found; ``python -m ragkit.recorded.self_checking FILE`` makes a file again. Left out: rewriting the question for
the web, and grading several passages in one call.
"""

from __future__ import annotations

import argparse
import datetime
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from math import log, tanh
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression

from ragkit import corpus
from ragkit.base import Hit, Passage, Retriever
from ragkit.corpus import Question
from ragkit.loops.crag import CragResult, crag
from ragkit.loops.flare import flare_prompt
from ragkit.loops.flare_queries import QueryForm, queries_for
from ragkit.loops.relevance import evaluator_prompt, model_evaluator
from ragkit.loops.sentence import cut_to_first_sentence
from ragkit.loops.strips import Evaluator, cut_strips
from ragkit.models import Local, Recording, embedder
from ragkit.models.recording_tasks import Settings
from ragkit.models.shapes import Token
from ragkit.recorded.reranking import sample as labelled_sample
from ragkit.search import BM25, Dense, fuse_retrievers
from ragkit.systems.self_route import self_route_prompt
from ragkit.text import LUCENE_STOP_WORDS, tokenize

FOLDER = Path(corpus.__file__).parent / "runs" / "self_checking"
DEPTH, K, WEB_K = 10, 5, 5
"""Passages of the company that are kept, that are judged, and passages of the outside that a search brings."""
MASK_BELOW = 0.4
"""FLARE leaves words less probable than this out of a query."""
UNANSWERED = 10
"""Questions without an answer inside that a model is asked about."""
UPPER, LOWER, STRIP = -0.13, -0.48, -0.63
"""Thresholds of the trained evaluator, read off the development half as the chapter shows."""
FEATURES = ("share of rare words", "weight of shared words", "is a ticket")
"""What the trained evaluator sees of a question and a text, see `features`."""


def asked(split: str | None = None) -> list[Question]:
    """The questions with gold passages inside, and those that the company cannot answer."""
    return [q for q in corpus.load().select(split=split) if q.relevant or q.cls == "no_answer"]


def sample() -> list[Question]:
    """For whatever takes a call a pair: the first test question of each class, and the last that have no answer."""
    return [*labelled_sample(1), *corpus.load().select(cls="no_answer", split="test")[-UNANSWERED:]]


@cache
def stored(name: str) -> Mapping[str, Any]:
    """One file of the folder: ``date``, ``machine``, ``command`` and ``questions``."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _by_text() -> Mapping[str, Question]:
    return {question.text: question for question in asked()}


@cache
def _passages() -> Mapping[str, Passage]:
    world = corpus.load()
    return {passage.id: passage for passage in [*world.index, *world.outside]}


def inside(query: str, k: int) -> list[Hit]:
    """The stored hits of hybrid search over the company's index, for a question of `asked`; at most ``DEPTH``."""
    ids = stored("candidates")["questions"][_by_text()[query].id][:k]
    return [Hit(name, _passages()[name].text, 1 / rank) for rank, name in enumerate(ids, start=1)]


@cache
def _web() -> BM25:
    return BM25(corpus.load().outside)


def outside(query: str, k: int) -> list[Hit]:
    """Keyword search in the outside collection, which plays the web."""
    return _web()(query, k)


@cache
def _titles() -> Mapping[str, str]:
    titles: dict[str, str] = {}
    for passage in _passages().values():
        for text in (passage.text, *cut_strips(passage.text)):
            titles.setdefault(text, passage.title)
    return titles


def titled(text: str) -> str:
    """A passage or strip under the title of its document: "it" in the text is what the title names."""
    title = _titles().get(text, "")
    return f"{title}\n{text}" if title else text


def with_titles(evaluate: Evaluator) -> Evaluator:
    """The same evaluator, shown each text under its title."""
    return lambda question, text: evaluate(question, titled(text))


def texts(question: Question, depth: int = K) -> list[str]:
    """What `ragkit.loops.crag.crag` may ask about: passages, their strips, and the strips of outside passages."""
    hits, found = inside(question.text, depth), outside(question.text, WEB_K)
    pieces = [strip for hit in [*hits, *found] for strip in cut_strips(hit.text)]
    return list(dict.fromkeys([*(hit.text for hit in hits), *pieces]))


def prompts(only: Sequence[Question] | None = None) -> Iterator[tuple[str, str]]:
    """Every pair of a sampled question and a text of it, as the prompt of `ragkit.loops.relevance`, each once."""
    for question in only if only is not None else sample():
        shown = dict.fromkeys(titled(text) for text in texts(question))
        for place, text in enumerate(shown, start=1):
            yield f"{question.id}/{place}", evaluator_prompt(question.text, text)


def asking(answerer: str) -> Evaluator:
    """The recorded grades of one answerer as an evaluator for `sample`."""
    return with_titles(model_evaluator(Recording("crag_grades", answerer)))


@cache
def _idf() -> Mapping[str, float]:
    """Stemmed word to its inverse document frequency in the index; words of no passage are missing."""
    index = corpus.load().index
    held = Counter(word for passage in index for word in set(tokenize(passage.full_text, stem=True)))
    return {word: log(1 + (len(index) - n + 0.5) / (n + 0.5)) for word, n in held.items()}


def features(question: str, text: str) -> list[float]:
    """The `FEATURES` of a question with a text, which comes with its title.

    The share of the question's words that the text holds, each weighed by its idf (stemmed, without stop words; a word
    that stands in no passage of the index has the largest idf there is). The sum of those held, in units of that
    largest idf: all of "How much is it?" is little. And 1 for a support ticket, else 0.
    """
    idf, most = _idf(), log(1 + len(corpus.load().index) / 0.5)
    weighed = {word: idf.get(word, most) for word in tokenize(question, stem=True, stop=LUCENE_STOP_WORDS)}
    there = set(tokenize(text, stem=True))
    held, whole = sum(w for word, w in weighed.items() if word in there), sum(weighed.values())
    return [held / whole if whole else 0.0, held / most, float(text.startswith("Support ticket"))]


@cache
def weights() -> tuple[float, ...]:
    """A weight for each feature and the constant: logistic regression on the passages of the dev questions."""
    pairs = [(q, hit) for q in asked("dev") for hit in inside(q.text, K)]
    rows = [features(q.text, titled(hit.text)) for q, hit in pairs]
    model = LogisticRegression(C=10.0, max_iter=1_000).fit(rows, [hit.id in q.relevant for q, hit in pairs])
    return (*map(float, model.coef_[0]), float(model.intercept_[0]))


@cache
def trained() -> Evaluator:
    """The fitted regression as an evaluator: the probability p that a text is evidence, as 2 p - 1."""
    *slopes, constant = weights()

    @cache
    def evaluate(question: str, text: str) -> float:
        z = constant + sum(w * x for w, x in zip(slopes, features(question, titled(text)), strict=True))
        return tanh(z / 2)  # 2 sigmoid(z) - 1

    return evaluate


def looked_ahead(row: Mapping[str, Any]) -> tuple[Token, ...]:
    """The tokens of a stored first sentence."""
    return tuple(Token(text, p) for text, p in row["tokens"])


def corrected(question: Question, evaluate: Evaluator | None = None, k: int = K) -> CragResult:
    """Corrective RAG with the trained evaluator and its thresholds, or with another one and those of the paper."""
    if evaluate is not None:
        return crag(question.text, retriever=inside, web=outside, evaluate=evaluate, k=k, web_k=WEB_K)
    return crag(
        question.text,
        retriever=inside,
        web=outside,
        evaluate=trained(),
        k=k,
        web_k=WEB_K,
        upper=UPPER,
        lower=LOWER,
        strip_threshold=STRIP,
    )


def reader_prompts(way: str) -> Iterator[tuple[str, str]]:
    """The test questions without an answer inside, with the ``five`` passages or with the ``corrected`` knowledge.

    The reader may say that they do not suffice. A strip is shown under the title of its document.
    """
    for question in corpus.load().select(cls="no_answer", split="test"):
        yield question.id, reader_prompt(question, way)


def reader_prompt(question: Question, way: str) -> str:
    """One prompt of `reader_prompts`."""
    if way not in ("five", "corrected"):
        raise ValueError(f"way must be 'five' or 'corrected', got {way!r}")
    if way == "five":
        return self_route_prompt(question.text, inside(question.text, K), lambda hit: titled(hit.text))
    result = corrected(question)
    strips = [Hit(strip.passage, strip.text, strip.score) for strip in (*result.internal, *result.external)]
    return self_route_prompt(question.text, strips, lambda hit: titled(hit.text))


TASKS = {
    "crag_grades": prompts,
    "crag_reader_five": partial(reader_prompts, "five"),
    "crag_reader_corrected": partial(reader_prompts, "corrected"),
}

SETTINGS = {
    "crag_grades": Settings(max_tokens=8),
    **dict.fromkeys(("crag_reader_five", "crag_reader_corrected"), Settings(max_tokens=24)),
}


def main() -> None:
    """Write one file of the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", choices=["candidates", "flare"])
    parser.add_argument("--machine", default="one thread of a shared processor", help="what it runs on, in words")
    options = parser.parse_args()
    world, embed = corpus.load(), embedder()
    hybrid = fuse_retrievers([BM25(world.index), Dense(world.index, embed)])
    if options.file == "candidates":
        save("candidates", options.machine, {q.id: [hit.id for hit in hybrid(q.text, DEPTH)] for q in asked()})
    else:
        save("flare", options.machine, {q.id: ahead(q, hybrid) for q in labelled_sample(2)})


def ahead(question: Question, retriever: Retriever) -> dict[str, Any]:
    """FLARE's look ahead by the local model: a sentence without passages, its tokens, and what two queries find."""
    written = Local(max_tokens=48).generate(flare_prompt(question.text))  # a bare "Answer:" it leaves empty too often
    sentence = cut_to_first_sentence(written)
    found: dict[str, Any] = {"tokens": [[token.text, round(token.probability, 4)] for token in sentence.tokens]}
    forms: tuple[QueryForm, ...] = ("masked", "sentence")
    for form in forms:
        [query] = queries_for(sentence, question.text, "", form, MASK_BELOW, str) if sentence.text else [question.text]
        found |= {form: query, f"{form}_hits": [hit.id for hit in retriever(query, K)]}
    return found


def save(name: str, machine: str, rows: Mapping[str, Any]) -> None:
    """Write a file of the folder."""
    head = {
        "date": datetime.date.today(),
        "machine": json.dumps(machine),
        "command": json.dumps(f"python -m ragkit.recorded.self_checking {name}"),
    }
    lines = ["# What is in here, and how it is made: ragkit/recorded/self_checking.py"]
    lines += [f"{key} = {value}" for key, value in head.items()]
    if all(isinstance(row, list) for row in rows.values()):
        lines += ["\n[questions]", *(f"{key} = {json.dumps(row)}" for key, row in rows.items())]
    else:
        for key, row in rows.items():
            lines.append(f"\n[questions.{key}]")
            lines += [f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in row.items()]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
