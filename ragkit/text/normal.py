"""Normal forms: SQuAD's of an answer (Rajpurkar et al. 2016, evaluation script), and the hash that names a text."""

from __future__ import annotations

import hashlib
import re
import string

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
