"""What a file's name says about which exercise it answers: its very name, its name in other letters, a copy of it.

Copies: a browser's second download ("basket (1).ipynb"), Jupyter's ("basket-Copy1.ipynb"), a student's
("basket_final.ipynb"), a learning platform's ("leeann_4711_basket.ipynb"), a download that kept a second ending
("basket.ipynb.txt").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json", ".json", ".py")
SAME_LETTERS, COPY, OTHER = 1, 2, 9


def is_notebook(file: str) -> bool:
    """Whether a file's name ends as a notebook's does.

    >>> is_notebook("A.IPYNB"), is_notebook("a.py")
    (True, False)
    """
    return file.lower().endswith((".ipynb", ".ipynb.txt", ".ipynb.json"))


def likeness_of_name(file: str, name: str) -> int:
    """How near a file's name is to an exercise's: `SAME_LETTERS`, `COPY` or `OTHER`.

    >>> likeness_of_name("Basket.ipynb", "basket"), likeness_of_name("basket (1).ipynb", "basket")
    (1, 2)

    A Python file with more than the marks of a copy in its name is a helper: "test_basket.py" is `OTHER`.
    """
    folded, wanted = _folded(file), _folded(name)
    ending = next((ending for ending in ENDINGS if folded.endswith(ending)), "")
    stem = folded.removesuffix(ending)
    if not ending or not stem or not wanted:
        return OTHER
    if stem == wanted:
        return SAME_LETTERS if ending in (".ipynb", ".py") else COPY
    if ending == ".json":
        return OTHER
    loose, strict = _copies_of(wanted)
    return COPY if (strict if ending == ".py" else loose).search(stem) else OTHER


def best_named(file: str, names: Sequence[str]) -> tuple[int, int]:
    """How near a file's name is to the nearest of several exercises', and which that is. Of equals the longest: a file
    "sets-two (1)" is a copy of "sets-two" and not of "sets"."""
    found = [(likeness_of_name(file, name), -len(name), index) for index, name in enumerate(names)]
    nearness, _, index = min(found)
    return nearness, index


def copy_number(file: str) -> int:
    """The last number in a file's name, 0 where there is none: later copies have higher ones.

    >>> copy_number("basket (12).ipynb")
    12
    """
    digits = re.findall(r"[0-9]{1,6}", file)
    return int(digits[-1]) if digits else 0


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """A name in one form of its letters: small ones, accents as one sign with their letter."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()


@lru_cache(maxsize=256)
def _copies_of(wanted: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The exercise's name as a word of its own within another; and with no more than the marks of a copy behind it."""
    word = re.escape(wanted)
    marks = r"[\W_]*(copy|final|new|v)?[\W_]*[0-9]{0,6}[\W_]*"
    return re.compile(rf"(?<![^\W_]){word}(?![^\W_])"), re.compile(rf"\A{word}(?![^\W_]){marks}\Z")
