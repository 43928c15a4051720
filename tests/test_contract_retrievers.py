"""One contract for everything that is called as a retriever, and one for everything that loops over a model.

Each technique has tests of its own; here all of them meet the same odd cases: an empty corpus, a blank query, ``k``
beyond the corpus, no entities, replies that no parser expects, unknown words, other scripts, duplicates, one passage.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from ragkit.base import LLM, Hit, Passage, Retriever
from ragkit.graph import (
    HippoRAG,
    KeyedExtraction,
    KeywordGraph,
    KeywordSearch,
    LocalSearch,
    MentionGraph,
    global_search,
    keyed,
    local_search,
    merge,
    primer_reports,
)
from ragkit.graph.communities import hierarchy, leiden, louvain, modularity
from ragkit.graph.drift import drift
from ragkit.graph.extract import Entity, Extraction, Relation, extract_all
from ragkit.graph.global_search import map_reduce, nearest_summaries
from ragkit.graph.keyword_extract import keyed_extract
from ragkit.graph.pagerank import personalized_pagerank
from ragkit.graph.reports import build_reports
from ragkit.index import (
    ParentChild,
    Raptor,
    contextual_hybrid,
    contextual_index,
    contextualised,
    doc2query_index,
    hypothetical_questions,
    question_representations,
    representations_index,
    summaries,
)
from ragkit.index.contextual import contexts
from ragkit.index.representations import representation
from ragkit.loops import (
    Specialist,
    beam_search,
    calculator_tool,
    hand_over,
    iterative_search,
    keywords,
    model_choice,
    model_evaluator,
    outside_tool,
    passages_tool,
    pooled_paragraphs,
    probability_router,
    self_router,
    single,
    uncertainty_answer,
)
from ragkit.loops.agent import agent
from ragkit.loops.crag import crag
from ragkit.loops.fixed_loop import fixed_loop
from ragkit.loops.flare import flare
from ragkit.loops.ircot import ircot
from ragkit.loops.iterative import iterative
from ragkit.loops.self_rag import self_rag
from ragkit.loops.self_rag_tokens import Segment
from ragkit.models.shapes import Completion, Token
from ragkit.models.token_vectors import PairStates, TokenVectors
from ragkit.query import (
    conversational_search,
    decompose_search,
    hyde_search,
    multi_query_search,
    query2doc_search,
    rewrite_query,
    rewrite_retrieve_read,
    rewrite_search,
    step_back_search,
)
from ragkit.search import (
    BM25,
    VARIANTS,
    Dense,
    LateInteraction,
    cross_encoder,
    cross_encoder_head,
    fuse_retrievers,
    listwise,
    pointwise,
    query_likelihood,
    rerank,
    weighted_retriever,
)
from ragkit.structured import CodeChunk, CodeSearch, Schema, SchemaLinker, SQLExample, SQLExamples, Table
from ragkit.systems.self_route import self_route
from ragkit.text import tokenize

# Stand-ins --------------------------------------------------------------------------------------------------------


def embed(texts: list[str]) -> Any:
    """Words hashed into 512 directions, and one direction that all texts share a little, so that no row is zero."""
    rows = np.zeros((len(texts), 513), dtype=np.float32)
    rows[:, 512] = 0.1
    for row, text in zip(rows, texts, strict=True):
        for word in tokenize(text):
            row[crc32(word.encode()) % 512] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def token_vectors(texts: list[str]) -> list[TokenVectors]:
    words = [tuple(tokenize(text)) for text in texts]
    return [TokenVectors(w, embed(list(w)) if w else np.zeros((0, 513), np.float32)) for w in words]


def pair_states(pairs: list[tuple[str, str]]) -> list[PairStates]:
    def states(text: str) -> Any:
        words = tokenize(text)
        rows = np.zeros((len(words), 384), np.float32)
        for row, word in zip(rows, words, strict=True):
            row[crc32(word.encode()) % 384] = 1
        return np.stack([rows] * 7)

    return [PairStates(states(query), states(passage)) for query, passage in pairs]


def likelihood(pairs: Sequence[tuple[str, str]]) -> list[Any]:
    return [
        np.array([-1.0 if word in tokenize(prefix) else -5.0 for word in tokenize(text)], dtype=np.float64)
        for prefix, text in pairs
    ]


class Overlap:
    """A cross-encoder's face: one number a pair."""

    def predict(self, pairs: Sequence[tuple[str, str]], **options: object) -> Any:
        return np.array([len(set(tokenize(q)) & set(tokenize(p))) for q, p in pairs], dtype=np.float32)


def names_in(passage: Passage) -> list[str]:
    return list(dict.fromkeys(word for word in passage.text.split() if word[:1].isupper()))


def extraction(passage: Passage) -> Extraction:
    found = names_in(passage)
    relations = tuple(Relation(a, b, "stand together") for a, b in pairwise(found))
    return Extraction(tuple(Entity(name, "thing", "") for name in found), relations)


def keyword_graph(passages: Sequence[Passage]) -> KeywordGraph:
    graph = KeywordGraph(embed)
    graph.insert_all({p.id: keyed(extraction(p)) for p in passages})
    return graph


def dense(passages: Sequence[Passage]) -> Dense:
    return Dense(passages, embed)


# Retrievers -------------------------------------------------------------------------------------------------------

Build = Callable[[list[Passage], LLM], Retriever]


def children(passages: Sequence[Passage]) -> list[Passage]:
    return [representation(p, half, "half", i) for p in passages for i, half in enumerate(p.text.split(". "))]


def hybrid(passages: list[Passage]) -> Retriever:
    return fuse_retrievers([BM25(passages), dense(passages)])


def hipporag(passages: list[Passage], llm: LLM) -> Retriever:
    triples = {p.id: [(r.source, r.description, r.target) for r in extraction(p).relations] for p in passages}
    return HippoRAG(passages, triples, embed, lambda query: [w for w in query.split() if w[:1].isupper()])


def code(passages: list[Passage], llm: LLM) -> Retriever:
    return CodeSearch([CodeChunk(p.id, p.id, "module", p.text, 1, 1, "", p.text) for p in passages], BM25)


def ircot_search(passages: list[Passage], llm: LLM) -> Retriever:
    def search(query: str, k: int) -> list[Hit]:
        return list(ircot(query, retriever=BM25(passages), llm=llm, k=k, max_sentences=3).paragraphs)[:k]

    return search


def beam(passages: list[Passage], llm: LLM) -> Retriever:
    def search(query: str, k: int) -> list[Hit]:
        found = beam_search(query, retriever=BM25(passages), propose=single(llm), k=k, max_sentences=3)
        return pooled_paragraphs(found.chains)[:k]

    return search


def reranked(make: Callable[[LLM], Any]) -> Build:
    return lambda passages, llm: rerank(dense(passages), make(llm))


HISTORY = [{"role": "user", "content": "What about the Aster kettle?"}]
RETRIEVERS: dict[str, Build] = {
    **{f"bm25-{variant}": lambda ps, llm, v=variant: BM25(ps, variant=v) for variant in VARIANTS},
    "dense": lambda ps, llm: dense(ps),
    "rrf": lambda ps, llm: hybrid(ps),
    "weighted": lambda ps, llm: weighted_retriever(BM25(ps), dense(ps), 0.4),
    "cross-encoder": reranked(lambda llm: cross_encoder(Overlap())),
    "head": reranked(lambda llm: cross_encoder_head(pair_states)),
    "pointwise": reranked(pointwise),
    "listwise": reranked(lambda llm: listwise(llm, window=3, step=2)),
    "query-likelihood": reranked(lambda llm: query_likelihood(likelihood)),
    "maxsim": reranked(lambda llm: LateInteraction(token_vectors)),
    "conversational": lambda ps, llm: partial(conversational_search, history=HISTORY, retriever=hybrid(ps), llm=llm),
    "rewrite": lambda ps, llm: partial(rewrite_search, retriever=hybrid(ps), llm=llm),
    "multi-query": lambda ps, llm: partial(multi_query_search, retriever=hybrid(ps), llm=llm),
    "step-back": lambda ps, llm: partial(step_back_search, retriever=hybrid(ps), llm=llm),
    "decompose": lambda ps, llm: partial(decompose_search, retriever=hybrid(ps), llm=llm),
    "hyde": lambda ps, llm: partial(hyde_search, dense=dense(ps), llm=llm),
    "query2doc": lambda ps, llm: partial(query2doc_search, retriever=BM25(ps), llm=llm),
    "parents": lambda ps, llm: ParentChild(ps, children(ps), BM25),
    "summaries": lambda ps, llm: representations_index(ps, summaries(ps, llm), dense),
    "questions": lambda ps, llm: representations_index(
        ps, question_representations(ps, hypothetical_questions(ps, llm)), dense
    ),
    "doc2query": lambda ps, llm: doc2query_index(ps, hypothetical_questions(ps, llm), BM25),
    "contextual": lambda ps, llm: contextual_index(ps, contexts({"": "A manual."}, ps, llm), dense),
    "contextual-hybrid": lambda ps, llm: contextual_hybrid(ps, contexts({"": "A manual."}, ps, llm), [BM25, dense]),
    "raptor": lambda ps, llm: Raptor(ps, embed, llm, dimensions=1),
    "raptor-passages": lambda ps, llm: Raptor(ps, embed, llm, dimensions=1).passages,
    "raptor-traverse": lambda ps, llm: partial(Raptor(ps, embed, llm, dimensions=1).traverse, layers=1, start=0),
    "local-search": lambda ps, llm: LocalSearch(merge({p.id: extraction(p) for p in ps}), ps, embed),
    "keyword-search": lambda ps, llm: KeywordSearch(keyword_graph(ps), ps, llm),
    "hipporag": hipporag,
    "mention-graph": lambda ps, llm: MentionGraph(ps, BM25(ps)),
    "iterative": lambda ps, llm: partial(iterative_search, retriever=BM25(ps), llm=llm),
    "ircot": ircot_search,
    "beam": beam,
    "code": code,
}
# Where the score is no measure of the order: a union of searches, each with scores of its own.
UNORDERED = {"ircot", "beam"}
# Where summaries of the tree's own come back beside the passages.
OWN_NODES = {"raptor"}
# Where equal texts are one piece of evidence in a growing context.
MERGE_EQUAL_TEXTS = {"ircot", "beam"}

CORPUS = [
    Passage("a", "The Aster kettle holds 1.7 litres. Its warranty lasts two years."),
    Passage("b", "Riverside sells the Aster kettle. Staff were short in June."),
    Passage("c", "Order ORD-482913 holds two earbuds. Silicone tips come with it.", title="Orders"),
    Passage("d", "Чайник Астра вмещает литр. Гарантия два года."),
    Passage("e", "赤いケトルは二年保証です。"),
    Passage("twin-1", "Founders met in Riverside. Oakes grew up there."),
    Passage("twin-2", "Founders met in Riverside. Oakes grew up there."),
    Passage("f", 'Costs $5, {"json": true}, 100% "quoted" text. End'),
]
QUERIES = ["Which Riverside store sells the Aster kettle?", "ORD-482913", "Гарантия", "赤い", "{x} $y 100%"]

REPLIES = {
    "sensible": "1. Which store sells the kettle?\n2. What is the warranty of Aster?",
    "empty": "",
    "blank lines": " \n\n\t\n",
    "cut JSON": '{"low_level_keywords": ["Aster", "ket',
    "JSON of another shape": '[null, {"score": "85.5", "points": 7, "low_level_keywords": {"a": 1}}]',
    "braces": "{question} ${passages} %s {0} {{",
    "numbers": "Relevance: 0.85/1, or 85%, or [9] > [2] > [2]",
    "refusal": "I'm sorry, I can't help with that.",
    "another script": "赤いケトル",
    "markup": "<think>\nhm\n</think>\n```json\n{}\n```",
    "long": "kettle " * 120,
}  # fmt: skip


def answering(reply: str) -> LLM:
    return lambda prompt: reply


@cache
def index(name: str, kind: str = "sensible") -> Retriever:
    """The technique over `CORPUS`, with a model that always gives the reply of that kind."""
    return RETRIEVERS[name](list(CORPUS), answering(REPLIES[kind]))


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def check(name: str, hits: list[Hit], k: int, passages: Sequence[Passage]) -> None:
    """What every list of hits keeps to."""
    text = {p.id: p.text for p in passages}
    assert isinstance(hits, list)
    assert len(hits) <= k
    assert len(set(ids(hits))) == len(hits)
    assert all(isinstance(hit, Hit) for hit in hits)
    assert np.isfinite([hit.score for hit in hits]).all()
    known = [hit for hit in hits if hit.id in text]
    if name not in OWN_NODES:
        assert known == hits
    if name not in {"raptor", "raptor-passages", "raptor-traverse"}:  # a node's text has the title in front
        assert all(hit.text == text[hit.id] for hit in known)
    if name not in UNORDERED:
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)


every = pytest.mark.parametrize("name", RETRIEVERS)


@every
def test_hits_are_passages_each_once_best_first_and_at_most_k(name: str) -> None:
    for query in QUERIES:
        for k in (1, 3, len(CORPUS), 1000):
            check(name, index(name)(query, k), k, CORPUS)


@every
def test_something_is_found_for_a_question_that_the_corpus_answers(name: str) -> None:
    # one reply for all summaries would make a tree of equal nodes; an empty one leaves the text of the cluster
    search = index(name, "empty" if name.startswith("raptor") else "sensible")
    assert {"a", "b"} & set(ids(search(QUERIES[0], 3)))


@every
def test_two_searches_and_two_indexes_give_the_same_hits(name: str) -> None:
    other = RETRIEVERS[name](CORPUS, answering(REPLIES["sensible"]))
    for query in QUERIES:
        assert index(name)(query, 4) == index(name)(query, 4) == other(query, 4)


@every
def test_an_empty_corpus_finds_nothing(name: str) -> None:
    search = RETRIEVERS[name]([], answering(REPLIES["sensible"]))
    for query in (*QUERIES, "", "zzyzx"):
        assert search(query, 5) == []


@every
def test_a_blank_query_and_a_k_of_0_find_nothing(name: str) -> None:
    for query in ("", " ", "\n\t"):
        assert index(name)(query, 5) == []
    assert index(name)(QUERIES[0], 0) == []


@every
@pytest.mark.parametrize("k", [-1, 1.5, True, "3", None], ids=repr)
def test_a_bad_k_is_named(name: str, k: Any) -> None:
    with pytest.raises(ValueError, match=r"\bk must be"):
        index(name)(QUERIES[0], k)


@every
def test_a_repeated_id_is_refused_when_the_index_is_built(name: str) -> None:
    with pytest.raises(ValueError, match=r"'a'.*more than once"):
        RETRIEVERS[name]([*CORPUS, Passage("a", "another text")], answering(REPLIES["sensible"]))(QUERIES[0], 3)


@every
def test_unknown_words_marks_and_other_scripts_are_ordinary(name: str) -> None:
    for query in ("zzyzx qwrtp", "?!", "👍", "الضمان", "x" * 5000, "\x00\ufeff"):
        check(name, index(name, "empty")(query, 5), 5, CORPUS)


LEXICAL = [*(name for name in RETRIEVERS if name.startswith("bm25")), "doc2query", "parents", "code"]


@pytest.mark.parametrize("name", LEXICAL)
def test_words_that_no_passage_holds_find_nothing_in_a_lexical_index(name: str) -> None:
    assert index(name, "empty")("zzyzx qwrtp", 5) == []


@every
def test_whatever_a_model_writes_is_survived(name: str) -> None:
    for kind in REPLIES:
        for query in (QUERIES[0], QUERIES[-1]):
            check(name, index(name, kind)(query, 4), 4, CORPUS)


@every
def test_equal_passages_are_two_passages(name: str) -> None:
    found = ids(index(name, "empty")("Who met in Riverside? Oakes", 20))
    twins = [an_id for an_id in found if an_id.startswith("twin")]
    assert twins == (["twin-1"] if name in MERGE_EQUAL_TEXTS else ["twin-1", "twin-2"])


@every
@pytest.mark.parametrize("text", ["Oakes", "Oakes met Oakes", "no names here", "赤い"])
def test_a_corpus_of_one_passage_and_a_graph_of_one_node(name: str, text: str) -> None:
    only = [Passage("only", text)]
    found = RETRIEVERS[name](only, answering(REPLIES["empty"]))(text, 5)
    check(name, found, 5, only)
    if name not in {"local-search", "keyword-search"} or text.startswith("Oakes"):  # these two find by entities alone
        assert ids(found) == ["only"]


@every
def test_a_passage_without_words_harms_nobody(name: str) -> None:
    passages = [Passage("blank", ""), Passage("marks", "?!"), *CORPUS, Passage("space", " \n")]
    search = RETRIEVERS[name](passages, answering(REPLIES["empty"]))
    found = search(QUERIES[0], 3)
    check(name, found, 3, passages)
    assert {"a", "b"} & set(ids(found))


@every
def test_the_passages_given_are_left_as_they_were(name: str) -> None:
    passages = list(CORPUS)
    RETRIEVERS[name](passages, answering(REPLIES["sensible"]))(QUERIES[0], 3)
    assert passages == CORPUS


# What is searched by a question and gives no hits but examples, or tables.


def sql_examples(passages: Sequence[Passage]) -> SQLExamples:
    return SQLExamples([SQLExample(p.text, f"SELECT '{p.id}'") for p in passages], BM25)


def schema_linker(passages: Sequence[Passage]) -> SchemaLinker:
    return SchemaLinker(Schema(tuple(Table(p.id, (), description=p.text) for p in passages)), BM25)


CHOOSERS = [
    pytest.param(lambda ps: sql_examples(ps), len, id="sql-examples"),
    pytest.param(lambda ps: schema_linker(ps), lambda linked: len(linked.tables), id="schema-linker"),
]


@pytest.mark.parametrize(("make", "size"), CHOOSERS)
def test_examples_and_tables_keep_to_k_too(make: Any, size: Callable[[Any], int]) -> None:
    choose = make(CORPUS)
    assert [size(choose(QUERIES[0], k)) for k in (0, 1)] == [0, 1]
    assert 1 < size(choose(QUERIES[0], 1000)) <= len(CORPUS)
    assert choose(QUERIES[0], 3) == make(CORPUS)(QUERIES[0], 3)
    assert [size(choose(query, 5)) for query in ("", " ", "zzyzx")] == [0, 0, 0]
    assert size(make([])(QUERIES[0], 5)) == 0
    for k in (-1, 1.5, True, None):
        with pytest.raises(ValueError, match=r"\bk must be"):
            choose(QUERIES[0], k)


def searched_by_a_question() -> set[str]:
    """The public names of the package that take a question and ``k``, or make what does: read off their signatures."""
    found = set()
    for folder in ("search", "query", "index", "graph", "structured", "systems", "loops"):
        package = importlib.import_module(f"ragkit.{folder}")
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing):
                call = vars(thing).get("__call__")
                parameters = list(inspect.signature(call).parameters) if inspect.isfunction(call) else []
                if parameters[2:3] in (["k"], ["hits"]):
                    found.add(name)
            elif inspect.isfunction(thing):
                signature = inspect.signature(thing)
                asked = list(signature.parameters)[:2] in (["question", "k"], ["query", "k"])
                if asked or signature.return_annotation in ("Retriever", "Reranker", "ParentChild"):
                    found.add(name)
    return found


def test_every_public_retriever_and_reranker_is_under_this_contract() -> None:
    found = searched_by_a_question()
    assert {"BM25", "Raptor", "iterative_search", "listwise", "representations_index"} <= found
    made = {node.id for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8"))) if isinstance(node, ast.Name)}
    # `scoring` turns a function into a reranker: what it makes is tested as cross-encoder, head, MaxSim and the rest
    assert found - made - {"scoring"} == set()


# Loops over a model -----------------------------------------------------------------------------------------------


def completion(llm: LLM) -> Callable[[str], Completion]:
    """The model with token probabilities, every second word unsure."""

    def generate(prompt: str) -> Completion:
        text = llm(prompt)
        tokens = tuple(Token(f" {word}", 0.95 - 0.6 * (i % 2), ()) for i, word in enumerate(text.split()))
        return Completion(text=text, tokens=tokens, prompt_tokens=1, completion_tokens=len(tokens))

    return generate


def reports(passages: Sequence[Passage], llm: LLM) -> Any:
    graph = merge({p.id: extraction(p) for p in passages})
    levels = hierarchy(graph.weights, graph.nodes)
    return build_reports(graph, levels, llm)


def notes(passages: Sequence[Passage]) -> Callable[[str], str]:
    search = LocalSearch(merge({p.id: extraction(p) for p in passages}), passages, embed)
    return lambda query: search.context(query).text


def run_agent(question: str, ps: list[Passage], llm: LLM) -> Any:
    tools = [passages_tool(BM25(ps)), outside_tool(dense(ps)), calculator_tool()]
    return agent(question, tools=tools, llm=lambda messages: llm(messages[-1]["content"]), max_steps=4)


def run_flare(question: str, ps: list[Passage], llm: LLM, form: Any = "masked") -> Any:
    return flare(question, retriever=BM25(ps), generate=completion(llm), form=form, max_sentences=4)


def run_crag(question: str, ps: list[Passage], llm: LLM) -> Any:
    web, evaluate = dense(ps), model_evaluator(llm)
    return crag(question, retriever=BM25(ps), web=web, evaluate=evaluate, rewrite=partial(keywords, llm=llm))


def run_self_rag(question: str, ps: list[Passage], llm: LLM) -> Any:
    def write(asked: str, hit: Hit | None) -> Segment:
        return Segment(llm(asked), {"[Relevant]": 0.5, "[Irrelevant]": 0.5}, passage=hit.id if hit else "")

    gate = lambda asked: {"[Retrieval]": 0.9 if llm(asked) else 0.0, "[No Retrieval]": 0.1}  # noqa: E731
    return self_rag(question, retriever=BM25(ps), gate=gate, write=write)


def run_fixed(question: str, ps: list[Passage], llm: LLM) -> Any:
    sources = {"passages": BM25(ps), "outside": dense(ps)}
    return fixed_loop(question, sources=sources, llm=llm, kinds={"passages": "facts", "outside": "rest", "direct": ""})


def run_specialists(question: str, ps: list[Passage], llm: LLM) -> Any:
    asked = {"passages": "facts", "chat": "talk"}
    people = [Specialist(name, text, lambda q: llm(f"{q} {len(ps)}")) for name, text in asked.items()]
    return hand_over(question, people, model_choice(llm, asked, "passages"))


def run_uncertain(question: str, ps: list[Passage], llm: LLM) -> Any:
    return uncertainty_answer(
        question, generate=completion(llm), retrieve=lambda q: str(ids(BM25(ps)(q, 3))), threshold=-0.5
    )


LOOPS: dict[str, Callable[[str, list[Passage], LLM], Any]] = {
    "iterative": lambda q, ps, llm: iterative(q, retriever=BM25(ps), llm=llm),
    "ircot": lambda q, ps, llm: ircot(q, retriever=BM25(ps), llm=llm),
    "beam": lambda q, ps, llm: beam_search(q, retriever=BM25(ps), propose=single(llm), max_sentences=4),
    "flare-masked": run_flare,
    "flare-question": partial(run_flare, form="question"),
    "crag": run_crag,
    "self-rag": run_self_rag,
    "agent": run_agent,
    "fixed-loop": run_fixed,
    "specialists": run_specialists,
    "uncertainty": run_uncertain,
    "self-route": lambda q, ps, llm: self_route(q, retriever=BM25(ps), llm=llm, text=" ".join(p.text for p in ps)),
    "rewrite-retrieve-read": lambda q, ps, llm: rewrite_retrieve_read(
        q, 3, rewrite=partial(rewrite_query, llm=llm), retriever=BM25(ps), reader=llm
    ),
    "map-reduce": lambda q, ps, llm: map_reduce(q, reports(ps, answering("A report.")), llm),
    "nearest-summaries": lambda q, ps, llm: nearest_summaries(q, reports(ps, answering("A report.")), embed, llm),
    "drift": lambda q, ps, llm: drift(q, reports(ps, answering("A report.")), notes(ps), llm),
    "drift-primer": lambda q, ps, llm: primer_reports(q, reports(ps, answering("A report.")), embed, llm),
    "local-answer": lambda q, ps, llm: LocalSearch(merge({p.id: extraction(p) for p in ps}), ps, embed).answer(q, llm),
    "keyword-answer": lambda q, ps, llm: KeywordSearch(keyword_graph(ps), ps, llm).answer(q),
}
MOST_CALLS = 200
loop = pytest.mark.parametrize("name", LOOPS)


class Counted:
    def __init__(self, reply: str) -> None:
        self.reply, self.calls = reply, 0

    def __call__(self, prompt: str) -> str:
        assert isinstance(prompt, str)
        self.calls += 1
        assert self.calls <= MOST_CALLS, "the loop has no bound"
        return self.reply


@loop
@pytest.mark.parametrize("passages", [CORPUS, CORPUS[:1], []], ids=["corpus", "one passage", "empty corpus"])
def test_a_loop_ends_whatever_the_model_writes_and_the_same_way_twice(name: str, passages: list[Passage]) -> None:
    for reply in REPLIES.values():
        for query in (QUERIES[0], QUERIES[-1]):
            one, other = (LOOPS[name](query, passages, Counted(reply)) for _ in range(2))
            assert one == other


@loop
@pytest.mark.parametrize("question", ["", "  \n"])
def test_a_blank_question_costs_a_loop_no_call(name: str, question: str) -> None:
    llm = Counted("Final Answer: 42")
    result = LOOPS[name](question, CORPUS, llm)
    assert llm.calls == 0
    given = result if isinstance(result, str) else getattr(result, "answer", "")
    assert given in ("", global_search.NO_ANSWER, local_search.NO_ANSWER)


# Builders: what is made of passages before any question -------------------------------------------------------------


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_indexing_survives_whatever_a_model_writes(reply: str) -> None:
    llm = answering(reply)
    assert set(extract_all(CORPUS, llm)) == {p.id for p in CORPUS}
    found = keyed_extract(CORPUS, llm)
    assert all(isinstance(one, KeyedExtraction) for one in found.values())
    graph = KeywordGraph(embed)
    graph.insert_all(found)
    assert len(reports(CORPUS, llm)) == len(reports(CORPUS, answering("A report.")))
    assert [p.id for p in contextualised(CORPUS, contexts({"": "A manual."}, CORPUS, llm))] == [p.id for p in CORPUS]
    assert all(len(questions) <= 3 for questions in hypothetical_questions(CORPUS, llm).values())
    tree = Raptor(CORPUS, embed, llm, dimensions=1)
    assert all(node.text for layer in tree.layers for node in layer)
    self_router(llm)("Is it red?")
    probability_router(completion(llm))("Is it red?")


def test_no_passages_give_empty_graphs_reports_and_trees_without_a_call() -> None:
    def never(prompt: str) -> str:
        pytest.fail("the model was called")

    assert extract_all([], never) == {}
    assert keyed_extract([], never) == {}
    graph = merge({})
    assert (graph.nodes, graph.edges) == ({}, {})
    assert reports([], never) == []
    assert Raptor([], embed, never).layers == []
    assert hierarchy({}) == louvain({}) == leiden({}) == []
    assert modularity({}, []) == 0.0


@pytest.mark.parametrize("method", [louvain, leiden])
def test_a_graph_of_one_node_is_one_community_and_keeps_all_its_mass(method: Any) -> None:
    assert method({}, ["oakes"]) == method({("oakes", "oakes"): 2.0}) == [["oakes"]]
    assert [c.members for c in hierarchy({}, ["oakes"])] == [("oakes",)]
    assert personalized_pagerank([("oakes", "oakes")], ["oakes"], 0.15, 10) == {"oakes": pytest.approx(1.0)}
