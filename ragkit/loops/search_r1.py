"""Search-R1's transcripts: reading them, the reward they earn, and the tokens that are not learned from.

Jin et al., *Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning* (COLM
2025). The model writes ``<think>``, ``<search>`` or ``<answer>``; the engine's passages come back in ``<information>``.
The reward is the outcome alone, exact match of the answer (section 3.4). Retrieved tokens are masked from the policy
gradient (section 3.1): the model did not write them, and learning to write them makes training unstable.

The format is that of the authors' later format reward: a thought before every search and every answer, nothing between
the blocks, the answer last. Their answer reader takes the last ``<answer>`` of prompt and transcript together; here the
prompt, which holds an ``<answer>`` as an example, is not part of a transcript.

There are no weights here: this is taught on stored transcripts. Left out: PPO and GRPO themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragkit.loops.trace import Trace
from ragkit.metrics import exact_match
from ragkit.text import fill, normalize_answer, token_spans

PROMPT = """\
Think inside <think> and </think> before every step. If you lack knowledge, search by <search> query </search>; the
results come back between <information> and </information>. You may search as often as you need. Then give the answer,
short and without explanation, inside <answer> and </answer>.

Question: $question
"""

KINDS = ("think", "search", "information", "answer")
_TAG = re.compile(rf"<(/?)({'|'.join(KINDS)})>")
_NEXT = {
    "": {"think"},
    "think": {"search", "answer"},
    "search": {"information"},
    "information": {"think"},
    "answer": set[str](),
}


class Block(NamedTuple):
    """A block of a transcript: its kind, the text inside, and where it stands, tags included."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Transcript:
    """A transcript as read: its blocks in order, and what breaks the format (``()`` if nothing does)."""

    text: str
    blocks: tuple[Block, ...]
    faults: tuple[str, ...]

    @property
    def valid(self) -> bool:
        return not self.faults

    @property
    def answer(self) -> str | None:
        """The text of the last ``<answer>``, or None."""
        return next((block.text for block in reversed(self.blocks) if block.kind == "answer"), None)

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(block.text for block in self.blocks if block.kind == "search")

    @property
    def trace(self) -> Trace:
        """The blocks as a log, printable as a table."""
        trace = Trace(limit=max(1, len(self.blocks)))
        for block in self.blocks:
            trace.add({"information": "observe"}.get(block.kind, block.kind), block.text)
        return trace


def search_r1_prompt(question: str) -> str:
    """The instruction before a transcript."""
    return fill(PROMPT, question=question.strip())


def read_transcript(text: str) -> Transcript:
    """Read a transcript. Never raises on text: what is wrong stands in ``faults``, in the order met.

    A closing tag closes the block of its kind that is open; a block opened inside another, one left open, a stray
    closing tag and words outside the blocks are faults. An unclosed block counts up to the next tag, or the end.

    >>> read_transcript("<think>easy</think><answer> 1.7 </answer>").answer
    '1.7'
    >>> read_transcript("<answer>1.7</answer>").faults
    ('answer without a thought before it',)
    """
    blocks, faults, open_tag, last, at = list[Block](), list[str](), None, "", 0
    for tag in _TAG.finditer(text):
        closing, kind = tag.group(1) == "/", tag.group(2)
        if open_tag is None:
            if text[at : tag.start()].strip():
                faults.append("words outside the blocks")
            if closing:
                faults.append(f"</{kind}> closes nothing")
            else:
                open_tag = tag
        elif closing and kind == open_tag.group(2):
            blocks.append(Block(kind, text[open_tag.end() : tag.start()].strip(), open_tag.start(), tag.end()))
            faults += _order(last, kind)
            last, open_tag = kind, None
        else:
            opened = open_tag.group(2)
            faults.append(f"<{'/' * closing}{kind}> inside <{opened}>")
            if not closing:  # the open block ends where the next one begins
                blocks.append(Block(opened, text[open_tag.end() : tag.start()].strip(), open_tag.start(), tag.start()))
                faults += _order(last, opened)
                last, open_tag = opened, tag
        at = tag.end()
    if open_tag is not None:
        opened = open_tag.group(2)
        faults.append(f"<{opened}> is not closed")
        blocks.append(Block(opened, text[open_tag.end() :].strip(), open_tag.start(), len(text)))
        last = opened
    elif text[at:].strip():
        faults.append("words outside the blocks")
    if last != "answer":
        faults.append("no answer at the end")
    return Transcript(text, tuple(blocks), tuple(faults))


def _order(last: str, kind: str) -> list[str]:
    """What is wrong with a block of ``kind`` after one of ``last``."""
    if kind in _NEXT[last]:
        return []
    if kind in ("search", "answer") and last != "think":
        return [f"{kind} without a thought before it"]
    return [f"{kind} after {last or 'nothing'}"]


def outcome_reward(transcript: Transcript, answers: str | Sequence[str]) -> float:
    """Exact match of the last answer with any of ``answers``: 1.0 or 0.0; 0.0 without an answer.

    The paper's reward. The way there earns nothing, so a lucky guess without a search is worth as much.
    """
    return 0.0 if transcript.answer is None else exact_match(transcript.answer, answers)


def format_reward(
    transcript: Transcript,
    answers: str | Sequence[str],
    *,
    structure: float = 0.2,
    retrieval: float = 0.1,
    final: float = 0.1,
) -> float:
    """The authors' later reward with format terms; with all three 0 it is `outcome_reward`.

    Right answer: 1, less ``structure`` if the format is broken. Wrong or no answer in a valid format: ``structure``,
    and ``retrieval`` more if a passage held the answer. In a broken format: ``final`` for a wrong answer, else 0.
    """
    for name, value in (("structure", structure), ("retrieval", retrieval), ("final", final)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    if outcome_reward(transcript, answers):
        return 1.0 if transcript.valid else 1.0 - structure
    if transcript.valid:
        return structure + (retrieval if found_answer(transcript, answers) else 0.0)
    return 0.0 if transcript.answer is None else final


def found_answer(transcript: Transcript, answers: str | Sequence[str]) -> bool:
    """Whether a retrieved block holds one of the answers, compared in their normal form, word by word."""
    golds = [answers] if isinstance(answers, str) else list(answers)
    seen = [f" {normalize_answer(block.text)} " for block in transcript.blocks if block.kind == "information"]
    normal = [normalize_answer(gold) for gold in golds]
    return any(f" {gold} " in text for gold in normal if gold for text in seen)


def loss_mask(
    transcript: Transcript, spans: Callable[[str], Sequence[tuple[int, int]]] = token_spans
) -> list[tuple[str, bool]]:
    """Every token with whether it is learned from: not if a character of it lies in an ``<information>`` block.

    The block's tags are masked with it, since the engine writes them. ``spans`` gives a tokenizer's character ranges
    (MiniLM's word pieces by default; training would take the model's own).

    >>> transcript = read_transcript("<information>x</information><think>y</think>")
    >>> [word for word, learned in loss_mask(transcript) if learned]
    ['<', 'think', '>', 'y', '<', '/', 'think', '>']
    """
    masked = [(block.start, block.end) for block in transcript.blocks if block.kind == "information"]
    return [
        (transcript.text[start:end], not any(start < stop and end > begin for begin, stop in masked))
        for start, end in spans(transcript.text)
    ]
