"""The two levels of keywords of a question, one prompt a question, and the index that the chapter searches with them.

The index is built from the hand extraction that GraphRAG and HippoRAG stand on: its prompt asks for no keywords of a
relation, so the themes of a relation are the words of its description (``keyed``). The keywords of questions are
recorded for three classes with names in them, for whole-corpus questions that documents answer, and for single facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragkit import corpus
from ragkit.base import Embedder, Passage
from ragkit.corpus import Question
from ragkit.graph.communities import at_level, hierarchy
from ragkit.graph.extract import Extraction, continue_prompt, extract_all, extraction_prompt
from ragkit.graph.keyword_extract import KeyedExtraction, keyed
from ragkit.graph.keyword_graph import KeywordGraph, Update
from ragkit.graph.keyword_query import keywords_prompt
from ragkit.graph.merge import KnowledgeGraph, merge
from ragkit.graph.reports import build_reports
from ragkit.models import Metered, Recording, StandIn
from ragkit.models.recording_tasks import Settings
from ragkit.recorded import graphrag
from ragkit.text import count_tokens

CLASSES = ("relational", "fragmented_entity", "multi_hop", "theme", "single_fact")
"""The classes whose questions are recorded."""


def questions() -> list[Question]:
    """Their questions that have relevant passages, class by class in the order of the corpus."""
    world = corpus.load()
    return [question for cls in CLASSES for question in world.select(cls=cls) if question.relevant]


def query_keywords() -> Iterator[tuple[str, str]]:
    """Question id and prompt."""
    for question in questions():
        yield question.id, keywords_prompt(question.text)


@lru_cache(maxsize=1)
def records() -> Mapping[str, Extraction]:
    """Passage id -> the hand extraction of each passage of a document."""
    return extract_all(corpus.load().passages, Recording("extraction"))


@lru_cache(maxsize=1)
def extractions() -> Mapping[str, KeyedExtraction]:
    """The same in the shape that the keyword graph takes."""
    return {passage: keyed(extraction) for passage, extraction in records().items()}


def graph(embed: Embedder, without: tuple[Passage, ...] = ()) -> KeywordGraph:
    """A new keyword graph over the hand extraction, but for the passages ``without``."""
    built, left_out = KeywordGraph(embed), {passage.id for passage in without}
    built.insert_all({name: found for name, found in extractions().items() if name not in left_out})
    return built


class Step(NamedTuple):
    """What one step of an index asks of a model: calls, tokens read and tokens written."""

    name: str
    calls: int
    read: int
    written: int

    def price(self, a_million_read: float, a_million_written: float) -> float:
        """What the tokens cost at these prices.

        >>> Step("extraction", 10, 2_000_000, 500_000).price(1, 4)
        4.0
        """
        return (self.read * a_million_read + self.written * a_million_written) / 1e6


SUMMARY_TOKENS = 300
"""Descriptions of one name longer than this are condensed by a model; `merge` has the same default."""


def bill(
    passages: Sequence[Passage],
    max_size: int = graphrag.MAX_SIZE,
    min_size: int = graphrag.MIN_SIZE,
    level: int | None = graphrag.LEVEL,
) -> list[Step]:
    """The bill of a GraphRAG index over ``passages``, step by step, without a call.

    By default reports are written as in chapter 10; with no ``level`` the communities of all levels get one.

    Every prompt is the one that the code would send, counted. Extraction has the tokens of the hand answers; a report
    and a summary are taken to be as long as a hand report is on average, and as `SUMMARY_TOKENS` allows. A round of
    gleaning reads its whole prompt and is taken to find nothing (its answer is the mark of completion): a lower bound.
    """
    reader = Metered(Recording("extraction"))
    found = extract_all(passages, reader)
    answers = {p.id: reader.llm(extraction_prompt(p.full_text)) for p in passages}
    again = [continue_prompt(extraction_prompt(p.full_text), answers[p.id]) for p in passages]
    condenser, writer = (Metered(StandIn(lambda prompt: "")) for _ in range(2))
    merge(found, condenser, SUMMARY_TOKENS)
    graph = merge(found)
    levels = hierarchy(graph.weights, graph.nodes, max_size)
    used = levels if level is None else at_level(levels, level)
    build_reports(graph, used, writer, graphrag.NOTES_BUDGET, min_size)
    return [
        Step("extraction", reader.calls, reader.prompt_tokens, reader.completion_tokens),
        Step("one gleaning", len(again), sum(map(count_tokens, again)), len(again) * count_tokens("<|COMPLETE|>")),
        Step("long descriptions", condenser.calls, condenser.prompt_tokens, condenser.calls * SUMMARY_TOKENS),
        Step("reports", writer.calls, writer.prompt_tokens, writer.calls * report_tokens()),
    ]


@lru_cache(maxsize=1)
def report_tokens() -> int:
    """Tokens of a report of the hand recording, on average."""
    replies = [record.response for record in Recording("reports").records if record.answerer == "hand"]
    return round(sum(map(count_tokens, replies)) / len(replies))


def divided(graph: KnowledgeGraph) -> set[tuple[str, ...]]:
    """The members of each community that gets a report, as chapter 10 divides the graph."""
    levels = hierarchy(graph.weights, graph.nodes, graphrag.MAX_SIZE)
    return {c.members for c in at_level(levels, graphrag.LEVEL) if len(c.members) >= graphrag.MIN_SIZE}


def before(passages: Iterable[Passage]) -> KnowledgeGraph:
    """GraphRAG's graph as it was before these passages came."""
    left_out = {passage.id for passage in passages}
    return merge({name: found for name, found in records().items() if name not in left_out})


def touched(division: Iterable[Sequence[str]], updates: Iterable[Update]) -> int:
    """How many communities of a division that is kept have a member among the names that the updates changed or tied.

    A name that is new joins the community of a name it is tied to, so an edge touches the communities of both ends.
    """
    items = {item for update in updates for item in (*update.added, *update.changed, *update.removed)}
    names = {name for item in items for name in ((item,) if isinstance(item, str) else item)}
    return sum(not names.isdisjoint(members) for members in division)


TASKS = {"query_keywords": query_keywords}

SETTINGS = {"query_keywords": Settings(max_tokens=96)}
