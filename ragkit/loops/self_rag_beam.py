"""Self-RAG's long form: a beam over segments, each written with a passage of its own and scored by its tokens.

Asai et al. (ICLR 2024), section 3.3, tree-decoding with critique tokens, and the authors' ``run_long_form_static.py``.
At each step every path of the beam is continued once with each passage, and the ``width`` best are kept (2 in the
paper). Here the score of a path is the sum of its segments' scores. The released code multiplies a segment's score into
its parent's: two bad segments, each below 0, then make a good path; ``combine="product"`` shows that.

Left out: turning the gate's tokens inside a segment into retrieval or none; ``extend`` decides that for a path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragkit.loops.self_rag import PAPER_WEIGHTS, Weights, segment_score
from ragkit.loops.self_rag_tokens import SUPPORT, Segment
from ragkit.loops.trace import Trace, check_bound

Combine = Literal["sum", "product"]
Extend: TypeAlias = Callable[[tuple[Segment, ...]], Sequence[Segment]]
"""The segments so far in; one candidate continuation a passage out, or none where the text is finished."""

_NO_SUPPORT = "[No support / Contradictory]"


@dataclass(frozen=True)
class Path:
    """Segments in order and the score of them all."""

    segments: tuple[Segment, ...] = ()
    score: float = 0.0

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments if segment.text)


@dataclass(frozen=True)
class SegmentBeam:
    """The best path's text, the paths of the last beam and those that finished, best first, and the log."""

    text: str
    paths: tuple[Path, ...]
    trace: Trace


def contradicted(segment: Segment) -> bool:
    """Whether "no support" is the most probable of the support tokens; a missing group contradicts nothing.

    >>> contradicted(Segment("It is blue.", support={"[Fully supported]": 0.2, "[No support / Contradictory]": 0.7}))
    True
    """
    support = {token: p for token, p in segment.support.items() if token in SUPPORT}
    return bool(support) and max(support, key=lambda token: support[token]) == _NO_SUPPORT


def segment_beam(
    extend: Extend,
    *,
    width: int = 2,
    max_depth: int = 6,
    weights: Weights = PAPER_WEIGHTS,
    sequence: bool = False,
    combine: Combine = "sum",
    drop_contradicted: bool = False,
) -> SegmentBeam:
    """Grow paths segment by segment, at most ``max_depth``, keeping the ``width`` best at each depth.

    A path that ``extend`` gives nothing for is finished and keeps its score. ``drop_contradicted`` is the paper's hard
    constraint: a candidate without support is never taken (the released ``ignore_cont`` leaves its text out at the
    end). Ties keep the order of paths, then of candidates. No candidates at all give the text ``""``.
    """
    check_bound("width", width, 20)
    check_bound("max_depth", max_depth)
    if combine not in ("sum", "product"):
        raise ValueError(f"combine must be 'sum' or 'product', got {combine!r}")
    trace, beam, finished = Trace(limit=10_000), [Path()], list[Path]()
    for depth in range(1, max_depth + 1):
        grown: list[Path] = []
        for path in beam:
            candidates = [c for c in extend(path.segments) if not (drop_contradicted and contradicted(c))]
            if not candidates and path.segments:
                finished.append(path)
            for segment in candidates:
                own = segment_score(segment, weights, sequence)
                joint = own * path.score if combine == "product" and path.segments else own + path.score
                grown.append(Path((*path.segments, segment), joint))
                used = [segment.passage] if segment.passage else []
                trace.add("generate", segment.text, used, joint, f"depth {depth}")
        beam = _best(grown)[:width]
        if not beam:
            break
    paths = _best([*finished, *beam])
    return SegmentBeam(paths[0].text if paths else "", tuple(paths), trace)


def _best(paths: list[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: -path.score)
