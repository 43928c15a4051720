"""Reading the short replies that query transforms ask for: one line, or a list of lines.

Models add preambles, numbers, bullets, quotation marks, fences and repeats to what was asked. ``LineListOutputParser``
of langchain-classic 1.0.8 drops empty lines only, so "Here are three versions:" becomes a query. Left out: JSON.
"""

from __future__ import annotations

import re

from ragkit.text.words import word_set

_BULLET = re.compile(
    r"^(?:[-*•–·]\s+|\(?\d{1,2}[.):]\)?\s+|\(\d{1,2}\)\s*|(?:q|query|question|sub-?question)\s*\d{1,2}\s*[:.)]\s*)",
    re.I,
)
# A label says what kind of line follows. Every one of its words is in these two lists, one at least in the first.
_LABEL_NOUNS = word_set(
    "question questions query queries rewrite wording wordings version answer reply response list conversation general "
    "particular newest"
)
_LABEL_WORDS = _LABEL_NOUNS | word_set(
    "a an the this that your my our user user's here is was to of for standalone stand-alone stand alone step-back "
    "step back search sub rewritten rephrased reworded edited revised improved simplified original better new message "
    "final possible specific following"
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}


def without_label(line: str) -> str:
    """A line without the label at its head, such as "Question:", "Particular:" or "The original query was:".

    A head is a label if it ends with the line's first colon and *all* its words are words of labels: the ones that the
    prompts of this folder end or mark their parts with, and those that small models make up. A name, a code, a digit or
    any other word before the colon makes it content, which stays whole.

    >>> without_label("The better query is: red kettle"), without_label("ACME: revenue 2019?"), without_label("12:30")
    ('red kettle', 'ACME: revenue 2019?', '12:30')
    """
    head, colon, rest = line.partition(":")
    words = set(head.strip("*_ ").lower().replace("’", "'").split())
    if not colon or not words <= _LABEL_WORDS or not words & _LABEL_NOUNS:
        return line
    return rest.lstrip("*_ ") if head.startswith(("*", "_")) else rest.strip()


def plain(line: str) -> str:
    """A line without bullet, number, label, bold marks or quotation marks around it.

    >>> plain('2. **"Which kettle is red?"**'), plain("3.14 litres"), plain("Standalone question: Is it red?")
    ('Which kettle is red?', '3.14 litres', 'Is it red?')
    """
    text = _BULLET.sub("", line.strip()).strip()
    while True:
        before = text
        text = without_label(text)
        for mark in ("**", "__"):
            if text.startswith(mark) and text.endswith(mark) and len(text) > 2 * len(mark):
                text = text[len(mark) : -len(mark)].strip()
        if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
            text = text[1:-1].strip()
        if text == before:
            return text


def _is_frame(line: str) -> bool:
    """Whether a line is about the reply (a fence, a preamble such as "Here are three:") and not part of it."""
    bare = line.strip()
    return not bare or bare.startswith(("```", "~~~")) or (bare.endswith(":") and not _BULLET.match(bare))


def one_line(reply: str, fallback: str) -> str:
    """The first line that says something, cleaned; ``fallback`` where there is none.

    A label of the prompt that the model repeats is dropped and its line is read like any other (``without_label``).

    >>> one_line('Sure, here it is:\\n\\n"Is the red kettle under warranty?"', "?")
    'Is the red kettle under warranty?'
    >>> one_line("  ", "Is it?")
    'Is it?'
    """
    cleaned = (plain(line) for line in reply.splitlines() if not _is_frame(line))
    return next((line for line in cleaned if line), fallback)


def list_items(reply: str) -> list[str]:
    """The lines of a list, cleaned, each once whatever its case; preambles and fences dropped.

    If some lines carry a bullet or a number, only those are items: what stands around them is talk.

    >>> list_items("Here you go:\\n1. Is it red?\\n2) is it red?\\n- Is it blue?\\nI hope this helps!")
    ['Is it red?', 'Is it blue?']
    """
    lines = [line for line in reply.splitlines() if not _is_frame(line)]
    marked = [line for line in lines if _BULLET.match(line.strip())]
    items: dict[str, str] = {}
    for line in marked or lines:
        if item := plain(line):
            items.setdefault(" ".join(item.casefold().split()), item)
    return list(items.values())
