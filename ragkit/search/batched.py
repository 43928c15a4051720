"""Many queries at once, in PyTorch: one matrix product for all, exact top-k, and Reciprocal Rank Fusion of the batches.

The flat index of Johnson, Douze and Jégou, *Billion-scale similarity search with GPUs* (2017; faiss' ``IndexFlatIP``):
documents go by in blocks and a running top-k is merged, so memory is bounded by ``queries x chunk`` whatever the
corpus. The code is the same on a processor and on a graphics card. Unlike there, ties are settled: by position, and
equal documents have equal scores, since each is compared once. Left out: approximate search, half precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragkit.base import check_k

if TYPE_CHECKING:
    import torch


class TopK(NamedTuple):
    """Scores and positions of the best, each of shape ``(queries, k)``, best first, on the processor."""

    scores: NDArray[np.floating]
    positions: NDArray[np.int64]


def best_first(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and columns of the ``k`` largest of each row, best first, equal values by column; any device.

    ``torch.topk`` says nothing about equal values. They matter at the edge, where one of them is taken and the next is
    not: the value behind the last one shows whether a row is such a case, and only those rows are gone through.
    """
    columns = scores.shape[1]
    k = min(k, columns)
    if k == 0:
        return scores[:, :0], scores[:, :0].long()
    values, found = scores.topk(min(k + 1, columns), dim=1)
    edge = values[:, k - 1 : k]
    tied = (values[:, k] == edge[:, 0]).nonzero()[:, 0] if columns > k else scores.new_zeros(0).long()
    found = found[:, :k].clone()
    if len(tied):
        part, limit = scores[tied], edge[tied]
        above, equal = part > limit, part == limit
        room = k - above.sum(dim=1, keepdim=True)
        chosen = above | (equal & (equal.cumsum(dim=1) <= room))
        found[tied] = chosen.nonzero()[:, 1].reshape(-1, k)
    found = found.sort(dim=1).values
    values, order = scores.gather(1, found).sort(dim=1, descending=True, stable=True)
    return values, found.gather(1, order)


class Batched:
    """An exact index over ``vectors`` ``(n, d)``: ``Batched(vectors).search(queries, k)`` by inner product.

    Give unit rows (`unit_rows`) for cosines. ``device`` is PyTorch's name of one (``"cpu"``, ``"cuda"``). The matrix is
    held there as float32, equal rows once. ``chunk`` documents are scored at a time: a search needs room for
    ``2 x queries x chunk`` numbers beside the matrix, and its answer does not depend on ``chunk`` beyond rounding.
    """

    def __init__(self, vectors: ArrayLike, device: str = "cpu", chunk: int = 16_384) -> None:
        import torch

        if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
            raise ValueError(f"chunk must be a positive int, got {chunk!r}")
        rows = _matrix(vectors, "vectors")
        slot: dict[bytes, int] = {}  # equal rows share a slot; slots are in the order of their first row
        group = np.array([slot.setdefault(row.tobytes(), len(slot)) for row in rows], dtype=np.int64)
        distinct = np.unique(group, return_index=True)[1]
        self.n, self.dimension, self.chunk, self.device = len(rows), rows.shape[1], chunk, device
        self._matrix = torch.from_numpy(rows[distinct]).to(device)
        self._members = np.argsort(group, kind="stable")
        self._starts = np.searchsorted(group[self._members], np.arange(len(distinct) + 1))

    def search(self, queries: ArrayLike, k: int) -> TopK:
        """The ``min(k, n)`` documents of largest inner product for each of ``(q, d)`` queries, ties by position.

        No queries, no documents or ``k = 0`` give arrays with a side of 0. Scores agree to 1e-5 whatever other queries
        are in the batch.
        """
        import torch

        check_k(k)
        asked = _matrix(queries, "queries")
        if self.n and len(asked) and asked.shape[1] != self.dimension:
            raise ValueError(f"queries have {asked.shape[1]} dimensions, the index {self.dimension}")
        k = min(k, self.n)
        if not k or not len(asked):
            return TopK(np.zeros((len(asked), k), dtype=np.float32), np.zeros((len(asked), k), dtype=np.int64))
        batch = torch.from_numpy(asked).to(self.device)
        values = batch.new_zeros((len(asked), 0))
        found = values.long()
        for start in range(0, len(self._matrix), self.chunk):
            block, place = best_first(batch @ self._matrix[start : start + self.chunk].T, k)
            # What was found before stands first and has the smaller positions, so a stable order keeps ties right.
            values, found = torch.cat([values, block], dim=1), torch.cat([found, place + start], dim=1)
            values, order = values.sort(dim=1, descending=True, stable=True)
            values, found = values[:, :k], found.gather(1, order)[:, :k]
        return self._expand(values.cpu().numpy(), found.cpu().numpy(), k)

    def _expand(self, values: NDArray[np.float32], found: NDArray[np.int64], k: int) -> TopK:
        """Distinct rows become the positions of all their copies, merged by score and position."""
        if len(self._members) == len(self._starts) - 1:
            return TopK(values, found)
        scores, positions = np.empty((len(values), k), np.float32), np.empty((len(values), k), np.int64)
        for q, (row, distinct) in enumerate(zip(values, found, strict=True)):
            members = [self._members[self._starts[d] : self._starts[d + 1]][:k] for d in distinct]
            where = np.concatenate(members)
            score = np.repeat(row, [len(m) for m in members])
            best = np.lexsort((where, -score))[:k]
            scores[q], positions[q] = score[best], where[best]
        return TopK(scores, positions)


def _matrix(rows: ArrayLike, name: str) -> NDArray[np.float32]:
    """Rows as a contiguous float32 matrix; ``-0.0`` becomes ``0.0``, so that equal numbers are equal bytes."""
    matrix = np.ascontiguousarray(np.asarray(rows, dtype=np.float32)) + np.float32(0)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, (n, d), got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} holds a value that is not finite")
    return matrix


def batched_rrf(rankings: ArrayLike, n: int, k: float = 60, device: str = "cpu") -> TopK:
    """Reciprocal Rank Fusion of whole batches: ``rankings`` is ``(lists, queries, depth)`` of positions, -1 for none.

    Returns the ``n`` best for each query (float64 scores), filled up with position -1 and score 0. Ties go to the
    better best rank, then to the position met first when the lists are read one after the other, as in
    `reciprocal_rank_fusion`. A ranking that names a position twice is a ``ValueError``, and so is a bad ``k``.
    """
    import torch

    check_k(n)
    if not (np.isfinite(k) and k >= 0):
        raise ValueError(f"k must be a finite number of at least 0, got {k!r}")
    given = np.asarray(rankings)
    if given.ndim != 3 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ValueError(f"rankings must be whole numbers of shape (lists, queries, depth), got {given.shape}")
    lists, queries, depth = given.shape
    width = lists * depth
    if not width or not queries or not n:
        return TopK(np.zeros((queries, n)), np.full((queries, n), -1))
    ids = torch.from_numpy(given.astype(np.int64).transpose(1, 0, 2).reshape(queries, width)).to(device)
    ids, place = ids.sort(dim=1, stable=True)  # mentions of one id stand together, in the order in which they are met
    source, rank = place // depth, torch.where(ids >= 0, place % depth + 1.0, torch.inf).double()
    new = torch.ones_like(ids, dtype=torch.bool)
    new[:, 1:] = ids[:, 1:] != ids[:, :-1]
    if bool(((~new & (ids >= 0))[:, 1:] & (source[:, 1:] == source[:, :-1])).any()):
        raise ValueError("rankings names a position more than once in one list")
    row, run = torch.arange(queries, device=device)[:, None], new.long().cumsum(dim=1) - 1
    ranks = rank.new_full((queries, width, lists), torch.inf)
    ranks[row, run, source] = rank
    # Sorted, equal ranks are added in one order whichever list they come from, so equal scores are equal to the bit.
    ranks = ranks.sort(dim=2).values
    scores = sum((1 / (k + ranks[:, :, i]) for i in range(lists)), torch.zeros_like(rank))
    owner, met = torch.full_like(ids, -1), torch.full_like(ids, width)
    owner[row, run] = ids
    met[row.expand_as(run)[new], run[new]] = place[new]
    order = met.argsort(dim=1, stable=True)
    for key, falling in ((ranks[:, :, 0], False), (scores, True)):
        order = order.gather(1, key.gather(1, order).argsort(dim=1, stable=True, descending=falling))
    order = order[:, :n]
    fused, names = np.zeros((queries, n)), np.full((queries, n), -1)
    fused[:, : order.shape[1]] = scores.gather(1, order).cpu().numpy()
    names[:, : order.shape[1]] = owner.gather(1, order).cpu().numpy()
    return TopK(fused, names)
