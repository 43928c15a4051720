"""Chapter 13: loops that search again with what they read; their searches take turns in filling the five places."""

from __future__ import annotations

from functools import partial

from ragkit.recorded import multi_hop as loops
from ragkit.scoreboard.technique import Find, K, Stage, Technique

CHAPTER = "13-multi-hop"


def looped(task: str, stage: Stage) -> Find:
    """The passages of one of the recorded loops, in turn."""
    llm, loop = stage.ask(task), loops.LOOPS[task]
    return lambda question: loops.in_turn(loop(question, llm), K)


NAMES = {"iterative": "iterative", "IRCoT": "ircot"}

TECHNIQUES = (
    *(
        Technique(name, CHAPTER, partial(looped, task), ("hand",), questions=loops.asked)
        for name, task in NAMES.items()
    ),
    *(
        Technique(f"{name}, sample", CHAPTER, partial(looped, task), ("135M",), questions=loops.sample)
        for name, task in NAMES.items()
    ),
)
