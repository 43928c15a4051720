"""What an agent's run leaves behind: its steps, its conversation, its price, and a count of what went wrong.

The counts are those by which a small model in a loop is judged: invented observations, calls made twice, answers that
ignore what was found. Left out: whether the answer is right, which `ragkit.metrics` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragkit.base import Message
from ragkit.loops.react_parser import Turn
from ragkit.loops.tools import Observation
from ragkit.loops.trace import Trace
from ragkit.text import LUCENE_STOP_WORDS, tokenize


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One turn: the raw reply, how it was read, what the tool gave, and the tokens sent and written."""

    reply: str
    turn: Turn
    kind: str
    observation: Observation | None
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class AgentResult:
    """The answer (``""`` if none), the steps, the conversation, why it stopped, and what went wrong on the way.

    ``stopped`` is ``answer``, ``steps``, ``repeat``, ``budget`` or ``blank``. ``faults`` counts ``invented``
    observations, ``early answer`` beside an action, ``repeat``, ``unknown tool``, ``bad arguments``, ``failed``,
    ``unreadable`` turns and ``ignored`` (the answer shares no word with any observation).
    """

    answer: str
    steps: tuple[AgentStep, ...]
    messages: tuple[Message, ...]
    stopped: str
    trace: Trace
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def tokens(self) -> int:
        """Tokens sent and written over all calls: the conversation is sent again each time."""
        return sum(step.prompt_tokens + step.completion_tokens for step in self.steps)

    @property
    def ids(self) -> tuple[str, ...]:
        """Passages that tools found, in order, each once: what recall is measured on."""
        return tuple(dict.fromkeys(an_id for step in self.steps if step.observation for an_id in step.observation.ids))


def ignored(answer: str, steps: Sequence[AgentStep]) -> bool:
    """Whether tools found something and the answer holds no word or number of it."""
    seen = [step.observation.text for step in steps if step.kind == "ok" and step.observation]
    words = set(tokenize(answer, stop=LUCENE_STOP_WORDS))
    return bool(seen and words) and not words & {word for text in seen for word in tokenize(text)}
