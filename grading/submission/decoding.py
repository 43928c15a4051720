"""From bytes to text, and from text to the parts of a notebook's JSON. What had to be repaired is a note.

Taken: UTF-8 with or without a byte order mark, UTF-16 of either order with or without one, zero bytes at the end (what
a full disk or a broken copy leaves). No number of the JSON is converted, since none matters and a long one takes time;
brackets are counted before anything is built of them.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from grading.submission.opening import UnreadableError

MAX_DIGITS = 4_000
MAX_PARTS = 1_000_000  # lists and objects in the JSON: each takes some 200 bytes
NOT_TEXT = {
    b"PK\x03\x04": "The file is an archive (ZIP); unpack it and hand in the notebook itself.",
    b"\x1f\x8b": "The file is an archive (gzip); unpack it and hand in the notebook itself.",
    b"%PDF": "The file is a PDF; hand in the notebook itself.",
}
CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)
WEB_PAGE = re.compile(r"\s*<(!doctype|html|\?xml)", re.IGNORECASE)


def decode(data: bytes) -> str:
    """The text of a file, lines ended by "\\n". Raises `UnreadableError`."""
    return decode_noting(data)[0]


def decode_noting(data: bytes) -> tuple[str, list[str]]:
    """The text of a file, lines ended by "\\n", and notes on what was unusual. Raises `UnreadableError`."""
    if not data.strip(b"\0 \t\r\n"):
        raise UnreadableError("The file is empty." if not data.strip() else "The file holds nothing but zero bytes.")
    for start, sentence in NOT_TEXT.items():
        if data.startswith(start):
            raise UnreadableError(sentence)
    codec, notes = _codec(data)
    wide = codec.startswith("utf-16")
    try:
        text = data[: len(data) // 2 * 2 if wide and data.endswith(b"\0") else None].decode(codec)
    except UnicodeDecodeError:
        raise UnreadableError("The file is no text: it is neither UTF-8 nor UTF-16.") from None
    whole = text.rstrip("\0")
    if len(whole) < len(text):
        notes.append("Zero bytes at the end of the file were left out; its last save or copy may have gone wrong.")
    return whole.replace("\r\n", "\n").replace("\r", "\n"), notes


def _codec(data: bytes) -> tuple[str, list[str]]:
    """How a file is encoded, by its first bytes."""
    wide = ["The file was in UTF-16; it was read all the same. Save it as UTF-8."]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", wide
    if data[1:2] == b"\0" and data[:1] != b"\0" and data[2:4] != b"\0\0":
        return "utf-16-le", wide
    if data[:1] == b"\0" and data[1:2] != b"\0":
        return "utf-16-be", wide
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig", ["The file started with a byte order mark, which was left out."]
    return "utf-8", []


def parse_json(text: str) -> Any:
    """What a notebook's text holds, numbers aside. Raises `UnreadableError`."""
    if text.count("{") + text.count("[") > MAX_PARTS:
        raise UnreadableError("The file has too many parts to be a notebook; clear its outputs and hand it in again.")
    try:
        return json.loads(text, parse_int=_no_number, parse_float=_no_number)
    except UnreadableError:
        raise
    except RecursionError:
        raise UnreadableError("The file is not a notebook: its parts are nested too deeply.") from None
    except ValueError as problem:
        raise UnreadableError(_what_is_wrong(text, getattr(problem, "pos", 0), str(problem))) from None


def _no_number(digits: str) -> int:
    """Nothing that grading needs is a number, so none is made of its digits."""
    if len(digits) > MAX_DIGITS:
        raise UnreadableError(f"The file is not a notebook: it holds a number of {len(digits)} digits.")
    return 0


def _what_is_wrong(text: str, position: int, said: str) -> str:
    """Why a text is no JSON, as far as one can tell."""
    conflict = CONFLICT.search(text)
    if conflict is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        return (
            f"The file holds the marks of a merge conflict (“{conflict[1]}” in line {line}), so it is not a notebook "
            "any more. Settle the merge and hand it in again."
        )
    if WEB_PAGE.match(text):
        return "The file is a web page, not a notebook: it is not JSON. Download the notebook itself."
    if text.lstrip()[:1] == "{" and (position >= len(text.rstrip()) or said.startswith("Unterminated string")):
        line = text.rstrip().count("\n") + 1
        return f"The file breaks off in line {line}: it was not saved or sent whole, so it is not a notebook (no JSON)."
    return (
        "The file is not a notebook: it is not JSON. It may have been cut off or renamed. (The name of a Python "
        "file ends in .py.)"
    )
