"""What is recorded of which loop, and every loop run again with the recorded answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragkit.models import Recording, RecordingMiss
from ragkit.models.recording_tasks import key_text
from ragkit.models.records import record_key
from ragkit.recorded.agents.loops import LOOPS
from ragkit.recorded.agents.questions import Case, by_hand, cases
from ragkit.recorded.agents.writing import WRITTEN

MODES = {"free": "agent_shown", "grammar": "agent_grammar", "plain": "agent_plain"}
MODES |= {"fixed": "agent_fixed", "mixed": "agent_mixed", "choice": "agent_choice"}
"""Word of the command line -> task."""
ANSWERED: dict[str, tuple[str, ...]] = dict.fromkeys(("agent_plain", "agent_choice"), ("hand", "135M"))
ANSWERED |= dict.fromkeys(("agent", "agent_hand_over"), ("hand",))
"""Who answered a task; the others are the 135M model's alone."""


def asked_of(task: str, answerer: str) -> tuple[Case, ...]:
    """The questions that an answerer is asked in a task."""
    return by_hand() if answerer == "hand" and task != "agent_choice" else cases()


def run(task: str, case: Case, ask: Any, keep: bool = False) -> Any:
    """A loop on one question. A missing answer is raised, also where the loop takes it for a tool that failed."""
    missed: list[RecordingMiss] = []

    def watched(prompt: Any) -> str:
        try:
            reply: str = ask(prompt)
        except RecordingMiss as miss:
            missed.append(miss)
            raise
        return reply

    result = LOOPS[task](case, watched, keep)
    if missed:
        raise missed[0]
    return result


def replay(task: str, case: Case, answerer: str = "135M", llm: Any = None) -> Any:
    """A loop run again with recorded answers; ``llm`` is a `Recording` (or a meter around one) that is used for it."""
    source = llm or Recording(task, answerer)
    return run(task, case, source.chat if task in WRITTEN else source)


def prompts(task: str) -> Iterator[tuple[str, Any]]:
    """Every prompt of a task up to the first that waits for an answer: ``relational-26/135M/2`` is a second one."""
    for answerer in ANSWERED.get(task, ("135M",)):
        source = Recording(task, answerer)
        for case in asked_of(task, answerer):
            seen: dict[str, Any] = {}

            def note(prompt: Any, seen: dict[str, Any] = seen, source: Recording = source) -> str:
                seen[key_text(prompt)] = prompt
                return source.chat(prompt) if isinstance(prompt, list) else source(prompt)

            try:
                run(task, case, note)
            except RecordingMiss as miss:  # what a loop asked after it would not be asked with the answer
                keys = [record_key(text) for text in seen]
                seen = dict(list(seen.items())[: keys.index(miss.key) + 1])
            for number, prompt in enumerate(seen.values(), start=1):
                yield f"{case.id}/{answerer}/{number}", prompt
