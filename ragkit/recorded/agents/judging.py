"""Whether a reply is right: a rule for each kind of question, and none that needs a model.

Left out: answers that are right in other words than the corpus accepts.
"""

from __future__ import annotations

import re

from ragkit.recorded.agents.questions import Case
from ragkit.systems.self_route import declines
from ragkit.text import normalize_answer

SHARE = 0.8
LONGEST = 60
"""Words: a longer reply leaves the reader to look for the answer, and is not right."""


def right(case: Case, reply: str) -> bool:
    """Whether a reply is right: it declines, names the definition, gives the number, or holds the answer's words.

    Of an answer of up to four words a reply must hold all, of a longer one `SHARE`, in any order. Nothing is never
    right, and neither is a reply of more than `LONGEST` words.
    """
    if not reply.strip() or len(reply.split()) > LONGEST:
        return False
    if case.kind == "nowhere":
        return silent(reply)
    if case.kind == "code":
        return any(_named(name, reply) for name in case.names)
    if case.kind == "arithmetic":
        said = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", reply)]
        return len(said) <= 4 and any(abs(number - float(case.answers[0])) < 0.01 for number in said)
    words = _words(reply)
    return any(wanted and len(wanted & words) >= SHARE * len(wanted) for wanted in map(_words, case.answers))


def _words(text: str) -> set[str]:
    return set(normalize_answer(re.sub("[£$€]", "", text)).split())


def silent(reply: str) -> bool:
    """Whether a reply says that it has no answer.

    >>> silent("The sources at hand do not say."), silent("Two years."), silent("No source gives it.")
    (True, False, True)
    """
    nobody = r"\b(?:sources?|documents?|passages?|observations?|tools?)\b[^.]* do(?:es)? not\b|\bno (?:source|document)"
    return declines(reply) or bool(re.search(rf"{nobody}|\bnot (?:said|known|found|given|stated)\b", reply.lower()))


def _named(name: str, reply: str) -> bool:
    """Whether a qualified name is in a reply: its last part, with the one before where that is an everyday word."""
    parts = name.split(".")
    tail = parts[-1] if "_" in parts[-1] or parts[-1] != parts[-1].lower() else ".".join(parts[-2:])
    return bool(re.search(rf"(?<!\w){re.escape(tail)}(?!\w)", reply))
