"""RAPTOR's clusters against scikit-learn's own BIC and its formula; membership, recursion, bounds, tiny inputs."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from ragkit.index import raptor_clusters as rc

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def blobs(n_each, centres, spread=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, spread, (n_each, len(centre))) for centre in centres])


CORNERS = [(0.0, 0.0), (0.0, 5.0), (5.0, 0.0)]


@pytest.mark.parametrize("seed", range(3))
def test_the_mixture_is_the_one_with_scikit_learns_least_bic(seed):
    points = np.random.default_rng(seed).normal(size=(40, 2)) * (1 + 3 * (np.arange(40) % 3))[:, None]
    bics = [GaussianMixture(n, random_state=rc.SEED).fit(points).bic(points) for n in range(1, 5)]
    assert rc.mixture(points, 4).n_components == 1 + int(np.argmin(bics))


def test_bic_is_minus_twice_the_log_likelihood_plus_parameters_times_log_n():
    points = blobs(20, CORNERS)
    fit = rc.mixture(points, 5)
    n, d = points.shape
    k = fit.n_components
    parameters = (k - 1) + k * d + k * d * (d + 1) // 2
    assert fit.bic(points) == pytest.approx(-2 * fit.score(points) * n + parameters * np.log(n))


def test_the_largest_number_of_components_is_tried_too():
    points = blobs(20, CORNERS)
    assert rc.mixture(points, 3).n_components == 3  # a range that leaves out its end would stop at 2
    assert rc.mixture(points, 9).n_components == 3
    assert rc.mixture(points, 1).n_components == 1
    with pytest.raises(ValueError, match="max_components"):
        rc.mixture(points, 0)


def test_components_never_outnumber_the_distinct_points():
    assert rc.mixture(np.ones((12, 2)), 5).n_components == 1
    assert rc.mixture(np.array([[0.0], [1.0]] * 6), 5).n_components <= 2


def test_a_text_joins_every_component_above_the_threshold():
    table = [[0.85, 0.15, 0.0], [0.9, 0.1, 0.0], [0.05, 0.05, 0.9]]
    assert rc.members(table, 0.1) == [[0, 1], [0], [2]]  # 0.1 itself is not above
    assert rc.members(table, 0.5) == [[0, 1], [], [2]]


def test_a_text_that_passes_nowhere_joins_its_best_component_instead_of_vanishing():
    table = np.full((1, 12), 1 / 12)
    table[0, 7] += 1e-6
    assert [i for i, group in enumerate(rc.members(table, 0.1)) if group] == [7]


def test_separate_blobs_come_out_as_they_were_made_and_the_middle_belongs_to_both():
    # in one dimension of size 1: two groups of 30, and one point between them
    left, right = np.random.default_rng(1).normal(-2, 1, 60), np.random.default_rng(2).normal(2, 1, 60)
    points = np.concatenate([left, right, [0.0]])[:, None]
    fit = rc.mixture(points, 4)
    assert fit.n_components == 2
    one, other = rc.members(fit.predict_proba(points))
    assert 120 in one
    assert 120 in other

    found = rc.clusters(blobs(20, CORNERS), [1] * 60, dimensions=2, max_components=5)
    assert sorted(i for group in found for i in group) == list(range(60))
    for group in found:
        assert len({i // 20 for i in group}) == 1  # no cluster spans two blobs


def test_clusters_are_found_globally_and_then_again_inside_each():
    seen = []

    def reduce(vectors, dimensions, is_global, seed):
        seen.append((len(vectors), is_global))
        return rc.pca(vectors, dimensions, is_global, seed)

    rc.clusters(blobs(20, CORNERS), [1] * 60, dimensions=2, max_components=4, reduce=reduce)
    assert seen[0] == (60, True)
    assert seen[1:] == [(20, False)] * 3


def test_the_recursion_keeps_the_callers_dimensions_threshold_and_reducer(monkeypatch):
    asked = []
    members = rc.members

    def spy(probabilities, threshold):
        asked.append(threshold)
        return members(probabilities, threshold)

    def reduce(vectors, dimensions, is_global, seed):
        asked.append((dimensions, seed))
        return rc.pca(vectors, dimensions, is_global, seed)

    monkeypatch.setattr(rc, "members", spy)
    options = {"dimensions": 2, "threshold": 0.3, "max_components": 3, "reduce": reduce, "seed": 5}
    rc.clusters(blobs(20, CORNERS), [1] * 60, token_limit=60, **options)
    once = len(asked)
    asked.clear()
    found = rc.clusters(blobs(20, CORNERS), [1] * 60, token_limit=8, **options)
    assert len(asked) > once
    assert set(asked) == {0.3, (2, 5)}
    assert max(map(len, found)) <= 8


@pytest.mark.parametrize("vectors", [np.ones((30, 4)), np.zeros((30, 4)), blobs(30, [(0.0, 0.0)])], ids=str)
def test_what_cannot_be_split_by_meaning_is_cut_so_that_the_recursion_ends(vectors):
    found = rc.clusters(vectors, [100] * 30, dimensions=2, token_limit=350, max_components=3)
    assert all(len(group) <= 3 for group in found)
    assert {i for group in found for i in group} == set(range(30))


def test_a_bound_of_no_recursion_cuts_at_once():
    found = rc.clusters(np.ones((13, 4)), [2] * 13, dimensions=2, token_limit=5, max_depth=0)
    assert found == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12,)]


def test_a_single_text_may_be_longer_than_the_limit():
    assert rc.clusters(np.eye(3), [99, 1, 1], token_limit=10) == [(0,), (1, 2)]


@pytest.mark.parametrize("n", range(14))
def test_few_texts_are_one_cluster_at_the_papers_settings(n):
    found = rc.clusters(np.random.default_rng(n).normal(size=(n, 20)), [1] * n)
    if n <= 11:  # dimensions + 1
        assert found == ([tuple(range(n))] if n else [])
    assert {i for group in found for i in group} == set(range(n))


def test_duplicates_are_told_apart_by_position():
    base = blobs(15, CORNERS)
    vectors = np.concatenate([base, base[:5]])  # five texts occur twice
    found = rc.clusters(vectors, [1] * 50, dimensions=2, max_components=4)
    assert {i for group in found for i in group} == set(range(50))
    for group in found:
        assert list(group) == sorted(set(group))
        for i in range(5):  # equal vectors have equal probabilities, so both are in or none
            assert (i in group) == (45 + i in group)
    # where the cut goes by position, each of two equal texts is in one part only
    halves = rc.clusters(np.ones((6, 3)), [1] * 6, dimensions=1, token_limit=3, max_components=2)
    assert halves == [(0, 1, 2), (3, 4, 5)]


def test_umap_is_seeded_and_its_parameters_stay_legal_for_tiny_inputs(monkeypatch):
    made = []

    class FakeUMAP:
        def __init__(self, **parameters):
            made.append(parameters)

        def fit_transform(self, vectors):
            return vectors[:, :1]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=FakeUMAP))
    rc.umap(np.ones((101, 5)), 10, True, seed=3)
    rc.umap(np.ones((101, 5)), 10, False)
    rc.umap(np.ones((3, 5)), 10, True)
    assert made[0] == {"n_neighbors": 10, "n_components": 10, "metric": "cosine", "random_state": 3}
    assert (made[1]["n_neighbors"], made[1]["random_state"]) == (10, rc.SEED)
    assert (made[2]["n_neighbors"], made[2]["n_components"]) == (2, 1)
    rc.umap(np.ones((100, 5)), 10, True)
    rc.umap(np.ones((2, 5)), 10, False)
    assert made[3]["n_neighbors"] == 9  # the root of 99, not of 100
    assert (made[4]["n_neighbors"], made[4]["n_components"]) == (2, 1)  # at least two neighbours and one dimension
    found = rc.clusters(blobs(10, CORNERS), [1] * 30, reduce=rc.umap, max_components=3)
    assert {i for group in found for i in group} == set(range(30))


def test_pca_agrees_with_a_singular_value_decomposition():
    vectors = np.random.default_rng(0).normal(size=(20, 6))
    centred = vectors - vectors.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(rc.pca(vectors, 3)), np.abs((u * s)[:, :3]), atol=1e-9)
    assert rc.pca(vectors, 99).shape == (20, 6)


@given(data=st.data(), n=st.integers(0, 16), limit=st.integers(1, 40), seed=st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_every_text_is_in_a_cluster_and_every_cluster_fits(data, n, limit, seed):
    vectors = np.random.default_rng(seed).integers(0, 3, size=(n, 3)).astype(float)  # many duplicates
    tokens = data.draw(st.lists(st.integers(0, 20), min_size=n, max_size=n))
    options = {"dimensions": 2, "token_limit": limit, "max_components": 2}
    found = rc.clusters(vectors, tokens, **options)
    assert {i for group in found for i in group} == set(range(n))
    assert len(set(found)) == len(found)
    for group in found:
        assert list(group) == sorted(set(group))
        assert len(group) == 1 or sum(tokens[i] for i in group) <= limit
    assert found == rc.clusters(vectors, tokens, **options)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"dimensions": 0}, "dimensions"),
        ({"token_limit": 0}, "token_limit"),
        ({"max_depth": -1}, "max_depth"),
        ({"threshold": 1.0}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"tokens": [1]}, "vectors"),
        ({"vectors": [[1.0], [np.nan]]}, "vectors"),
        ({"vectors": [1.0, 2.0]}, "vectors"),
    ],
)
def test_bad_arguments_are_named(change, name):
    with pytest.raises(ValueError, match=f"^{name}"):
        rc.clusters(**{"vectors": [[0.0], [1.0]], "tokens": [1, 1], **change})
