"""The entities of a question: the seeds of a graph search.

HippoRAG (Gutiérrez et al., 2024, section 2.3) asks a model for them. Two ways without a model stand beside it: runs
of capitalised words, which is how a named entity looks in an English question, and the names that an index already
knows. Each function returns names in the order of the question; no entity is ``[]``. Left out: a trained tagger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from ragkit.base import LLM
from ragkit.graph.extract import extract
from ragkit.text import tokenize

# Words that open a question with a capital and name nothing.
_OPENERS = frozenset(
    tokenize(
        "a an the who whom whose what when where which why how is are was were do does did has have had can could will "
        "would should if in on at of to from for by with during after before since until about among besides between "
        "according name list give tell"
    )
)
JOINERS = frozenset(tokenize("of the and de la le du di da del der von van"))
"""Small words that join two capitalised ones into one name."""
TITLE_JOINERS = JOINERS | {"in", "for", "on"}
"""The same for questions about books, films and songs; elsewhere "in" stands between two names more often."""
_EDGES = ".,;:?!\"'“”‘’()[]"


def capitalised_spans(question: str, joiners: Collection[str] = JOINERS) -> list[str]:
    """Runs of words that begin with a capital or a digit, joined over ``joiners`` between them.

    A first word counts only if it is no question word. Punctuation is taken off and does not end a run ("Washington,
    D.C." is one span); a possessive ``'s`` is dropped and does. Scripts without capitals give nothing.

    >>> capitalised_spans("Who founded the University of Riverside's press in 1912?")
    ['University of Riverside', '1912']
    >>> capitalised_spans("Who sang A Night in Tarnmouth?"), capitalised_spans("Who sang Rain in May?", TITLE_JOINERS)
    (['A Night', 'Tarnmouth'], ['Rain in May'])
    """
    words = [word.strip(_EDGES) for word in question.split()]
    spans: list[list[str]] = []
    run: list[str] = []
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if _names(word) and not (i == 0 and word.lower() in _OPENERS):
            bare = re.sub(r"['’]s$", "", word)
            run.append(bare)
            if bare == word:
                continue
        elif run and word.lower() in joiners and following[:1].isupper():
            run.append(word)
            continue
        if run:
            spans.append(run)
            run = []
    return [" ".join(span) for span in [*spans, run] if span]


def _names(word: str) -> bool:
    return word[:1].isupper() or word[:1].isdigit()


def known_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """A function that finds those ``names`` that stand in a question word for word, the longest at each place.

    >>> known_names(["Aster", "Aster kettle", "Riverside"])("Does riverside sell the Aster kettle?")
    ['Riverside', 'Aster kettle']
    """
    by_words: dict[tuple[str, ...], str] = {}
    for name in names:
        by_words.setdefault(tuple(tokenize(name)), name)
    by_words.pop((), None)
    longest = max(map(len, by_words), default=0)

    def find(question: str) -> list[str]:
        words = tokenize(question)
        found: dict[str, None] = {}
        i = 0
        while i < len(words):
            for length in range(min(longest, len(words) - i), 0, -1):
                name = by_words.get(tuple(words[i : i + length]))
                if name is not None:
                    found[name] = None
                    i += length
                    break
            else:
                i += 1
        return list(found)

    return find


def model_entities(llm: LLM) -> Callable[[str], list[str]]:
    """A function that asks ``llm`` with the extraction prompt and keeps the entities' names, each once."""
    return lambda question: list(dict.fromkeys(entity.name for entity in extract(question, llm).entities))
