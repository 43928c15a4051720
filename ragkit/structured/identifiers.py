"""Names in code and schemas as words: ``order_lines`` and ``orderLines`` are found by "lines of an order".

Splitting at underscores and changes of case follows the studies of program comprehension (Enslen, Hill, Pollock and
Vijay-Shanker, *Mining source code to automatically split identifiers*, MSR 2009) in their plain form. Left out: names
written as one word (``datasetname``), which take a dictionary, and abbreviations.
"""

from __future__ import annotations

import re
from unicodedata import category

from ragkit.text import tokenize

_PART = re.compile(r"u+(?!l)|u?l+|d+")  # over the shape of a name, one letter a character
_DOT = re.compile(r"(?<=\w)\.(?=[^\W\d])")  # in "search.bm25.BM25", which is not one code with digits in it
_JOINED = re.compile(r"[^\W\d]\w*")


def identifier_words(name: str) -> list[str]:
    """The words of a name, lower-cased; the name of a letterless thing gives ``[]``.

    >>> identifier_words("reciprocal_rank_fusion"), identifier_words("HTTPServerError"), identifier_words("Order2Cash")
    (['reciprocal', 'rank', 'fusion'], ['http', 'server', 'error'], ['order', '2', 'cash'])
    """
    return [name[match.start() : match.end()].lower() for match in _PART.finditer(_shape(name))]


def _shape(name: str) -> str:
    """A name with u for capitals, l for other letters and marks, d for digits; of any script.

    >>> _shape("Größe_2B")
    'ullll du'
    """
    return "".join(
        "d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() or category(c) in ("Mn", "Mc") else " "
        for c in name
    )


def spoken(name: str) -> str:
    """A name as it would be said.

    >>> spoken("order_lines")
    'order lines'
    """
    return " ".join(identifier_words(name))


def code_tokens(text: str) -> list[str]:
    """Terms of code and of questions about it: stemmed words, and every joined name both whole and in its words.

    ``tokenize`` for `ragkit.search.BM25`. A question that quotes the name matches it whole, one that describes it
    matches its words.

    >>> code_tokens("fuse_hits merges rankings")
    ['fuse_hit', 'merg', 'rank', 'fuse', 'hit']
    """
    names = [name for name in _JOINED.findall(text) if len(identifier_words(name)) > 1]
    return tokenize(_DOT.sub(" ", text), stem=True) + tokenize(" ".join(map(spoken, names)), stem=True)
