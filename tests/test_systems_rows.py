"""The growing matrix behind the semantic caches, against plain lists."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.systems.rows import Rows

STEPS = st.lists(st.one_of(st.none(), st.lists(st.integers(-9, 9), min_size=3, max_size=3)), max_size=40)


@settings(max_examples=50, deadline=None)
@given(STEPS, st.randoms(use_true_random=False))
def test_appends_and_drops_in_any_order_leave_what_a_list_would_hold(steps, rng):
    rows, plain = Rows(), []
    for step in steps:
        if step is None:
            kept = [i for i in range(len(plain)) if rng.random() < 0.5]
            rows.keep(kept)
            plain = [plain[i] for i in kept]
        else:
            rows.append(np.array(step, dtype=float))
            plain.append(step)
        assert len(rows) == len(plain)
        assert [row.tolist() for row in rows.matrix] == plain


def test_a_row_is_a_copy():
    vector, rows = np.array([1.0, 2.0]), Rows()
    rows.append(vector)
    vector[0] = 9
    assert rows.matrix.tolist() == [[1.0, 2.0]]


def test_appending_copies_few_rows_however_many_come():
    rows, moved, place = Rows(), 0, None
    for i in range(1_000):
        rows.append(np.array([float(i)]))
        now = rows.matrix.__array_interface__["data"][0]
        moved += len(rows) if now != place else 0
        place = now
    assert moved < 3 * len(rows), "the table is copied at most a doubling at a time"
