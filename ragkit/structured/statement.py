"""Reading SQL as text: its tokens, where a statement ends, and the one statement in a model's reply.

A reply brings fences with or without a language tag, labels ("SQLQuery:"), prose before and after, a final ";". Ways
of cleaning it that lose letters are common: ``str.strip("```sql")`` takes away a *set* of characters, so that
``select`` comes out as ``elect``. Here fences and labels are matched as what they are. What stands behind the
statement is cut off only where SQLite's own parser refuses the longer text and the part cut off does not open like a
clause: a WHERE must never be dropped to make a text parse.

Left out: SQL dialects (tokens are SQLite's) and a syntax tree; for those take ``sqlglot``.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>'(?:[^']|'')*'?)                                         # a missing end runs to the end, as in SQLite
    | (?P<name>"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<number>\.?\d[\w.]*)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_FENCE = re.compile(r"^[ \t]*(?P<fence>```+|~~~+)[ \t]*\w*[ \t]*\n(?P<body>.*?)(?:(?P=fence)|\Z)", re.M | re.S)
_ONE_LINE_FENCE = re.compile(r"```(?:sql(?:ite)?\b)?\s*(.+?)```|`([^`\n]+)`", re.I | re.S)
# What a statement opens with. Most of these verbs are words of prose too, so they must go on as SQL does.
_OPENING = r"""(?:SELECT\b|VALUES\s*\(|REPLACE\s+INTO\b|INSERT\s+(?:OR|INTO)\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b
    |WITH\s+(?:RECURSIVE\s+)?\S+\s*(?:\([^)]*\)\s*)?AS\s*(?:(?:NOT\s+)?MATERIALIZED\s*)?\(
    |(?:CREATE|DROP|ALTER)\s+(?:TEMP\w*\s+|UNIQUE\s+|VIRTUAL\s+)?(?:TABLE|INDEX|VIEW|TRIGGER)\b
    |PRAGMA\s+\w+\s*(?:[;=(.]|\Z)|ATTACH\s+(?:DATABASE\s+)?['"]|VACUUM\s*(?:;|\Z)|EXPLAIN\s+(?:QUERY|SELECT)\b)"""
_FLAGS = re.IGNORECASE | re.MULTILINE | re.VERBOSE
_STARTS = (  # the better sign of a statement first: a line, then a label's colon, then capitals, then SELECT with FROM
    re.compile(rf"^[ \t(]*(?P<sql>{_OPENING})", _FLAGS),
    re.compile(rf":[ \t]*(?P<sql>{_OPENING})", _FLAGS),
    re.compile(r"\b(?P<sql>SELECT\s)"),
    re.compile(r"\b(?P<sql>select\s.*?\sfrom\s)", re.I | re.S),
)
_CLAUSE = re.compile(
    r"(?:FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|JOIN|LEFT|RIGHT|FULL|INNER|OUTER|CROSS"
    r"|NATURAL|ON|USING|AND|OR|NOT|IN|IS|LIKE|BETWEEN|EXISTS|AS|CASE|WHEN|THEN|ELSE|END|SELECT|WITH|WINDOW|ASC|DESC"
    r"|COLLATE|FILTER|OVER|VALUES)\b|[^\w\s]",
    re.I,
)
_LATER_CLAUSE = re.compile(
    r"^\s*(?:WHERE|GROUP\s+BY|ORDER\s+BY|HAVING|LIMIT|UNION|INTERSECT|EXCEPT|(?:\w+\s+){0,2}JOIN)\b", re.I | re.M
)
_SYNTAX = ("syntax error", "incomplete input", "unrecognized token")


class Token(NamedTuple):
    """A piece of SQL: ``kind`` is space, comment, text (a string), name (quoted), word, number or mark."""

    kind: str
    text: str
    depth: int
    """How many parentheses are open around it."""


def tokens(sql: str) -> Iterator[Token]:
    """The pieces of ``sql`` in order; joined, their texts are ``sql`` again."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        text = match[0]
        depth -= text == ")" and depth > 0
        yield Token(str(match.lastgroup), text, depth)
        depth += text == "("


def statements(sql: str) -> list[str]:
    """The statements of a script, without the ";" between them; what holds only blanks and comments is none.

    Also how a cell of defog's questions is read, which gives several right queries divided by ";".

    >>> statements("SELECT ';' AS mark; -- done;\\nSELECT 2;")
    ["SELECT ';' AS mark", '-- done;\\nSELECT 2']
    """
    found, current, has_code = [], "", False
    for token in [*tokens(sql), Token("mark", ";", 0)]:
        if token.text == ";":
            if has_code:
                found.append(current.strip())
            current, has_code = "", False
        else:
            current += token.text
            has_code = has_code or token.kind not in ("space", "comment")
    return found


def is_ordered(sql: str) -> bool:
    """Whether the whole result has an ORDER BY; one in a subquery, a window or a comment does not count.

    >>> is_ordered("SELECT a FROM t ORDER BY a"), is_ordered("SELECT * FROM (SELECT a FROM t ORDER BY a)")
    (True, False)
    """
    words = [t.text.upper() for t in tokens(sql) if not t.depth and t.kind not in ("space", "comment")]
    return any(pair == ("ORDER", "BY") for pair in pairwise(words))


def check_query(sql: str) -> str:
    """The one SELECT that ``sql`` is, without its final ";".

    ``ValueError`` for no statement, for more than one, and for anything that is no SELECT (or VALUES), such as a WITH
    that ends in a DELETE. This reads the text only; what the statement may touch is the database's own check.
    """
    found = statements(sql)
    if len(found) != 1:
        raise ValueError(f"sql must be one statement, got {len(found) or 'none'}")
    words = [t.text.upper() for t in tokens(found[0]) if t.kind == "word" and not t.depth]
    verb = next((w for w in words if w in ("SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE")), "")
    if not words or words[0] not in ("SELECT", "VALUES", "WITH") or verb not in ("SELECT", "VALUES"):
        raise ValueError(f"sql must be a SELECT, got {' '.join(found[0].split())[:60]!r}")
    return found[0]


def sql_in_reply(reply: str) -> str:
    """The one statement that a model's reply holds, without fence, label, prose and final ";".

    ``ValueError`` if there is none, or if there are two different ones: which of them was meant is not ours to guess.
    A statement that writes is given back too, for ``check_query`` to refuse. A text that SQLite cannot parse comes back
    as it is: the database's error is the best hint for its repair.

    >>> sql_in_reply("Here you go:\\n```sql\\nSELECT name FROM stores;\\n```\\nThis lists the stores.")
    'SELECT name FROM stores'
    >>> sql_in_reply("SQLQuery: select 1; SQLResult: [(1,)]")
    'select 1'
    """
    blocks = [m["body"] for m in _FENCE.finditer(reply)]
    blocks = blocks or [m[1] or m[2] for m in _ONE_LINE_FENCE.finditer(reply)]
    found = [sql for block in blocks for sql in _found(block, fenced=True)] or _found(reply, fenced=False)
    different = list(dict.fromkeys(found))
    if not different:
        raise ValueError("reply holds no SQL statement")
    if len(different) > 1:
        raise ValueError(f"reply holds {len(different)} statements: give exactly one")
    return different[0]


def _found(text: str, fenced: bool) -> list[str]:
    """The statements of a text, prose around and between them dropped; in a fence only line starts and labels count."""
    for sign in _STARTS[:2] if fenced else _STARTS:
        if match := sign.search(text):
            first, *rest = statements(text[match.start("sql") :])
            more = [part for part in map(_without_comments, rest) if _STARTS[0].match(part)]
            return [_without_tail(part) for part in (first, *more)]
    return []


def _without_comments(sql: str) -> str:
    return "".join(" " if token.kind == "comment" else token.text for token in tokens(sql)).strip()


def _without_tail(sql: str) -> str:
    """A statement without the prose behind it.

    >>> _without_tail("SELECT name FROM stores\\nWHERE open\\n\\nThis query lists the open stores.")
    'SELECT name FROM stores\\nWHERE open'
    """
    if parses(sql):
        return sql
    lines = sql.splitlines(keepends=True)
    for end in range(len(lines) - 1, 0, -1):
        tail = "".join(lines[end:]).lstrip()
        if tail and not _CLAUSE.match(tail) and not _LATER_CLAUSE.search(tail):
            head = "".join(lines[:end]).strip()
            if parses(head):
                return head
    return sql


def parses(sql: str) -> bool:
    """Whether SQLite's parser takes ``sql``; whether its tables exist is another matter."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(f"EXPLAIN {sql}")
        except sqlite3.Error as error:
            return not any(sign in str(error) for sign in _SYNTAX)
        return True
