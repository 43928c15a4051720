"""The agent of chapter 16 and the loops it is compared with: questions, tools, limits, and what models wrote in them.

Prompts show what searches found, so everything here is the same on every machine: keyword search, and a record of what
was found in the code. Where a model answers it is replayed, or run by ``python -m ragkit.recorded.agents MODE``.

- ``questions.py``    the questions, and where each can be answered
- ``judging.py``      whether a reply is right
- ``code_search.py``  search in the package's own code, kept as it was
- ``tools.py``        the five tools
- ``control.py``      a router and a check in code
- ``loops.py``        the agent, one call, the loop as a program, handing over; their limits
- ``writing.py``      what the 135M model writes, and under which limits
- ``replays.py``      the loops run again with recorded answers, and their prompts
- ``filing.py``       the 135M model run in the loops
- ``reading.py``      counts, answers and transcripts of runs
"""

from functools import partial

from ragkit.models.recording_tasks import Settings
from ragkit.recorded.agents.code_search import code
from ragkit.recorded.agents.control import REACH, reach, router, tuned_reach
from ragkit.recorded.agents.filing import Filing, live, record
from ragkit.recorded.agents.judging import LONGEST, right, silent
from ragkit.recorded.agents.loops import LIMITS, LOOPS, ROUNDS, SMALL, one_call
from ragkit.recorded.agents.questions import HOME, SOURCES, Case, by_hand, cases
from ragkit.recorded.agents.reading import chosen, gathered, held, outcome, tally, transcript, verdicts
from ragkit.recorded.agents.replays import MODES, prompts, replay
from ragkit.recorded.agents.tools import toolbox
from ragkit.recorded.agents.writing import ARGUMENT, BEGUN, LENGTH, MAX_TOKENS, WRITTEN, grammar, write

__all__ = [
    "ARGUMENT",
    "HOME",
    "LENGTH",
    "LIMITS",
    "LONGEST",
    "LOOPS",
    "MODES",
    "REACH",
    "ROUNDS",
    "SETTINGS",
    "SMALL",
    "SOURCES",
    "TASKS",
    "Case",
    "Filing",
    "by_hand",
    "cases",
    "chosen",
    "code",
    "gathered",
    "grammar",
    "held",
    "live",
    "one_call",
    "outcome",
    "prompts",
    "reach",
    "record",
    "replay",
    "right",
    "router",
    "silent",
    "tally",
    "toolbox",
    "transcript",
    "tuned_reach",
    "verdicts",
    "write",
]

TASKS = {
    "agent": partial(prompts, "agent"),
    "agent_shown": partial(prompts, "agent_shown"),
    "agent_grammar": partial(prompts, "agent_grammar"),
    "agent_plain": partial(prompts, "agent_plain"),
    "agent_fixed": partial(prompts, "agent_fixed"),
    "agent_mixed": partial(prompts, "agent_mixed"),
    "agent_choice": partial(prompts, "agent_choice"),
    "agent_hand_over": partial(prompts, "agent_hand_over"),
}

SETTINGS = {task: Settings(WRITTEN.get(task, MAX_TOKENS), begun=BEGUN.get(task, "")) for task in TASKS}
"""How long an answer may get; the rest of how each is asked is in `write`, so record these by this folder's command."""
