"""The kept clusters of the course's tree: whole, current, and what the code would find today."""

from collections.abc import Sequence

import pytest
from sklearn.metrics import adjusted_rand_score

from ragkit import corpus
from ragkit.models import Recording
from ragkit.recorded import raptor


def first_homes(groups: Sequence[Sequence[str]], ids: Sequence[str]) -> list[int]:
    """Soft clusters as labels: each id's first cluster."""
    return [next(number for number, group in enumerate(groups) if an_id in group) for an_id in ids]


@pytest.mark.parametrize("layer", [1, 2])
def test_the_clusters_found_today_agree_with_those_kept(layer: int) -> None:
    """A little may differ between libraries and processors. A low index means that the recordings rest on an old tree:
    ``python -m ragkit.recorded.raptor``."""
    ids, kept, today = list(raptor.texts(layer - 1)), raptor.memberships()[layer - 1], raptor.found_anew(layer)
    assert adjusted_rand_score(first_homes(kept, ids), first_homes(today, ids)) > 0.95


def test_every_passage_has_a_summary_above_it_and_every_summary_was_written() -> None:
    first, second = raptor.memberships()
    assert {an_id for group in first for an_id in group} == {p.id for p in corpus.load().passages}
    assert {an_id for group in second for an_id in group} == {f"raptor-1-{n}" for n in range(len(first))}
    assert 60 <= len(first) <= 110
    prompts = dict(raptor.prompts())
    assert len(prompts) == len(first) + len(second)
    answers = [Recording("raptor")(prompt) for prompt in prompts.values()]
    assert max(len(answer.split()) for answer in answers) <= raptor.WORDS
    sample = dict(raptor.sample())
    assert len(sample) == raptor.SAMPLE
    assert sample.items() <= prompts.items()


def test_the_tree_asks_exactly_the_recorded_prompts_and_takes_tickets_as_leaves() -> None:
    tree = raptor.tree()  # a prompt that was not recorded would raise
    assert [len(layer) for layer in tree.layers] == [490, 86, 16]
    assert tree.groups == [[tuple(group) for group in layer] for layer in raptor.memberships()]
    wider = raptor.tree(passages=corpus.load().index[:520])
    assert [len(layer) for layer in wider.layers] == [520, 86, 16]
    assert wider.layers[1:] == tree.layers[1:]


def test_a_file_that_is_written_is_read_back(tmp_path, monkeypatch) -> None:
    kept = raptor.memberships()
    monkeypatch.setattr(raptor, "FILE", tmp_path / "clusters.toml")
    raptor.write(kept)
    assert raptor.memberships() == kept
