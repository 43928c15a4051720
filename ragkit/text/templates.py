"""Prompts as templates, by ``string.Template`` (PEP 292): what is inserted is never read again.

Left out: conditions and loops in a template; code that builds a prompt says them in Python.
"""

from __future__ import annotations

import string


def fill(template: str, **values: object) -> str:
    """Put ``values`` in the place of ``$name`` or ``${name}``; ``$$`` is a dollar sign.

    Braces mean nothing, and what is inserted is not read again, so JSON in the prompt and braces or dollars in a
    user's text are safe (``str.format`` raises ``KeyError`` on the first and expands the second). A placeholder
    without a value, a value without a placeholder, or a stray ``$`` is a ``ValueError``.

    >>> fill('Reply as {"answer": "..."}. Question: $question', question="What is {x} for $5?")
    'Reply as {"answer": "..."}. Question: What is {x} for $5?'
    """
    parsed = string.Template(template)
    if not parsed.is_valid():
        raise ValueError("template holds a stray $: write $$ for a dollar sign")
    names = set(parsed.get_identifiers())
    if missing := sorted(names - set(values)):
        raise ValueError(f"template needs a value for {', '.join(missing)}")
    if unknown := sorted(set(values) - names):
        raise ValueError(f"template has no placeholder for {', '.join(unknown)}")
    return parsed.substitute(values)
