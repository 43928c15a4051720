"""Community reports: what a model writes about each community, from the bottom of the hierarchy up.

GraphRAG, Edge et al., 2024, section 2.5: the relations of a community are listed with their entities and claims, the
best connected first, until a token budget is full; where a community does not fit, the reports of its sub-communities
stand in for their raw content, largest first. Prompts are ours. Left out: the citations of record ids inside a
report, and the separate ranking of findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragkit.base import LLM
from ragkit.graph.communities import Community
from ragkit.graph.merge import KnowledgeGraph
from ragkit.graph.replies import cut_to_tokens, json_objects, read_score
from ragkit.text import count_tokens, fill

PROMPT = """\
These notes describe a group of related things. Write a report about the group, from the notes alone.

Reply with one JSON object:
{"title": "a short name for the group", "summary": "two or three sentences", "rating": 0 to 10 for importance,
 "findings": [{"summary": "one finding", "explanation": "what the notes say about it"}]}

Notes:
${notes}
"""


class Report(NamedTuple):
    """``community`` is the community's id, ``rating`` 0 to 10 (0.0 where unreadable), ``text`` the whole report."""

    community: int
    level: int
    title: str
    summary: str
    rating: float
    text: str


def report_prompt(notes: str) -> str:
    """The prompt for one community, from ``community_notes``."""
    return fill(PROMPT, notes=notes)


def community_notes(
    graph: KnowledgeGraph, members: Sequence[str], budget: int, sub_reports: Sequence[tuple[Sequence[str], str]] = ()
) -> str:
    """Entities, relations and claims among ``members`` as lines, within ``budget`` tokens.

    Relations come by the degrees of their ends together, then by weight, then by name, each preceded by its
    entities and their claims; entities without a relation inside follow. ``sub_reports`` pairs the members of each
    sub-community with its report: while the lines do not fit, the next largest sub-community's own lines give way
    to its report. What still does not fit is left out, from the first line that overflows.
    """
    if budget < 0:
        raise ValueError(f"budget must be at least 0, got {budget}")
    lines = _lines(graph, members)
    if _tokens(lines) <= budget:
        return "\n".join(lines)
    texts: list[str] = []
    covered: set[str] = set()
    for sub_members, text in sorted(sub_reports, key=lambda pair: (-len(pair[0]), min(pair[0], default=""))):
        texts.append(f"report: {text}")
        covered.update(sub_members)
        lines = _lines(graph, members, covered)
        if _tokens(texts + lines) <= budget:
            break
    return "\n".join(_fit(texts + lines, budget))


def _lines(graph: KnowledgeGraph, members: Sequence[str], covered: Iterable[str] = ()) -> list[str]:
    """The community's lines; what lies wholly inside ``covered`` nodes is left to their reports."""
    inside, hidden = set(members), set(covered)
    degree = {key: len(graph_neighbours) for key, graph_neighbours in graph.adjacency.items()}
    edges = [e for (a, b), e in graph.edges.items() if {a, b} <= inside and not {a, b} <= hidden]
    edges.sort(key=lambda e: (-(degree[e.a] + degree[e.b]), -e.weight, e.a, e.b))
    lines: dict[str, None] = {}  # a dict keeps the order and drops an entity's second appearance
    for edge in edges:
        for key in (edge.a, edge.b):
            lines.update(dict.fromkeys(entity_lines(graph, key)))
        lines[relation_line(graph, edge.a, edge.b)] = None
    for key in sorted(inside - hidden, key=lambda key: (-degree.get(key, 0), key)):
        lines.update(dict.fromkeys(entity_lines(graph, key)))
    return list(lines)


def entity_lines(graph: KnowledgeGraph, key: str) -> list[str]:
    """One line for an entity and one for each claim about it; an unknown key gives ``[]``."""
    if key not in graph.nodes:
        return []
    node = graph.nodes[key]
    claims = [f"claim: {node.name}: {c.description} ({c.status})" for c in graph.claims_of.get(key, [])]
    return [f"entity: {node.name} ({node.type}): {node.description}".rstrip(": "), *claims]


def relation_line(graph: KnowledgeGraph, a: str, b: str) -> str:
    """One line for the edge between the keys ``a < b``; no arrow, since the graph knows no direction."""
    edge = graph.edges[a, b]
    return f"relation: {graph.nodes[a].name} -- {graph.nodes[b].name}: {edge.description}".rstrip(": ")


def _tokens(lines: Sequence[str]) -> int:
    return sum(count_tokens(line) for line in lines)  # line breaks are no word pieces


def _fit(lines: Sequence[str], budget: int) -> list[str]:
    """Lines up to the first overflow; if that is the very first, as much of it as fits."""
    kept: list[str] = []
    left = budget
    for line in lines:
        left -= count_tokens(line)
        if left < 0:
            break
        kept.append(line)
    return kept or [cut_to_tokens(lines[0], budget)]


def read_report(reply: str, community: Community, graph: KnowledgeGraph) -> Report:
    """The report in a model's reply.

    Where the reply holds no JSON object with a title or a summary, its plain text becomes the summary, the title
    is made of the community's first names, and the rating is 0.0: a badly formatted report still informs.
    """
    for found in json_objects(reply):
        title, summary = str(found.get("title") or "").strip(), str(found.get("summary") or "").strip()
        if title or summary:
            rating = read_score(found.get("rating"), scale=10.0)
            text = "\n".join([title, summary, *_findings(found.get("findings"))]).strip()
            return Report(
                community.id, community.level, title or _names(graph, community), summary, rating or 0.0, text
            )
    title, summary = _names(graph, community), reply.strip()
    return Report(community.id, community.level, title, summary, 0.0, f"{title}\n{summary}".strip())


def _findings(found: object) -> list[str]:
    lines = []
    for item in found if isinstance(found, list) else []:
        parts = [item.get("summary"), item.get("explanation")] if isinstance(item, dict) else [item]
        if text := ": ".join(str(part).strip() for part in parts if part):
            lines.append(f"- {text}")
    return lines


def _names(graph: KnowledgeGraph, community: Community) -> str:
    return ", ".join(graph.nodes[key].name for key in community.members[:3] if key in graph.nodes)


def notes_for(
    graph: KnowledgeGraph,
    communities: Sequence[Community],
    community: Community,
    reports: Mapping[int, Report],
    budget: int = 3000,
) -> str:
    """The notes of one community, its sub-communities' ``reports`` (by id) standing ready."""
    below = [(c.members, reports[c.id].text) for c in communities if c.parent == community.id and c.id in reports]
    return community_notes(graph, community.members, budget, below)


def build_reports(
    graph: KnowledgeGraph, communities: Sequence[Community], llm: LLM, budget: int = 3000, min_size: int = 1
) -> list[Report]:
    """One call a community of at least ``min_size`` members, deepest level first; reports in the order of ids.

    ``communities`` come from ``hierarchy`` on the graph's weights and nodes. The bill is ``len(communities)`` calls
    of at most ``budget`` tokens and the prompt each; no communities, no calls.
    """
    reports: dict[int, Report] = {}
    for community in sorted(communities, key=lambda c: (-c.level, c.id)):
        if len(community.members) >= min_size:
            notes = notes_for(graph, communities, community, reports, budget)
            reports[community.id] = read_report(llm(report_prompt(notes)), community, graph)
    return [reports[key] for key in sorted(reports)]
