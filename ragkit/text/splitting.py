"""Sentences by rules that one can read: marks, abbreviations, initials, ellipses, Markdown items, table rows.

The form is that of rule-based splitters such as *pySBD* (Sadvilkar and Neumann, 2020): find a mark, ask what stands
before and after it. The rules are our own; they cover English, and the full stops of other scripts. Left out: a
trained model, and abbreviations of other languages.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ragkit.text.words import word_set

# An abbreviation of the first list never ends one; of the second only before a word that usually starts
# one; of the third not before a digit ("No. 5" against "He said no.").
_NEVER_LAST = word_set("dr mr mrs ms mx prof rev hon gen col capt sgt lt mt messrs e.g i.e eg ie cf vs viz")
_SELDOM_LAST = word_set("etc st inc ltd co corp plc jr sr bros dept est al approx ca u.s u.k a.m p.m ph.d")
_BEFORE_DIGITS = word_set(
    "no nos fig figs eq eqs sec vol vols p pp ch chap art para ref tel ext jan feb mar apr jun jul aug sep sept oct "
    "nov dec approx ca"
)
_STARTERS = word_set(
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
