"""Community reports: notes within a budget, substitution by sub-reports, and reading replies."""

from __future__ import annotations

import json

import pytest

from ragkit.graph.communities import Community, hierarchy
from ragkit.graph.extract import Claim, Entity, Extraction, Relation
from ragkit.graph.merge import merge
from ragkit.graph.reports import Report, build_reports, community_notes, notes_for, read_report, report_prompt
from ragkit.text import count_tokens

GRAPH = merge(
    {
        "p": Extraction(
            (
                Entity("Hub", "place", "the middle"),
                Entity("A", "person", "first"),
                Entity("Alone", "person", "no links"),
            ),
            (
                Relation("Hub", "A", "hosts A", 1.0),
                Relation("Hub", "B", "hosts B", 5.0),
                Relation("A", "B", "knows", 1.0),
                Relation("Hub", "Outside", "not of the group", 9.0),
            ),
            (Claim("A", "NONE", "prize", "TRUE", "", "", "A won a prize"),),
        )
    }
)
MEMBERS = ["a", "alone", "b", "hub"]
LINES = [
    "entity: B (unknown)",
    "entity: Hub (place): the middle",
    "relation: B -- Hub: hosts B",
    "entity: A (person): first",
    "claim: A: A won a prize (TRUE)",
    "relation: A -- Hub: hosts A",
    "relation: A -- B: knows",
    "entity: Alone (person): no links",
]


def test_notes_list_the_best_connected_relations_first_with_entities_and_claims_and_no_arrow() -> None:
    notes = community_notes(GRAPH, MEMBERS, budget=1000).splitlines()
    assert notes == LINES
    assert not any("->" in line for line in notes)  # an undirected graph knows no direction


def test_notes_stop_at_the_first_line_that_overflows() -> None:
    budget = sum(count_tokens(line) for line in LINES[:3])
    assert community_notes(GRAPH, MEMBERS, budget).splitlines() == LINES[:3]
    assert community_notes(GRAPH, MEMBERS, budget + 1).splitlines() == LINES[:3]


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_a_first_line_longer_than_the_budget_is_cut(budget: int) -> None:
    notes = community_notes(GRAPH, MEMBERS, budget)
    assert count_tokens(notes) <= budget
    assert LINES[0].startswith(notes)


def test_the_largest_sub_communitys_report_stands_in_when_the_notes_do_not_fit() -> None:
    subs = [(["alone"], "about Alone"), (["a", "b"], "about A and B")]
    full = sum(count_tokens(line) for line in LINES)
    assert community_notes(GRAPH, MEMBERS, full, subs).splitlines() == LINES
    notes = community_notes(GRAPH, MEMBERS, full - 1, subs).splitlines()
    assert notes[0] == "report: about A and B"
    assert "relation: A -- B: knows" not in notes
    assert "relation: A -- Hub: hosts A" in notes
    assert "report: about Alone" not in notes  # one replacement was enough


def test_empty_communities_and_unknown_members_give_empty_notes() -> None:
    assert community_notes(GRAPH, [], 100) == ""
    assert community_notes(GRAPH, ["nobody"], 100) == ""
    with pytest.raises(ValueError, match="budget"):
        community_notes(GRAPH, MEMBERS, -1)


GROUP = Community(7, 1, 0, ("a", "b", "hub"))


def test_a_report_is_read_from_json_in_fences() -> None:
    found = {
        "title": "T",
        "summary": "S.",
        "rating": "8/10",
        "findings": [{"summary": "f", "explanation": "e"}, "plain"],
    }
    report = read_report(f"Here:\n```json\n{json.dumps(found)}\n```", GROUP, GRAPH)
    assert report == Report(7, 1, "T", "S.", 8.0, "T\nS.\n- f: e\n- plain")


def test_a_reply_without_json_becomes_the_summary() -> None:
    assert read_report("They all meet.", GROUP, GRAPH) == Report(
        7, 1, "A, B, Hub", "They all meet.", 0.0, "A, B, Hub\nThey all meet."
    )
    assert read_report('{"points": []} x', GROUP, GRAPH).summary == '{"points": []} x'
    assert read_report('{"title": "T", "rating": "high"}', GROUP, GRAPH).rating == 0.0


def test_reports_are_written_bottom_up_and_returned_by_id() -> None:
    parent = Community(0, 0, -1, ("a", "alone", "b", "hub"))
    children = [Community(1, 1, 0, ("a", "b")), Community(2, 1, 0, ("alone",))]
    prompts: list[str] = []

    def llm(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps({"title": f"R{len(prompts)}", "summary": "s", "rating": 5})

    budget = sum(count_tokens(line) for line in LINES) - 1
    reports = build_reports(GRAPH, [parent, *children], llm, budget)
    assert [(r.community, r.title) for r in reports] == [(0, "R3"), (1, "R1"), (2, "R2")]
    done = {r.community: r for r in reports}
    assert prompts[2] == report_prompt(notes_for(GRAPH, [parent, *children], parent, done, budget))
    assert "report: R1" in prompts[2]
    assert len(build_reports(GRAPH, [parent, *children], llm, budget, min_size=2)) == 2


def test_no_communities_no_calls() -> None:
    def refuse(prompt: str) -> str:
        raise AssertionError(prompt)

    assert build_reports(merge({}), hierarchy({}), refuse) == []
