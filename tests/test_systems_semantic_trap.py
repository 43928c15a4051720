"""The one-token trap, measured on all-MiniLM-L6-v2, and what a second gate makes of it."""

import numpy as np
import pytest

from ragkit.models import embedder
from ragkit.systems import audit

TRAPS = [  # one token decides, and the cosine that all-MiniLM-L6-v2 gives all the same
    ("Where is my order 12345?", "Where is my order 12346?", 0.9725),
    ("flights from Paris to London", "flights from London to Paris", 0.9975),
    ("What was the revenue in Q3 2023?", "What was the revenue in Q3 2024?", 0.9829),
    ("Can I return an opened kettle?", "Can I not return an opened kettle?", 0.9761),
]
PARAPHRASES = [
    ("Where is my order 12345?", "Can you tell me when my purchase 12345 arrives?", 0.7047),
    ("How long is the warranty on the kettle?", "What is the warranty period of the kettle?", 0.9632),
    ("Where can I buy replacement filters?", "Which shops sell spare filters?", 0.8265),
]


@pytest.fixture(scope="module")
def embed():
    return embedder()


@pytest.mark.parametrize(("one", "other", "cosine"), TRAPS + PARAPHRASES)
def test_cosines_of_real_pairs_are_the_ones_the_text_speaks_of(embed, one, other, cosine):
    vectors = embed([one, other])
    assert float(vectors[0] @ vectors[1]) == pytest.approx(cosine, abs=2e-3)


def test_one_token_trap_every_threshold_that_serves_a_paraphrase_serves_the_traps(embed):
    pairs = [(*p[:2], False) for p in TRAPS] + [(*p[:2], True) for p in PARAPHRASES]
    for threshold in np.linspace(0.6, 1, 41):
        report = audit(pairs, float(threshold), embed, guard=False)
        assert report.hits == 0 or report.false_hits == len(TRAPS)


def test_not_every_trap_lies_above_every_paraphrase_so_the_text_must_not_say_so(embed):
    one, other = embed(["Where is order 4512?", "Where is order 4521?"])
    assert float(one @ other) == pytest.approx(0.7267, abs=2e-3)
    assert float(one @ other) < max(cosine for _, _, cosine in PARAPHRASES)
    assert audit([("Where is order 4512?", "Where is order 4521?", False)], 0.6, embed) == (0, 0, 0, 1)


def test_the_second_gate_serves_paraphrases_without_identifiers_and_none_of_the_traps(embed):
    pairs = [(*p[:2], False) for p in TRAPS] + [(*p[:2], True) for p in PARAPHRASES]
    assert audit(pairs, 0.6, embed, guard=False) == (3, 4, 0, 0)
    assert audit(pairs, 0.6, embed) == (2, 0, 1, 4)
