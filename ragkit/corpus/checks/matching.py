"""Phrases in texts by their words, and the names and codes by which one passage leads to another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ragkit.base import Passage
from ragkit.corpus.records import Question
from ragkit.text import sentences, tokenize


@lru_cache(maxsize=8_192)
def _terms(text: str) -> str:
    """Terms between blanks, articles left out, so that a phrase is found by ``in``: ``_terms("The Osprey")``."""
    return " " + " ".join(tokenize(text, stop=("a", "an", "the"))) + " "


def holds(text: str, phrase: str) -> bool:
    """Whether the words of ``phrase`` stand in a row in ``text``; an empty phrase stands nowhere.

    >>> holds("She trained on the Osprey.", "the Osprey"), holds("45 days", "5 days")
    (True, False)
    """
    wanted = _terms(phrase)
    return bool(wanted.strip()) and wanted in _terms(text)


def holds_one(text: str, phrases: Iterable[str]) -> bool:
    """Whether a text holds one of the phrases, in whatever case."""
    return any(holds(text, phrase) for phrase in phrases)


def holds_any(passage: Passage, question: Question) -> bool:
    """Whether a passage holds the answer of a question or an alias of it, in whatever case."""
    return holds_one(passage.full_text, question.answers)


def naming(passages: Sequence[Passage], names: Iterable[str]) -> dict[str, frozenset[str]]:
    """Name -> the passages that hold its words in a row, and its capitals: "in exchange for" names no Exchange."""
    texts = [(passage.id, passage.full_text) for passage in passages]
    return {
        name: frozenset(passage_id for passage_id, text in texts if has_capitals(text, name) and holds(text, name))
        for name in names
    }


def has_capitals(text: str, phrase: str) -> bool:
    """Whether the capitalised words of a phrase stand in the text so.

    >>> has_capitals("It has a lathe.", "river Lathe"), has_capitals("The River Lathe", "river Lathe")
    (False, True)
    """
    return all(word in text for word in phrase.split() if word[:1].isupper())


def states_any(passage: Passage, question: Question) -> bool:
    """As `holds_any`, and the answer's capitals are there too: "a lathe" does not name the river Lathe."""
    text = passage.full_text
    return any(holds(text, answer) and has_capitals(text, answer) for answer in question.answers)


# Capitalised, and no link between two passages.
_NO_NAMES = {
    *("Goods", "Mr", "Mrs", "Ms", "Dr", "Ltd", "Inc", "Plc", "Street", "Road"),
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
}
_WORD = re.compile(r"[^\W\d_][\w’']*[^\W_]")
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)+\b")


def names_in(passages: Sequence[Passage]) -> dict[str, frozenset[str]]:
    """Passage id to the names and codes in its title and text.

    A word is a name if, over all passages, it stands capitalised inside a sentence more often than in lower case. So
    "Keep" at the start of two instructions links nothing, and "Tindall" at the start of a sentence still counts.
    """
    inside: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    words: dict[str, set[str]] = {}
    for passage in passages:
        mine = words.setdefault(passage.id, set())
        for sentence in sentences(passage.full_text):
            for match in _WORD.finditer(sentence):
                word = match.group().removesuffix("'s").removesuffix("’s")
                if not word[0].isupper():
                    lower[word] += 1
                    continue
                mine.add(word)
                opens = not re.search(r"[^\W_]", sentence[: match.start()]) or re.search(
                    r"[:|\"“‘]\s*$", sentence[: match.start()]
                )
                inside[word] += not opens
    names = {word for word, count in inside.items() if count > lower[word.lower()] and word not in _NO_NAMES}
    return {
        passage.id: frozenset(words[passage.id] & names) | frozenset(_CODE.findall(passage.full_text))
        for passage in passages
    }
