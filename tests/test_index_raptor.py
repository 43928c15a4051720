"""RAPTOR's tree worked by hand: summaries, both ways of searching it, budgets, and what the released code inverts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.index import raptor
from ragkit.index.raptor import Node, Raptor, cluster_prompt
from ragkit.text import count_tokens

ANGLES = {"a": 0, "b": 30, "c": 60, "d": 90, "S(a b)": 10, "S(b c d)": 70, "q": 0, "r": 90, "m": 45}
"""Text -> direction in degrees; the cosine of two texts is that of the angle between them."""


def embed(texts):
    angles = np.radians([ANGLES.get(text, 180) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32).reshape(-1, 2)


def summarise(prompt):
    body = prompt.split("Add nothing.\n\n")[1].split("\n\nSummary:")[0]
    return f"S({' '.join(body.split())})"


def never(prompt):
    pytest.fail("the model was called")


LEAVES = [Passage(name, name) for name in "abcd"]


@pytest.fixture
def tree(monkeypatch):
    """a and b under one summary, b, c and d under the other: b is in both clusters."""
    monkeypatch.setattr(raptor, "clusters", lambda vectors, tokens, **options: [(0, 1), (1, 2, 3)])
    return Raptor(LEAVES, embed, summarise, dimensions=1)


def ids(hits):
    return [hit.id for hit in hits]


def degrees(*angles):
    return pytest.approx([np.cos(np.radians(a)) for a in angles], abs=1e-6)


def test_the_tree_holds_leaves_and_summaries_layer_by_layer(tree):
    assert [[node.id for node in layer] for layer in tree.layers] == [list("abcd"), ["raptor-1-0", "raptor-1-1"]]
    low, high = tree.layers[1]
    assert low == Node("raptor-1-0", "S(a b)", 1, ("a", "b"), count_tokens("S(a b)"))
    assert (high.text, high.children) == ("S(b c d)", ("b", "c", "d"))
    assert tree.calls == 2
    assert tree.leaves("raptor-1-1") == ["b", "c", "d"]
    assert tree.leaves("a") == ["a"]


def test_the_collapsed_tree_ranks_all_layers_together(tree):
    hits = tree("q", 9)
    assert ids(hits) == ["a", "raptor-1-0", "b", "c", "raptor-1-1", "d"]
    assert [hit.score for hit in hits] == degrees(0, 10, 30, 60, 70, 90)
    assert hits[1].text == "S(a b)"
    assert ids(tree("q", 2)) == ["a", "raptor-1-0"]


def test_traversal_goes_down_from_the_top_and_never_sees_what_the_top_does_not_choose(tree):
    # q: top -> raptor-1-0 (10°), then of its children a (0°)
    assert ids(tree.traverse("q", 1)) == ["raptor-1-0", "a"]
    # m (45°): raptor-1-1 is at 25°, raptor-1-0 at 35°; of b, c, d the first two are 15° away each, a tie by position
    assert ids(tree.traverse("m", 1)) == ["raptor-1-1", "b"]
    assert ids(tree.traverse("m", 2)) == ["raptor-1-1", "raptor-1-0", "b", "c"]  # b once, though in both clusters
    wide = ids(tree.traverse("m", 3))[2:]  # a and d are 45° away both
    assert wide in (["b", "c", "d"], ["b", "c", "a"])
    assert ids(tree.traverse("q", 9, layers=1)) == ["raptor-1-0", "raptor-1-1"]
    assert ids(tree.traverse("r", 2, start=0)) == ["d", "c"]


def test_min_score_keeps_the_near_nodes_and_not_the_far_ones(tree):
    assert ids(tree.traverse("q", 9, min_score=0.9)) == ["raptor-1-0", "a"]  # cos 10° = 0.985, cos 30° = 0.866
    assert ids(tree.traverse("q", 9, min_score=0.8)) == ["raptor-1-0", "a", "b"]
    assert ids(tree.traverse("q", 1, min_score=0.99)) == []  # nothing at the top, so nothing below it


def test_the_budget_stops_at_the_first_node_that_does_not_fit_unless_told_to_skip(tree):
    one, summary = count_tokens("a"), count_tokens("S(a b)")
    assert summary > 2 * one
    assert ids(tree.collapsed("q", budget=one + summary - 1)) == ["a"]  # paper and code: break
    assert ids(tree.collapsed("q", budget=one + summary - 1, skip=True)) == ["a", "b", "c", "d"][:summary]
    assert ids(tree.collapsed("q", budget=one + summary)) == ["a", "raptor-1-0"]
    assert ids(tree.collapsed("q", k=3)) == ["a", "raptor-1-0", "b"]
    assert ids(tree.collapsed("q")) == ids(tree("q", 9))
    assert tree.collapsed("q", budget=0) == []
    assert tree.collapsed("q", k=0) == []


@given(st.integers(0, 40), st.booleans(), st.sampled_from("qrm"))
@settings(max_examples=50, deadline=None)
def test_the_collapsed_choice_is_the_greedy_one(budget, skip, query):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raptor, "clusters", lambda vectors, tokens, **options: [(0, 1), (1, 2, 3)])
        tree = Raptor(LEAVES, embed, summarise, dimensions=1)
    expected, spent = [], 0
    for an_id in ids(tree(query, 9)):
        if spent + tree.nodes[an_id].tokens > budget:
            if skip:
                continue
            break
        expected.append(an_id)
        spent += tree.nodes[an_id].tokens
    assert ids(tree.collapsed(query, budget, skip=skip)) == expected


def test_as_a_retriever_of_passages_summaries_unfold_into_their_leaves(tree):
    hits = tree.passages("q", 9)
    assert ids(hits) == ["a", "b", "c", "d"]
    assert [hit.score for hit in hits] == degrees(0, 10, 60, 70)  # b came with its summary, d with the other
    assert hits[1].text == "b"
    assert ids(tree.passages("q", 2)) == ["a", "b"]
    assert tree.passages("q", 0) == tree.passages(" ", 3) == []


def grouping(monkeypatch, size):
    """Clusters of ``size`` neighbours."""

    def cut(vectors, tokens, **options):
        return [tuple(range(i, min(i + size, len(tokens)))) for i in range(0, len(tokens), size)]

    monkeypatch.setattr(raptor, "clusters", cut)


def test_layers_go_on_until_few_nodes_are_left_or_the_bound_is_met(monkeypatch):
    grouping(monkeypatch, 2)
    passages = [Passage(f"p{i}", f"text {i}") for i in range(16)]
    full = Raptor(passages, embed, summarise, dimensions=1)
    assert [len(layer) for layer in full.layers] == [16, 8, 4, 2]  # 2 = dimensions + 1 ends it
    assert full.calls == 14
    assert full.leaves("raptor-3-1") == [f"p{i}" for i in range(8, 16)]
    assert [len(layer) for layer in Raptor(passages, embed, summarise, dimensions=1, max_layers=1).layers] == [16, 8]
    assert [len(layer) for layer in Raptor(passages, embed, never, max_layers=0).layers] == [16]


def test_clusters_that_do_not_shrink_the_layer_end_the_tree_without_a_call(monkeypatch):
    grouping(monkeypatch, 1)
    tree = Raptor(LEAVES, embed, never, dimensions=1)
    assert len(tree.layers) == 1


def test_at_most_dimensions_plus_one_passages_make_no_summaries():
    tree = Raptor(LEAVES, embed, never)
    assert len(tree.layers) == 1
    assert ids(tree.traverse("q", 2)) == ids(tree("q", 2)) == ["a", "b"]


def test_an_empty_reply_is_replaced_by_the_head_of_the_cluster(monkeypatch):
    grouping(monkeypatch, 2)
    tree = Raptor(LEAVES, embed, lambda prompt: " \n", dimensions=1)
    assert [node.text for node in tree.layers[1]] == ["a\n\nb", "c\n\nd"]


def test_a_text_longer_than_the_limit_enters_the_prompt_cut(monkeypatch):
    grouping(monkeypatch, 3)
    seen = []

    def llm(prompt):
        seen.append(prompt)
        return "S"

    long = " ".join(f"Sentence number {i} is here." for i in range(50))
    Raptor([Passage("x", long), *LEAVES], embed, llm, dimensions=1, token_limit=30)
    assert "Sentence number 0 is here." in seen[0]
    assert "Sentence number 49" not in seen[0]
    assert count_tokens(seen[0]) <= 30 + count_tokens(cluster_prompt(["a", "b"]))


def test_duplicate_passages_are_two_leaves():
    tree = Raptor([Passage("x", "a"), Passage("y", "a")], embed, never)
    assert ids(tree("q", 5)) == ["x", "y"]


def test_nothing_in_nothing_out_and_blank_queries_find_nothing(tree):
    empty = Raptor([], embed, never)
    assert empty("q", 3) == empty.collapsed("q") == empty.traverse("q", 3) == empty.passages("q", 3) == []
    assert empty.layers == []
    assert tree("  ", 3) == tree.collapsed("") == tree.traverse(" ", 3) == []


def test_real_clusters_over_real_vectors_make_a_tree_that_reaches_every_leaf():
    rng = np.random.default_rng(0)
    centre = {"kettle": rng.normal(size=24), "store": rng.normal(size=24), "fund": rng.normal(size=24)}
    noise = {}

    def embed(texts):
        rows = []
        for text in texts:
            known = [centre[word] for word in centre if word in text]
            noise.setdefault(text, rng.normal(size=24) * 0.3)
            rows.append(np.sum(known, axis=0) + noise[text] if known else noise[text])
        rows = np.array(rows).reshape(-1, 24)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    passages = [Passage(f"{word}/{i}", f"{word} number {i}") for word in centre for i in range(12)]
    tree = Raptor(
        passages,
        embed,
        lambda prompt: "about " + max(centre, key=prompt.count),
        dimensions=3,
        max_components=5,
    )
    assert len(tree.layers) >= 2
    top = tree.layers[-1]
    assert {leaf for node in top for leaf in tree.leaves(node.id)} == {p.id for p in passages}
    assert all(hit.id.startswith("kettle") for hit in tree.passages("kettle", 5))


def test_the_prompt_survives_braces_and_dollars_and_bad_arguments_are_named(tree):
    nasty = 'Costs $5, {x}, "$passages".'
    assert nasty in cluster_prompt([nasty, "b"])
    cases = [
        (lambda: cluster_prompt(["a"], 0), "words"),
        (lambda: Raptor(LEAVES, embed, never, max_layers=-1), "max_layers"),
        (lambda: Raptor([LEAVES[0], LEAVES[0]], embed, never), "passages"),
        (lambda: tree.collapsed("q", -1), "budget"),
        (lambda: tree.collapsed("q", k=-1), "k must"),
        (lambda: tree.traverse("q", -1), "k must"),
        (lambda: tree.traverse("q", 1, start=2), "start"),
        (lambda: tree.traverse("q", 1, layers=3), "layers"),
    ]
    for call, name in cases:
        with pytest.raises(ValueError, match=f"^{name}"):
            call()


def test_a_passage_under_a_summarys_id_is_refused(monkeypatch):
    grouping(monkeypatch, 2)
    with pytest.raises(ValueError, match="raptor-1-0"):
        Raptor([Passage("raptor-1-0", "a"), *LEAVES], embed, summarise, dimensions=1)


def test_clusters_found_before_make_the_same_tree_and_nothing_is_clustered(monkeypatch):
    grouping(monkeypatch, 2)
    passages = [Passage(f"p{i}", f"text {i}") for i in range(16)]
    tree = Raptor(passages, embed, summarise, dimensions=1)
    monkeypatch.setattr(raptor, "clusters", never)
    again = Raptor(passages, embed, summarise, groups=tree.groups)
    assert again.layers == tree.layers
    assert len(Raptor(passages, embed, summarise, groups=tree.groups[:1]).layers) == 2
    assert len(Raptor(passages, embed, never, groups=[]).layers) == 1
    assert Raptor([], embed, never, groups=[]).layers == []
    soft = [[("p0", "p1"), ("p1", "p2")]]
    assert [node.children for node in Raptor(passages[:3], embed, summarise, groups=soft).layers[1]] == soft[0]
    for groups in ([[("p0", "p99")]], [[()]]):
        with pytest.raises(ValueError, match=r"^groups"):
            Raptor(passages, embed, never, groups=groups)
