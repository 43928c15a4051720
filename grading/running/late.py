"""Parts of packages that come only when they are first used, and then slowly.

A process that is forked for every submission would load them anew each time, so who forks it loads them before, where
they are wanted: a part that is loaded for nothing makes every fork dearer.
"""

from __future__ import annotations

from collections.abc import Iterable

LATE = {"matplotlib": ("matplotlib.pyplot",), "numpy": ("numpy.random",)}


def late_parts(names: Iterable[str], texts: Iterable[str]) -> set[str]:
    """The parts of packages that pieces of code speak of: (["numpy"], ["np.random.seed(1)"]) -> {"numpy.random"}."""
    texts = tuple(texts)
    parts = (part for name in names for part in LATE.get(name, ()))
    return {part for part in parts if any(part.rpartition(".")[2] in text for text in texts)}
