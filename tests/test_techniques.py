"""Proves ``techniques.toml``: functions exist, tests exist, nothing public and nothing of the course is missing."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.techniques import FILE, Technique, main, markdown, read

TESTS = Path(__file__).parent
FOLDERS = ("search", "query", "index", "graph", "structured", "systems", "loops")
TECHNIQUES, HELPERS = read()

# What the package must hold, in the course's words, each with the entries that hold it.
COURSE = {
    "tokenise": ["Tokenising that keeps codes whole"],
    "sentence split": ["Sentence splitting"],
    "stem": ["Stemming"],
    "chunking: fixed": ["Chunks of fixed size"],
    "chunking: sentence": ["Chunks of whole sentences"],
    "chunking: parent/child": ["Parent and child"],
    "code chunks": ["Syntax-tree chunks of code", "Searching code"],
    "BM25": ["BM25 in five variants"],
    "dense index": ["Dense search"],
    "fusion: RRF": ["Reciprocal Rank Fusion"],
    "fusion: interleave": ["Interleaving"],
    "fusion: weighted": ["Weighted sums of aligned scores"],
    "rerank: cross-encoder": ["Cross-encoder", "A small trained cross-encoder head"],
    "rerank: pointwise": ["Pointwise reranking by a language model"],
    "rerank: listwise": ["Listwise reranking"],
    "rerank: query likelihood": ["Query likelihood"],
    "rerank: MaxSim": ["Late interaction (MaxSim)"],
    "query transforms: conversational": ["Conversational rewriting"],
    "query transforms: rewrite": ["Rewrite-retrieve-read", "A rewriter trained on the reader's reward"],
    "query transforms: multi-query": ["Multi-query with fusion"],
    "query transforms: step-back": ["Step-back"],
    "query transforms: decompose": ["Decomposition"],
    "query transforms: HyDE": ["HyDE"],
    "query transforms: Query2doc": ["Query2doc"],
    "multi-representation index": [
        "Many representations of one passage", "Summaries as representations", "Hypothetical questions (doc2query)",
    ],
    "contextual chunks": [
        "Contextual chunks", "The bill of contextual chunks, with a cached prefix",
        "Contexts for a stream of documents",
    ],
    "RAPTOR": ["RAPTOR: soft clusters", "RAPTOR: the tree, collapsed and level by level"],
    "GraphRAG: extract": ["GraphRAG: extraction, gleaning, claims"],
    "GraphRAG: merge": ["GraphRAG: merging entities, relations and claims", "Co-occurrence graph and its components"],
    "GraphRAG: communities by level": ["Communities: Louvain and Leiden", "Communities by level, rolled up"],
    "GraphRAG: reports": ["Community reports"],
    "GraphRAG: global": ["Global search: map-reduce and nearest summaries"],
    "GraphRAG: local": ["Local search"],
    "GraphRAG: DRIFT": ["DRIFT"],
    "dual-level keyword graph with incremental insert": [
        "Two-level keyword graph, kept up to date", "Two-level keyword search",
    ],
    "HippoRAG": [
        "HippoRAG", "Personalized PageRank", "Passages linked by the titles they mention", "Entities of a question",
    ],
    "multi-hop: iterative": ["Iterative decomposition"],
    "multi-hop: IRCoT": ["IRCoT", "Beam search over chains"],
    "Self-RAG": ["Self-RAG: gate and segment score", "Self-RAG: a beam over segments"],
    "CRAG": ["Corrective RAG"],
    "FLARE": ["FLARE"],
    "routing": [
        "A router by trained classifier", "A router by self-assessment", "A router by token uncertainty",
        "Calibration of a router", "A router that hands to specialists", "The router over everything",
    ],
    "agent loop with tools": [
        "The agent loop", "ReAct: reading a turn", "Tools: passages, outside collection, code, SQL",
        "A calculator for the agent", "A grammar under which a call always parses",
        "The loop in code for a small model", "Search-R1: transcripts, rewards and mask",
    ],
    "text-to-SQL": ["Text-to-SQL with repair", "A read-only connection with a role", "Execution accuracy"],
    "schema linking": ["Schema linking", "A schema as text"],
    "example retrieval": ["Retrieved question/SQL examples"],
    "cost model": ["Cost model: the price of a question", "Cost model: prefill arithmetic and key-value memory"],
    "Self-Route": ["Self-Route"],
    "edge ordering": ["Edge-weighted order", "Recency and reading order"],
    "caches": [
        "Embeddings and their cache", "Exact answer cache", "Semantic cache", "Semantic cache with a second gate",
        "Pairs that try a cache",
    ],
    "batched torch search": ["Batched search in PyTorch"],
    "metrics": [
        "Ranking metrics", "Answer metrics", "Bootstrap intervals", "Recall of themes and rank correlation",
        "A model as a judge of pairs, and its order bias",
    ],
    "benchmark readers": ["Benchmark readers", "Text-to-SQL benchmarks"],
    "models": ["Models: stand-in, recording, local, hosted", "Few-shot prompts for a base model"],
}  # fmt: skip


def resolve(dotted: str) -> Any:
    """What a dotted name stands for: the longest module in it is imported, the rest are attributes."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:cut])
        try:
            thing: Any = importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
                raise
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing
    raise ImportError(dotted)


@cache
def top_level(file: str) -> dict[str, ast.stmt]:
    """The statements of a test file at its top level, by the names that they define; nothing is run."""
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse((TESTS / file).read_text(encoding="utf-8")).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            found[statement.name] = statement
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found.update((node.id, statement) for t in targets for node in ast.walk(t) if isinstance(node, ast.Name))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname, statement) for alias in statement.names if alias.asname)
    return found


@cache
def words_of(file: str, name: str) -> frozenset[str]:
    """Every name that a definition of a test file speaks of, itself or through others of that file.

    Decorators count (parametrised cases, fixtures by their arguments), and so do the functions that it calls.
    """
    defined, words, waiting = top_level(file), set[str](), [name]
    while waiting:
        statement = defined.get(waiting.pop())
        for node in ast.walk(statement) if statement else ():
            match node:
                case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.alias(name=word):
                    if word not in words:
                        words.add(word)
                        waiting.append(word)
    return frozenset(words)


def public() -> dict[str, Any]:
    """Every function and class that the folders of techniques export, by dotted name."""
    found = {}
    for folder in FOLDERS:
        package = importlib.import_module(f"ragkit.{folder}")
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                found[f"ragkit.{folder}.{name}"] = thing
    return found


each = pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: t.name)


@each
def test_functions_and_parts_can_be_imported_and_belong_to_the_package(technique: Technique) -> None:
    for dotted in (*technique.functions, *technique.parts):
        thing = resolve(dotted)
        assert callable(thing), dotted
        assert getattr(thing, "__module__", "").startswith("ragkit."), dotted
        assert inspect.getdoc(thing), f"{dotted} says nothing about itself"


@each
def test_the_tests_named_exist_and_can_fail(technique: Technique) -> None:
    for test in technique.tests:
        file, _, name = test.partition("::")
        found = top_level(file).get(name)
        assert isinstance(found, ast.FunctionDef), f"{test} does not exist"
        checks = [n for n in ast.walk(found) if isinstance(n, ast.Assert)]
        called = {word for word in words_of(file, name) if word.startswith(("assert_", "check_", "raises"))}
        assert checks or called, f"{test} asserts nothing"


@each
def test_the_tests_named_reach_the_functions_they_are_named_for(technique: Technique) -> None:
    """Every function is spoken of by one of the tests, and every test speaks of a function or a part."""
    reached = {test: words_of(*test.split("::")) for test in technique.tests}
    for dotted in technique.functions:
        word = dotted.rpartition(".")[2]
        assert any(word in words for words in reached.values()), f"no test named for {technique.name} uses {dotted}"
    own = {dotted.rpartition(".")[2] for dotted in (*technique.functions, *technique.parts)}
    for test, words in reached.items():
        assert own & words, f"{test} uses nothing of {technique.name}"


def test_every_name_is_listed_once() -> None:
    names = [t.name for t in TECHNIQUES]
    assert len(set(names)) == len(names)
    listed = [dotted for t in TECHNIQUES for dotted in (*t.functions, *t.parts)] + [h.name for h in HELPERS]
    twice = {dotted for dotted in listed if listed.count(dotted) > 1}
    assert not twice, f"belongs to two techniques: {sorted(twice)}"


def test_everything_public_belongs_to_a_technique_or_is_a_helper_with_a_reason() -> None:
    listed = {id(resolve(dotted)) for t in TECHNIQUES for dotted in (*t.functions, *t.parts)}
    helpers = {id(resolve(helper.name)) for helper in HELPERS}
    homeless = [name for name, thing in public().items() if id(thing) not in listed | helpers]
    assert not homeless, f"add to tests/techniques.toml: {homeless}"
    assert len(HELPERS) < 10, "a long list of helpers hides techniques"


def test_every_module_of_the_folders_has_something_in_the_table() -> None:
    """Also what no ``__init__`` exports: a module without an entry would be a technique that nobody counted."""
    homes = {resolve(d).__module__ for t in TECHNIQUES for d in (*t.functions, *t.parts)}
    homes |= {resolve(helper.name).__module__ for helper in HELPERS}
    modules = {
        f"ragkit.{folder}.{info.name}"
        for folder in FOLDERS
        for info in pkgutil.iter_modules(importlib.import_module(f"ragkit.{folder}").__path__)
    }
    assert not modules - homes - WITHOUT_ENTRY.keys(), sorted(modules - homes - WITHOUT_ENTRY.keys())
    assert set(WITHOUT_ENTRY) <= modules - homes, "no longer needed in WITHOUT_ENTRY"


# Modules in which nothing is called by a reader: what two files of one technique share.
WITHOUT_ENTRY = {
    "ragkit.graph.replies": "JSON and numbers out of replies, for extraction, reports and searches",
}


def test_every_technique_of_the_course_has_an_entry_and_every_entry_a_place_in_the_course() -> None:
    names = {t.name for t in TECHNIQUES}
    wanted = [entry for entries in COURSE.values() for entry in entries]
    assert set(wanted) == names
    assert len(wanted) == len(names)
    assert all(COURSE.values())


def test_chapters_are_those_of_the_book() -> None:
    assert {t.chapter for t in TECHNIQUES} <= set(range(1, 24))
    assert set(range(2, 24)) - {t.chapter for t in TECHNIQUES} == set()


def test_the_table_prints_in_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--markdown"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(TECHNIQUES)
    assert all(line.count(" | ") == 5 for line in lines[2:])
    assert markdown(TECHNIQUES).splitlines() == lines
    main([])
    assert f"{len(TECHNIQUES)} techniques" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"oracle": ""}, "oracle is empty"),
        ({"tests": []}, "tests is empty"),
        ({"oracle": None}, "oracle"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_entry_that_lacks_a_field_or_has_one_too_many_is_named(
    tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    entry = {"name": "X", "chapter": 1, "source": "s", "functions": ["a.b"], "oracle": "o", "tests": ["t::u"], **change}
    body = "\n".join(f"{key} = {value!r}" for key, value in entry.items() if value is not None)
    file = tmp_path / "t.toml"
    file.write_text(f"helper = []\n[[technique]]\n{body}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        read(file)
    assert FILE.is_file()
