"""What the speed benchmarks share: two sides timed in one run, their memory, and text whose words follow Zipf's law.

A script gives a function from a size to its `Task` list. That function makes the inputs and nothing else: a side builds
what it needs at its first call (`functools.cache`), so structures count in its memory and not in its time. For every
size, in a process of its own, three things happen in this order:

1. memory: every side runs once in a fork of that process; what is reported is how far its peak resident size
   (``ru_maxrss``) rose above the inputs, so pages that the inputs freed and a side takes again are not seen;
2. agreement: the sides' results are compared, and a difference ends the run before anything is timed;
3. time: after a warm-up the sides take turns, so that a busy minute hits all of them; the median is reported.

A side whose warm-up takes longer than ``PATIENCE`` seconds is timed once; the column ``runs`` says so. Needs fork, so
Linux or macOS.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import importlib.util
import multiprocessing
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

REPEATS, PATIENCE = 5, 20.0


class Side(NamedTuple):
    """One competitor. ``amount`` is how many of the task's units one call of ``work`` does."""

    name: str
    work: Callable[[], Any]
    amount: float = 1.0


@dataclass(frozen=True)
class Task:
    """What is measured: the first side is ours; ``agree`` raises `AssertionError` if results differ.

    ``unit`` names what a time is for ("query"). ``rate``, such as ``"MB"``, makes the table show units a second.
    """

    what: str
    unit: str
    sides: list[Side]
    agree: Callable[[], None]
    rate: bool = False


@dataclass
class Row:
    """One line of the table: seconds for one unit, memory in MB (``card`` is that of a graphics card)."""

    size: int
    task: str
    unit: str
    side: str
    seconds: float
    runs: int
    peak: float
    card: float
    rate: bool
    ratio: float = field(default=float("nan"))


def installed(name: str) -> bool:
    """Whether the module of an optional peer is there; if not, a line says so."""
    if importlib.util.find_spec(name) is None:
        print(f"{name} is not installed: its rows are left out", flush=True)
        return False
    return True


def in_fork(work: Callable[[], Any]) -> Any:
    """The result of ``work`` in a forked process; its exception is raised here, by its text.

    >>> in_fork(lambda: 1 + 1)
    2
    """
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child() -> None:
        try:
            send.send((work(), None))
        except BaseException as error:
            send.send((None, f"{type(error).__name__}: {error}"))
            raise

    process = context.Process(target=child)
    process.start()
    send.close()
    try:
        value, fault = receive.recv()
    except EOFError:
        value, fault = None, "the process ended without a result (out of memory?)"
    process.join()
    if fault:
        raise RuntimeError(fault)
    return value


def peak(work: Callable[[], Any]) -> tuple[float, float]:
    """By how many MB ``work`` raises the peak resident size of a fresh fork, and its peak on a graphics card."""
    return in_fork(lambda: _grown(work))


def _grown(work: Callable[[], Any]) -> tuple[float, float]:
    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes on Linux
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = work()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    del result
    torch = sys.modules.get("torch")
    card = torch.cuda.max_memory_allocated() if torch and torch.cuda.is_initialized() else 0
    return grown * unit / 1e6, card / 1e6


def clock(work: Callable[[], Any]) -> float:
    """Wall seconds of one call; the garbage of earlier calls is collected before, not during."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def timed(sides: Sequence[Side], repeats: int = REPEATS) -> list[list[float]]:
    """Seconds of every run of every side, after one warm-up each, the sides in turn."""
    runs = [1 if clock(side.work) > PATIENCE else repeats for side in sides]
    spent: list[list[float]] = [[] for _ in sides]
    for turn in range(repeats):
        for side, times, wanted in zip(sides, spent, runs, strict=True):
            if turn < wanted:
                times.append(clock(side.work))
    return spent


def measure(tasks: Callable[[int], list[Task]], size: int, repeats: int = REPEATS) -> list[Row]:
    """All rows of one size."""
    given = tasks(size)
    memory = {(t, s): peak(side.work) for t, task in enumerate(given) for s, side in enumerate(task.sides)}
    rows = []
    for t, task in enumerate(given):
        task.agree()
        spent = timed(task.sides, repeats)
        each = [statistics.median(times) / side.amount for times, side in zip(spent, task.sides, strict=True)]
        for s, side in enumerate(task.sides):
            row = Row(size, task.what, task.unit, side.name, each[s], len(spent[s]), *memory[t, s], task.rate)
            row.ratio = each[0] / each[s] if s else float("nan")
            rows.append(row)
    return rows


def duration(seconds: float) -> str:
    """A time with three figures.

    >>> duration(0.0123456), duration(12.3456), duration(0.0000123)
    ('12.3 ms', '12.3 s', '12.3 us')
    """
    scale, unit = next((s, u) for s, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= s or u == "us")
    value = seconds / scale
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


HEADING = ("task", "size", "side", "time or rate", "runs", "ours/peer", "peak MB", "growth")


def table(rows: Sequence[Row]) -> str:
    """The rows as text. ``ours/peer`` below 1 means that ours is faster; ``growth`` is against the smaller size."""
    first: dict[tuple[str, str], Row] = {}
    lines = [HEADING]
    for row in rows:
        before = first.setdefault((row.task, row.side), row)
        shown = f"{1 / row.seconds:,.3g} {row.unit}/s" if row.rate else f"{duration(row.seconds)} a {row.unit}"
        card = f" + {row.card:,.0f} on the card" if row.card else ""
        growth = "" if before is row else f"x{row.seconds / before.seconds:.2f} (size x{row.size / before.size:.3g})"
        ratio = "" if np.isnan(row.ratio) else f"{row.ratio:.2f}"
        lines.append(
            (row.task, f"{row.size:,}", row.side, shown, str(row.runs), ratio, f"{row.peak:,.0f}{card}", growth)
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADING))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def versions(names: Sequence[str]) -> str:
    """Python, cores, and the versions of the distributions among ``names`` that are installed."""
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} absent")
    return ", ".join([f"Python {platform.python_version()}", f"{os.cpu_count()} cores", *found])


def run(
    doc: str | None,
    tasks: Callable[[int], list[Task]],
    sizes: Sequence[int],
    small: Sequence[int],
    packages: Sequence[str],
    arguments: Sequence[str] | None = None,
) -> int:
    """The command line of a speed benchmark: measure ``sizes``, or with ``--small`` the ``small`` ones, and print."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a quick run; its ratios say little about large sizes")
    parser.add_argument("--repeats", type=int, help=f"timed runs of each side (default {REPEATS}, with --small 3)")
    given = parser.parse_args(arguments)
    if given.repeats is not None and given.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {given.repeats}")
    repeats = given.repeats or (3 if given.small else REPEATS)
    print(versions(packages), flush=True)
    rows: list[Row] = []
    for size in small if given.small else sizes:
        rows += in_fork(lambda size=size: measure(tasks, size, repeats))
    print(table(rows))
    return 0


def zipf_ranks(n: int, vocabulary: int, seed: int = 0) -> NDArray[np.intp]:
    """``n`` draws from 0 .. ``vocabulary - 1`` with probability proportional to ``1 / (rank + 2.7)`` (Mandelbrot)."""
    chances = 1.0 / (np.arange(vocabulary) + 2.7)
    cumulated = np.cumsum(chances)
    return np.searchsorted(cumulated, np.random.default_rng(seed).random(n) * cumulated[-1], side="right")


def word(rank: int) -> str:
    """A pronounceable word, one a rank, of at least two letters.

    >>> word(0), word(1), word(105)
    ('ba', 'be', 'baba')
    """
    syllables = [c + v for c in "bcdfghjklmnprstvwxyz" + "q" for v in "aeiou"]
    out = ""
    rank += 1
    while rank:
        rank, digit = divmod(rank - 1, len(syllables))
        out = syllables[digit] + out
    return out


def zipf_passages(n: int, words: int = 60, vocabulary: int = 50_000, seed: int = 0) -> list[list[str]]:
    """``n`` passages as lists of words; lengths are log-normal with median ``words``, words follow Zipf's law."""
    lengths = np.random.default_rng(seed + 1).lognormal(np.log(words), 0.4, n).astype(int) + 1
    names = [word(rank) for rank in range(vocabulary)]
    drawn = zipf_ranks(int(lengths.sum()), vocabulary, seed).tolist()
    ends = np.cumsum(lengths).tolist()
    return [
        [names[rank] for rank in drawn[end - length : end]] for end, length in zip(ends, lengths.tolist(), strict=True)
    ]
