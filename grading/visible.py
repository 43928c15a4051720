"""Text that others wrote, made safe to look at: what a terminal obeys and what an eye cannot see is spelt out.

An escape sequence can wipe the screen and write another mark on it, a bidirectional control can turn a line round, and
a character without width can hide in a name. None is needed in a message, so each is shown as a sign of its own.
Colours, which honest programs print, are left out. Kept are tab and line end, and the joiners that Persian, Indic
scripts and emoji need between two letters.
"""

from __future__ import annotations

import re

COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
# Control characters, soft hyphen, fillers, and what is invisible or steers the direction of a line; lone surrogates
# cannot be written in UTF-8.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f]"
)
JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""The text with every character that acts or hides shown.

    >>> visible("a\x1b[31mb\x1b[0m\x1b[2Jc\r\n"), visible("pay\u202eload\x00")
    ('ab⟨U+001B⟩[2Jc\n', 'pay⟨U+202E⟩load⟨U+0000⟩')
    """
    return UNSEEN.sub(_shown, COLOUR.sub("", text.replace("\r\n", "\n")))


def _shown(match: re.Match[str]) -> str:
    kept = match[0] in JOINERS and _joins(match.string, match.start())
    return match[0] if kept else f"⟨U+{ord(match[0]):04X}⟩"


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands between two characters beyond ASCII, neither of them unseen itself."""
    sides = text[max(0, place - 1) : place], text[place + 1 : place + 2]
    return all(one and not one.isascii() and not UNSEEN.match(one) for one in sides)
