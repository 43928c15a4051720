"""Porter's stemmer (*An algorithm for suffix stripping*, 1980), from ``snowballstemmer``.

Left out: other languages, and Porter2, which stems a few words otherwise.
"""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

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
