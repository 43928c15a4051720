"""An explorer of fusion: the rankings of one question, merged by rank and by weighted score, at any setting.

Over ``ragkit.search.fusion``: Reciprocal Rank Fusion (Cormack et al., SIGIR 2009) with its constant kappa, and the
weighted sum of scores with its weight. What is computed here beside is how much of a score each ranking gave. Left
out: interleaving, which has no number to turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite

from ragkit.base import Hit, check_unique
from ragkit.explore.explorer import Control, Data, Explorer, Result, State, control, switch
from ragkit.explore.markup import bar, fixed, grid, named, path
from ragkit.search.fusion import min_max, reciprocal_rank_fusion, weighted_fusion_by_id
from ragkit.show.provenance import Source, provenance

KAPPAS = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200)
WEIGHTS = tuple(twentieth / 20 for twentieth in range(21))


def compute(data: Data, state: State) -> Result:
    """Both fused orders: a list of ``[id, score, parts]``, a part a ranking, and the ranks of every id by ranking."""
    used = data["rankings"] if state.get("third", True) else data["rankings"][:2]
    cut = [hits[: state["depth"]] for hits in used]
    ids = [[an_id for an_id, _ in hits] for hits in cut]
    rank = [{an_id: place for place, an_id in enumerate(ranking, start=1)} for ranking in ids]
    kappa, weight = state["kappa"], state["weight"]
    by_rank = [
        [an_id, score, [1 / (kappa + places[an_id]) if an_id in places else 0.0 for places in rank]]
        for an_id, score in reciprocal_rank_fusion(ids, kappa)
    ]
    first, second = dict(cut[0]), dict(cut[1])
    one, other = _scaled(first, [*first, *second]), _scaled(second, [*first, *second])
    by_score = [
        [an_id, score, [weight * one[an_id], (1 - weight) * other[an_id]]]
        for an_id, score in weighted_fusion_by_id(first, second, weight)
    ]
    ranks = {an_id: [places.get(an_id) for places in rank] for an_id, _, _ in by_rank}
    shared = sum(sum(place is not None for place in places) > 1 for places in ranks.values())
    return {"by_rank": by_rank, "by_score": by_score, "ranks": ranks, "shared": shared}


def _scaled(scores: Mapping[str, float], ids: Sequence[str]) -> dict[str, float]:
    """Each id with its score on [0, 1], as `weighted_fusion_by_id` scales it."""
    lowest = min((0.0, *scores.values()))
    names = list(dict.fromkeys(ids))
    return dict(zip(names, min_max([scores.get(an_id, lowest) for an_id in names]).tolist(), strict=True))


def summary(data: Data, state: State, result: Result) -> str:
    """Where the gold passages stand in both orders, or who is first where none is labelled."""
    places = [{row[0]: at for at, row in enumerate(result[order], start=1)} for order in ("by_rank", "by_score")]
    said = []
    for an_id in data["gold"]:
        by_rank, by_score = (str(place.get(an_id, "none")) for place in places)
        said.append(f"Gold passage {an_id}: place {by_rank} by rank, place {by_score} by score.")
    if not said:
        said.append(f"First by rank: {result['by_rank'][0][0]}. First by score: {result['by_score'][0][0]}.")
    return " ".join([*said, f"Passages in more than one ranking: {result['shared']}."])


def view(data: Data, state: State, result: Result) -> str:
    """Both orders as tables: the best rows, and the gold ones wherever they stand."""
    names, weight = data["names"], state["weight"]
    by_rank = f"Reciprocal rank fusion, κ = {state['kappa']}"
    by_score = f"Weighted fusion, w = {fixed(weight, 2)} for {names[0]}"
    used = names if state.get("third", True) else names[:2]
    return (
        '<div class="rk-two">'
        f"{_order(data, result, 'by_rank', by_rank, used, 5)}{_order(data, result, 'by_score', by_score, names[:2], 3)}"
        "</div>"
    )


def _order(data: Data, result: Result, order: str, caption: str, names: Sequence[str], digits: int) -> str:
    rows, top = [], result[order][0][1]
    for place, (an_id, score, parts) in enumerate(result[order], start=1):
        gold = an_id in data["gold"]
        if place > data["rows"] and not gold:
            continue
        ranks = [str(rank or "–") for rank in result["ranks"][an_id][: len(names)]]
        mark = " <strong>gold</strong>" if gold else ""
        cells = [f"{place}. <code>{path(an_id)}</code>{mark}", *ranks, f"{fixed(score, digits)}{bar(parts, top)}"]
        rows.append(("rk-gold" if gold else "", cells))
    header = [("passage", False), *((named(i, name), True) for i, name in enumerate(names))]
    return grid(caption, [*header, ("score", True)], rows)


def fusion_explorer(
    rankings: Mapping[str, Sequence[Hit]],
    relevant: Collection[str] = (),
    *,
    kappa: int = 60,
    weight: float = 0.5,
    depth: int | None = None,
    rows: int = 8,
    title: str = "Two ways to fuse",
    source: Source = "computed",
    answered: str | Sequence[str] | None = None,
    date: str | None = None,
    note: str | None = None,
) -> Explorer:
    """Two or three rankings of one question, by name; scores are fused of the first two, ``weight`` is the first's.

    ``relevant`` ids are marked, ``rows`` of each order are shown beside them. ``kappa``, ``weight`` and ``depth`` (how
    much of each ranking is fused, all of it by default) are settings at the start. The last four are those of
    `ragkit.show.table`. A ranking of nothing is fine, unless all are empty.
    """
    if not 2 <= len(rankings) <= 3:
        raise ValueError(f"rankings must hold two or three, got {len(rankings)}")
    for name, hits in rankings.items():
        check_unique([hit.id for hit in hits], f"rankings[{name!r}]")
    names = list(rankings)
    longest = max(len(hits) for hits in rankings.values())
    if not any(rankings[name] for name in names[:2]):
        raise ValueError("rankings: the first two are empty, there is nothing to fuse")
    if isinstance(kappa, bool) or not (isfinite(kappa) and kappa >= 0):
        raise ValueError(f"kappa must be a finite number of at least 0, got {kappa!r}")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must lie in [0, 1], got {weight!r}")
    if isinstance(rows, bool) or rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    data = {
        "names": names,
        "rankings": [[[hit.id, float(hit.score)] for hit in hits] for hits in rankings.values()],
        "gold": [
            an_id for an_id in dict.fromkeys(hit.id for hits in rankings.values() for hit in hits) if an_id in relevant
        ],
        "rows": rows,
    }
    controls: list[Control] = [
        control("kappa", "Constant κ of rank fusion", "slider", sorted({*KAPPAS, kappa}), kappa),
        control(
            "weight",
            f"Weight w of {names[0]}",
            "slider",
            sorted({*WEIGHTS, weight}),
            weight,
            [fixed(w, 2) for w in sorted({*WEIGHTS, weight})],
        ),
        control(
            "depth", "Passages taken from each", "slider", range(1, longest + 1), longest if depth is None else depth
        ),
    ]
    if len(names) == 3:
        controls.append(switch("third", f"Fuse {names[2]} too, by rank", True))
    said = provenance(source, answered, date, note)
    return Explorer("fusion", title, tuple(controls), data, compute, summary, view, said)
