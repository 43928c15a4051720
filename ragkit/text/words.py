"""Cutting text into the terms that an index counts.

The tokenizer follows Unicode's word rules (UAX 29) as Lucene's ``StandardTokenizer`` applies them, with one change that
support questions need: a code such as ``ORD-482913`` stays one term. Stop words are Lucene's 33. Left out: word
segmentation for Thai, Lao and Khmer, and language detection.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from ragkit.text.stemming import stem as _stem  # `tokenize` has an argument of that name


def word_set(text: str) -> frozenset[str]:
    """Words divided by blanks, as a set.

    >>> sorted(word_set("to the"))
    ['the', 'to']
    """
    return frozenset(text.split())


LUCENE_STOP_WORDS = word_set(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
"""The 33 words of Lucene's ``EnglishAnalyzer``."""

# Python's \w leaves out combining marks, which would cut every Devanagari word at its vowel signs.
_MARKS = "".join(chr(c) for c in range(0x300, 0xFE30) if unicodedata.category(chr(c)).startswith("M"))
_HAN_AND_HIRAGANA = "\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHAR = rf"(?:[^\W{_HAN_AND_HIRAGANA}]|[{_MARKS}])"  # a letter, digit, mark or underscore of a script that spaces words
# Possessive quantifiers (++, *+) never step back, so a line of base64 costs no more than a line of prose.
_RUN = re.compile(
    rf"""
      [{_HAN_AND_HIRAGANA}]                           # 水: scripts without spaces, one character a term, as in Lucene
    | [a-z](?:\+\+|\#)(?!\w)                          # c++, c#
    | \d{{1,3}}(?:,\d{{3}})++(?:\.\d++)?(?!{_CHAR})     # 12,000.50
    | {_CHAR}++(?:(?:[-.']|(?<=\d)/(?=\d)){_CHAR}++)*+  # kettle, don't, ORD-482913, 24/7
    """,
    re.VERBOSE,
)
# Typographic twins of the characters that hold words and codes together; the soft hyphen is invisible and goes.
_TWINS = str.maketrans({"’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "\u00ad": None})


def tokenize(text: str, stem: bool = False, stop: Collection[str] = ()) -> list[str]:
    """Cut ``text`` into lower-cased terms.

    Parts joined by ``-`` or ``.`` (and digits joined by ``/``) stay whole up to the last part that holds a digit, so
    order codes, product codes, dates, versions and decimals are one term, while ``cold-brew`` is two words. A
    possessive ``'s`` is dropped. Characters of Han and Hiragana are terms of their own. One-letter words are kept.

    ``stop`` is removed before stemming; with ``stem`` the Porter stem replaces each word without a digit. Text
    without letters or digits gives ``[]``.

    >>> tokenize("The kettle's order ORD-482913 cost 3.14, not a cold-brew set.", stop=LUCENE_STOP_WORDS)
    ['kettle', 'order', 'ord-482913', 'cost', '3.14', 'cold', 'brew', 'set']
    >>> tokenize("Boiling kettles", stem=True)
    ['boil', 'kettl']
    """
    clean = unicodedata.normalize("NFC", text).translate(_TWINS).lower()
    terms = [term.removesuffix("'s") for run in _RUN.findall(clean) for term in _split_run(run)]
    drop = stop if isinstance(stop, (set, frozenset)) else frozenset(stop)
    kept = [term for term in terms if term not in drop and term.strip("_")]
    return [_stem(term) for term in kept] if stem else kept


def _split_run(run: str) -> list[str]:
    """Keep a code whole and take the words around it apart.

    >>> _split_run("il-2-induced"), _split_run("p53-dependent"), _split_run("node.js")
    (['il-2', 'induced'], ['p53', 'dependent'], ['node', 'js'])
    """
    parts = re.split(r"([-.])", run)
    with_digit = [i for i in range(2, len(parts), 2) if any(char.isdigit() for char in parts[i])]
    if not with_digit:
        return parts[::2]
    last = with_digit[-1]
    return ["".join(parts[: last + 1]), *parts[last + 2 :: 2]]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the runs without white space.

    >>> word_spans(" a  bc")
    [(1, 2), (4, 6)]
    """
    return [match.span() for match in re.finditer(r"\S+", text)]
