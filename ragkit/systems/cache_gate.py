"""The second gate of a semantic cache: do two questions agree in everything that one token decides?

The vectors of "order 12345" and "order 12346", or of "from Paris to London" and back, are almost the same; the texts
are not. The gate compares texts: numbers, names, negation and polar words must be equal, and words that both questions
hold must keep their roles. A list of rules for English questions, which errs towards refusing: a refusal costs one
model call, a wrong answer costs more. Names are capitalised words and those given by the caller; another name in lower
case is not seen. Text in a script without capitals passes only if it is the same text. Left out: a model as the judge.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from ragkit.systems.answer_cache import normal_form


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_IDENTIFIER = re.compile(
    r"""\S+@\S+                                                                  # an address
      | (?<!\w)(?=[\w-]*[^\W\d_])(?=[\w-]*\d{3})\w+(?:-\w+)+                       # ORD-482913, a UUID
      | (?<!\w)(?:(?:\w+-)+[^\W\d_]+\d\w* | [^\W\d_]+\d\w*(?:-\w+)+)               # EARBUDS-AIR2
      | (?<!\w)(?-i:[A-Z]{2,})-\d+                                               # PO-17, but not 2-year
      | (?<!\w)(?=\w*\d{3})(?=\w*[^\W\d_])\w+                                    # AB1234
      | (?<![\w.,])\d{5,}(?!\w)                                                  # 482913
      | (?<!\w)(?:orders?|tickets?|invoice|case|customer|account|tracking|serial|parcel|refund|no|number)
        \.?\s*(?:no\.?|number|id|nr\.?)?\s*[:\#]?\s*\d{3,}                       # order 4512
      | \#\s*\d+                                                               # # 17""",
    re.VERBOSE | re.IGNORECASE,
)
_UP_TO_TEN = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_UP_TO_TEN)} | {
    "second": "2",
    "third": "3",
    "fourth": "4",
}
NEGATIONS = _words(
    "not no never none nothing nobody neither nor cannot without except unless non cant dont wont isnt doesnt didnt"
)
POLAR = _words(
    "before after above below over under more less most least fewer first last earliest latest oldest newest highest "
    "lowest minimum maximum min max include exclude enable disable open opened close closed off out increase decrease "
    "start stop won lost only all"
)
ROLES = _words("from to into by against than versus vs via before after")
ARTICLES = _words("a an the this that my our your their his her its")
OPENERS = ARTICLES | _words(
    "i we you is are was were am be do does did can could may might will would shall should has have had what which "
    "who whom whose when where why how if in on at for from to of by with and or but not no there these those it he "
    "she they please tell show give list explain describe compare find"
)
CALENDAR = _words(
    "january february april june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday"
)


class Facts(NamedTuple):
    """What must not differ between two questions that share an answer; all lower-cased, in order where it matters."""

    numbers: tuple[str, ...]
    names: tuple[str, ...]
    opening: str  # a capitalised first word that may be a name or mere grammar, else ""
    negations: int
    polar: frozenset[str]
    roles: dict[str, frozenset[str]]  # word -> the prepositions it stands after, "" for none
    words: tuple[str, ...]


def holds_identifier(question: str) -> bool:
    """Whether the question speaks of one order, ticket, product code or address.

    >>> holds_identifier("Refund status of order 4512?"), holds_identifier("What was revenue in Q3 2023?")
    (True, False)
    """
    return _IDENTIFIER.search(question) is not None


def facts(question: str, names: Collection[str] = ()) -> Facts:
    """Read a question's facts; ``names`` are lower-case words that count as names however they are written.

    >>> facts("Can I fly from Paris in June?").names
    ('paris', 'june')
    """
    tokens = _TOKEN.findall(_THOUSANDS.sub("", question.replace("’", "'")))
    lower = [NUMBER_WORDS.get(token.lower(), token.lower()) for token in tokens]
    named = [word in names or word in CALENDAR for word in lower]
    grammar = [word in OPENERS or word.endswith("n't") for word in lower]
    capital = [token[0].isupper() and not known for token, known in zip(tokens, grammar, strict=True)]
    roles: defaultdict[str, set[str]] = defaultdict(set)
    role = ""
    for word in lower:
        if word in ROLES:
            role = word
        elif word not in ARTICLES:
            roles[word].add(role)
            role = ""
    return Facts(
        numbers=tuple(word for word in lower if word[0].isdigit()),
        names=tuple(word for i, word in enumerate(lower) if named[i] or (capital[i] and i > 0)),
        opening=lower[0] if lower and capital[0] and not named[0] else "",
        negations=sum(word in NEGATIONS or word.endswith("n't") for word in lower),
        polar=frozenset(word for word in lower if word in POLAR),
        roles={word: frozenset(where) for word, where in roles.items()},
        words=tuple(word for word in lower if word not in ARTICLES),
    )


def _caseless(text: str) -> bool:
    """Whether a letter of a script without capitals occurs: there a name cannot be told from a word."""
    return any(char.isalpha() and not (char.islower() or char.isupper() or char.istitle()) for char in text)


def _names(own: Facts, other_text: str) -> tuple[str, ...]:
    """The names, with the opening word unless the other question writes it in lower case, as plain words are."""
    plain = {token for token in _TOKEN.findall(other_text) if token.islower()}
    return ((own.opening,) if own.opening and own.opening not in plain else ()) + own.names


def difference(one: str, other: str, names: Collection[str] = ()) -> str:
    """Why the answer to one question must not serve the other, or ``""`` if no rule objects.

    The reasons are ``script``, ``number``, ``name``, ``negation``, ``polarity`` and ``direction``.

    >>> difference("Flights from Paris to London?", "Flights from London to Paris?")
    'name'
    >>> difference("flights from paris to london", "a flight to paris from london")
    'direction'
    >>> difference("How long is the warranty?", "What is the length of the warranty?")
    ''
    """
    if normal_form(one) == normal_form(other):
        return ""
    if _caseless(one + other):
        return "script"
    a, b = facts(one, names), facts(other, names)
    if a.numbers != b.numbers:
        return "number"
    if _names(a, other) != _names(b, one):
        return "name"
    if a.negations != b.negations:
        return "negation"
    if a.polar != b.polar:
        return "polarity"
    shared = a.roles.keys() & b.roles.keys()
    swapped = any(a.roles[w] != b.roles[w] and "" not in a.roles[w] | b.roles[w] for w in shared)
    if swapped or (a.words != b.words and sorted(a.words) == sorted(b.words)):
        return "direction"
    return ""
