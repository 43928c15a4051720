"""Global search: questions about the whole corpus, answered from community reports.

Two modes. *Nearest summaries* embeds the question and reads the ``k`` closest reports: cheap, and blind to whatever
is not close. *Map-reduce* (GraphRAG, Edge et al., 2024, section 2.6) reads all reports of a level: shuffled with a
seed, packed into batches; for each batch the model names points and scores their helpfulness from 0 to 100; points
of score 0 go, the rest are sorted and packed into one last prompt.

Unlike two published versions: a score such as "85.5" loses one point at worst, never its batch; and a report longer
than the budget is cut, so packing always ends. Left out: parallel calls (the map calls are independent: run them in
a pool), and dynamic selection of communities.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragkit.base import LLM, Embedder, check_k, top_k
from ragkit.graph.replies import cut_to_tokens, json_objects, read_score
from ragkit.graph.reports import Report
from ragkit.text import count_tokens, fill

MAP_PROMPT = """\
Below are reports about parts of a collection. List the points in them that help to answer the question, each with
a score from 0 (no help) to 100 (answers it). If nothing helps, give an empty list.

Reply with one JSON object:
{"points": [{"description": "a point", "score": 0 to 100}]}

Question: ${question}

Reports:
${reports}
"""
REDUCE_PROMPT = """\
Answer the question from these points, which several readers of a large collection noted, the most helpful first.
Merge points that say the same. Add nothing that the points do not hold.

Question: ${question}

Points:
${points}
"""
NEAREST_PROMPT = """\
Answer the question from these reports about parts of a collection. Add nothing that the reports do not hold.

Question: ${question}

Reports:
${reports}
"""
NO_ANSWER = "The collection holds nothing that answers this question."
_SEPARATOR = "\n\n---\n\n"


class Point(NamedTuple):
    """One point of a map reply, its score from 0 to 100, and the number of its batch."""

    description: str
    score: float
    batch: int


@dataclass(frozen=True, slots=True)
class GlobalAnswer:
    """``answer`` with its trace.

    ``batches`` holds the community ids read in each map call; ``points`` all points above 0, best first; ``used`` how
    many of them were in the last prompt; ``unread`` the batches whose reply had no readable list of points; ``calls``
    the calls to the model.
    """

    answer: str
    points: tuple[Point, ...] = ()
    used: int = 0
    batches: tuple[tuple[int, ...], ...] = ()
    unread: tuple[int, ...] = ()
    calls: int = 0


def map_prompt(question: str, batch: Sequence[str]) -> str:
    """The prompt for one batch of report texts."""
    return fill(MAP_PROMPT, question=question, reports=_SEPARATOR.join(batch))


def reduce_prompt(question: str, points: Sequence[Point]) -> str:
    """The last prompt: the points that fitted, with their scores."""
    return fill(REDUCE_PROMPT, question=question, points="\n".join(_line(point) for point in points))


def nearest_prompt(question: str, reports: Sequence[Report]) -> str:
    """The prompt of the nearest-summaries mode."""
    return fill(NEAREST_PROMPT, question=question, reports=_SEPARATOR.join(report.text for report in reports))


def _line(point: Point) -> str:
    return f"- ({point.score:g}) {point.description}"


def nearest_reports(question: str, reports: Sequence[Report], embed: Embedder, k: int) -> list[Report]:
    """The ``k`` reports whose title and summary lie closest to the question, ties by position."""
    check_k(k)
    if not reports or not question.strip() or k == 0:
        return []
    vectors = embed([f"{report.title}\n{report.summary}" for report in reports])
    return [reports[i] for i in top_k(vectors @ embed([question])[0], k)]


def nearest_summaries(question: str, reports: Sequence[Report], embed: Embedder, llm: LLM, k: int = 5) -> GlobalAnswer:
    """Answer from the ``k`` nearest reports, in one call; without reports the canned answer, in none."""
    near = nearest_reports(question, reports, embed, k)
    if not near:
        return GlobalAnswer(NO_ANSWER)
    ids = tuple(report.community for report in near)
    return GlobalAnswer(llm(nearest_prompt(question, near)).strip(), batches=(ids,), calls=1)


def batches(reports: Sequence[Report], budget: int, seed: int = 0) -> list[list[tuple[int, str]]]:
    """Reports as (community id, text), shuffled, then packed in turn into batches of at most ``budget`` tokens.

    Separators count. A report that is longer than the whole budget is cut to it and has a batch of its own.
    """
    if budget < 1:
        raise ValueError(f"budget must be at least 1, got {budget}")
    shuffled = list(reports)
    random.Random(seed).shuffle(shuffled)
    between = count_tokens(_SEPARATOR)
    packed: list[list[tuple[int, str]]] = []
    left = 0
    for report in shuffled:
        text = cut_to_tokens(report.text, budget)
        need = count_tokens(text)
        if packed and need + between <= left:
            packed[-1].append((report.community, text))
            left -= need + between
        else:
            packed.append([(report.community, text)])
            left = budget - need
    return packed


def read_points(reply: str, batch: int) -> list[Point] | None:
    """The points of a map reply, score 0 and unreadable scores dropped; None if it holds no list of points.

    Fences and prose around the JSON, "85.5", "85%" and a reply cut off after some points are read.

    >>> read_points('Here: {"points": [{"description": "Lids leak", "score": "85%"}]}', batch=0)
    [Point(description='Lids leak', score=85.0, batch=0)]
    """
    found: list[object] = []
    readable = False
    for value in json_objects(reply):
        if isinstance(value.get("points"), list):
            readable = True
            found.extend(value["points"])
        elif "description" in value and "score" in value:  # a point from a reply that was cut off
            readable = True
            found.append(value)
    points = []
    for item in found:
        if isinstance(item, dict) and (text := str(item.get("description") or "").strip()):
            score = read_score(item.get("score"))
            if score:
                points.append(Point(text, score, batch))
    return points if readable else None


def pack(points: Sequence[Point], budget: int) -> list[Point]:
    """Points in order while their lines fit, stopping at the first that does not.

    The very first is cut to the budget if need be, so that a question with points is never answered from none.
    """
    kept: list[Point] = []
    left = budget
    for point in points:
        left -= count_tokens(_line(point))
        if left < 0:
            break
        kept.append(point)
    if points and not kept:
        room = budget - count_tokens(_line(points[0]._replace(description="")))
        kept = [points[0]._replace(description=cut_to_tokens(points[0].description, max(room, 1)))]
    return kept


def map_reduce(
    question: str, reports: Sequence[Report], llm: LLM, budget: int = 3000, reduce_budget: int = 2000, seed: int = 0
) -> GlobalAnswer:
    """Answer from all ``reports`` (those of one level, see ``communities.at_level``).

    One call a batch of ``budget`` tokens and one to reduce. If no point is above 0, or there are no reports or no
    question, the answer is ``NO_ANSWER``, without a reduce call. Ties between scores keep the order of the batches.
    """
    if reduce_budget < 1:
        raise ValueError(f"reduce_budget must be at least 1, got {reduce_budget}")
    packed = batches(reports, budget, seed) if question.strip() else []
    points: list[Point] = []
    unread = []
    for number, batch in enumerate(packed):
        found = read_points(llm(map_prompt(question, [text for _, text in batch])), number)
        if found is None:
            unread.append(number)
        points.extend(found or [])
    points.sort(key=lambda point: -point.score)  # stable
    used = pack(points, reduce_budget)
    answer = llm(reduce_prompt(question, used)).strip() if used else NO_ANSWER
    ids = tuple(tuple(community for community, _ in batch) for batch in packed)
    return GlobalAnswer(answer, tuple(points), len(used), ids, tuple(unread), len(packed) + bool(used))
