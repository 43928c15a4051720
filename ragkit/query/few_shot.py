"""Solved examples in the prompt, for a base model that continues text and does not follow instructions.

Brown et al., *Language Models are Few-Shot Learners* (2020), section 2: the task is shown, not told. A base model does
not stop after its answer but goes on to invent the next example, so the completion is cut where that begins. Left out:
choosing the examples by similarity to the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ragkit.base import LLM
from ragkit.text import fill

PROMPT = """\
$instruction

$examples

$given: $question
$wanted:"""

Example: TypeAlias = tuple[str, str]
"""What was asked, and the right reply to it."""


def _one(text: str) -> str:
    """White space squeezed: a line break inside an example would look like its end."""
    return " ".join(text.split())


def few_shot_prompt(
    question: str, examples: Sequence[Example], instruction: str, given: str = "Question", wanted: str = "Query"
) -> str:
    """Instruction, solved examples, and the question with the reply left open.

    >>> print(few_shot_prompt("red kettel price", [("bleu lamp", "blue lamp")], "Mend the spelling.", "In", "Out"))
    Mend the spelling.
    <BLANKLINE>
    In: bleu lamp
    Out: blue lamp
    <BLANKLINE>
    In: red kettel price
    Out:
    """
    if not examples:
        raise ValueError("examples must hold at least one solved example")
    solved = "\n\n".join(f"{given}: {_one(asked)}\n{wanted}: {_one(reply)}" for asked, reply in examples)
    return fill(PROMPT, instruction=instruction, examples=solved, given=given, wanted=wanted, question=_one(question))


def first_completion(reply: str, given: str = "Question", wanted: str = "Query") -> str:
    """The model's first answer: cut at a blank line or where it starts another example; its own label dropped.

    >>> first_completion(" blue lamp price\\nIn: gren kettle\\nOut: green kettle", given="In", wanted="Out")
    'blue lamp price'
    """
    text = reply.strip().removeprefix(f"{wanted}:").strip()
    for mark in ("\n\n", f"\n{given}:", f"\n{wanted}:"):
        text = text.partition(mark)[0]
    return text.strip()


def few_shot(
    llm: LLM, examples: Sequence[Example], instruction: str, given: str = "Question", wanted: str = "Query"
) -> Callable[[str], str]:
    """A rewriter ``str -> str`` made of a base model and solved examples; an empty completion gives the question."""

    def rewrite(question: str) -> str:
        prompt = few_shot_prompt(question, examples, instruction, given, wanted)
        return first_completion(llm(prompt), given, wanted) or question

    return rewrite
