"""Where a table's numbers come from, in words: computed, replayed or cited, and who answered.

Left out: the date of what the build computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal, TypeAlias

Source: TypeAlias = Literal["computed", "replayed", "cited"]

ANSWERERS = {
    "hand": "answers written by hand",
    "135M": "answered by the local 135M model",
    "hosted": "answered by a hosted model",
    "MiniLM": "scored by the local all-MiniLM-L6-v2",
}
_MEANING = {"computed": "by this build", "replayed": "from a record", "cited": "from a publication"}


def provenance(
    source: str, answered: str | Sequence[str] | None, date: str | None, note: str | None
) -> tuple[str, str]:
    """The kind of source, and the sentence that says more; what is missing is a ``ValueError``.

    >>> provenance("replayed", "135M", "2026-11-30", None)
    ('replayed', 'from a record of 2026-11-30. 135M: answered by the local 135M model')
    """
    if source not in _MEANING:
        raise ValueError(f"source must be computed, replayed or cited, got {source!r}")
    names = [answered] if isinstance(answered, str) else list(answered or [])
    for name in names:
        if name not in ANSWERERS:
            raise ValueError(f"answered must be one of {', '.join(ANSWERERS)}, got {name!r}")
    if source == "replayed" and not (names and date):
        raise ValueError("a replayed table says who answered and when: give answered and date")
    if source == "cited" and not note:
        raise ValueError("a cited table names its source: give note")
    words = [_MEANING[source] + (f" of {date}" if date else "")]
    words += ["; ".join(f"{name}: {ANSWERERS[name]}" for name in names)] if names else []
    words += [note] if note else []
    return source, ". ".join(words)


def provenance_html(kind: str, words: str) -> str:
    """The line under a table, the kind as a badge."""
    return f'<p class="rk-source"><span class="rk-badge rk-{kind}">{kind}</span> {escape(words)}.</p>'
