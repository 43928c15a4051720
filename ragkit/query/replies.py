"""Reading the short replies that query transforms ask for: one line, or a list of lines.

Models add preambles, numbers, bullets, quotation marks, fences and repeats to what was asked. ``LineListOutputParser``
of langchain-classic 1.0.8 drops empty lines only, so "Here are three versions:" becomes a query. Left out: JSON.
"""

from __future__ import annotations

import re

_BULLET = re.compile(
    r"^(?:[-*•–·]\s+|\(?\d{1,2}[.):]\)?\s+|\(\d{1,2}\)\s*|(?:q|query|question|sub-?question)\s*\d{1,2}\s*[:.)]\s*)",
    re.I,
)
_LABEL = re.compile(
    r"^(?:(?:stand-?alone|rewritten|rephrased|step-?back|general|search|new|better)\s+)*"
    r"(?:question|query|rewrite|wording|general)\s*:\s*",
    re.I,
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}


def plain(line: str) -> str:
    """A line without bullet, number, label, bold marks or quotation marks around it.

    >>> plain('2. **"Which kettle is red?"**'), plain("3.14 litres"), plain("Standalone question: Is it red?")
    ('Which kettle is red?', '3.14 litres', 'Is it red?')
    """
    text = _BULLET.sub("", line.strip()).strip()
    while True:
        before = text
        text = _LABEL.sub("", text)
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
