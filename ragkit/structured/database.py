"""An SQLite database that a model's statement cannot write, leave, exhaust or look past its role in.

``mode=ro`` alone is not enough: a statement may still ATTACH another file, read every table, or run for ever. So a
query passes these gates: a read-only connection (``mode=ro`` and ``PRAGMA query_only``); one SELECT and no more; an
authorizer (https://www.sqlite.org/c3ref/set_authorizer.html), asked while SQLite compiles, which lets through reading
the tables of a role and nothing else; a look at the compiled program; limits on the size of a value and of a pattern;
and a progress handler that stops what runs too long. Rows beyond a cap are not fetched, and the result says so.

The authorizer has two gaps. It is told through which view a table is read, but gets the name of a common table
expression in the same place: ``WITH allowed AS (SELECT * FROM secret) ...`` would pass for a view. So a view gives no
rights here; its tables must be in the role too. And the columns that a NATURAL JOIN or USING compares are not reported
(SQLite 3.40), by which values of a hidden table can be guessed one by one. So the program is read as well: every table
that it opens must be in the role.

Left out: a limit on memory (SQLite has one for the whole process only) and other databases, where the role is a GRANT.
"""

from __future__ import annotations

import sqlite3
import string
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragkit.structured.result import Result
from ragkit.structured.statement import check_query

MAX_BYTES = 1_000_000
"""The longest string or blob a query may make: ``zeroblob(1e9)`` is one step, which no progress handler can stop."""

_STEPS = 1_000  # virtual machine steps between two looks at the clock
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # SQLite folds the case of ASCII only
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
_OPENING = {"OpenRead", "OpenWrite", "ReopenIdx"}  # opcodes: P2 is the root page of a table or index, P3 the schema
_INTERNAL = {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"}
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_BYTES,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def connect(path: str | Path) -> sqlite3.Connection:
    """A read-only connection to a file, however it is named; a missing file is a ``ValueError``, and is not made.

    A path in a URI must be quoted: of ``what?.db`` SQLite would open ``what``. Text that is not UTF-8, which real
    databases hold, is read with replacement characters.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"path is no file: {file}")
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("PRAGMA query_only = ON")
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


class Database:
    """Guarded queries on a connection (or a file, opened by `connect`).

    ``tables`` is the role: the only tables and views that may be read; ``None`` stands for all of them, and never for
    SQLite's own. ``seconds`` limits the run time of a query, ``max_rows`` what is fetched of it. The guard is on the
    connection only while a query runs: who holds the connection keeps their rights. Raises `ValueError` for a table
    that does not exist and for a limit out of range.
    """

    def __init__(
        self,
        source: sqlite3.Connection | str | Path,
        tables: Collection[str] | None = None,
        seconds: float = 2.0,
        max_rows: int = 50,
    ) -> None:
        if isinstance(tables, str):
            raise ValueError(f"tables must be a collection of names, got the string {tables!r}")
        if not seconds > 0:
            raise ValueError(f"seconds must be above 0, got {seconds!r}")
        if isinstance(max_rows, bool) or max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, got {max_rows!r}")
        self.connection = source if isinstance(source, sqlite3.Connection) else connect(source)
        self.seconds, self.max_rows = seconds, max_rows
        existing = {_fold(name): name for schema, name in self._named() if schema == "main"}
        existing = {key: name for key, name in existing.items() if not key.startswith("sqlite_")}
        wanted = existing if tables is None else {_fold(name): name for name in tables}
        if unknown := sorted(set(wanted) - set(existing)):
            raise ValueError(f"tables holds {wanted[unknown[0]]!r}, which the database does not have")
        self._role = frozenset(wanted)
        self.tables = tuple(sorted(existing[key] for key in wanted))

    def _named(self) -> list[tuple[str, str]]:
        """Schema and name of every table, view and table-valued function of the connection."""
        rows = self.connection.execute("SELECT schema, name FROM pragma_table_list").fetchall()
        return rows + self.connection.execute("SELECT '', name FROM pragma_module_list").fetchall()

    def run(self, sql: str) -> Result:
        """The result of one SELECT, at most ``max_rows`` rows of it.

        ``ValueError`` for what is not exactly one SELECT; ``sqlite3.Error`` with the database's own words for one that
        it refuses ("access to wages.amount is prohibited", "no such column: title"), and for one that ran too long.
        """
        query, homes = check_query(sql), self._homes()
        with self._guarded():
            if hidden := sorted(self._opened(query, homes) - self._role):
                raise sqlite3.DatabaseError(f"access to {hidden[0]} is prohibited")
            cursor = self.connection.cursor()
            try:
                rows = cursor.execute(query).fetchmany(self.max_rows + 1)
                columns = tuple(column[0] for column in cursor.description)
            except sqlite3.OperationalError as error:
                if str(error) != "interrupted":
                    raise
                raise sqlite3.OperationalError(f"stopped: the query ran longer than {self.seconds:g} s") from error
            finally:
                cursor.close()
        return Result(columns, rows[: self.max_rows], len(rows) > self.max_rows)

    def tables_of(self, sql: str) -> list[str]:
        """The tables (and views) that a SELECT reads, sorted, as SQLite's compiler names them; nothing is run."""
        query, seen, homes = check_query(sql), set[str](), self._homes()
        with self._guarded(seen):
            seen |= self._opened(query, homes)
        return [name for name in self.tables if _fold(name) in seen]

    def _homes(self) -> dict[int, set[str]]:
        """Root page -> the table whose rows or index begin there; 0 -> all virtual tables, which have no page."""
        homes: dict[int, set[str]] = {1: {"sqlite_master"}, 0: set()}
        for page, table in self.connection.execute(
            "SELECT rootpage, tbl_name FROM sqlite_master WHERE type IN ('table', 'index')"
        ):
            homes.setdefault(page or 0, set()).add(_fold(table))
        return homes

    def _opened(self, query: str, homes: dict[int, set[str]]) -> set[str]:
        """The tables that the compiled program of a query opens; one that is no table of this file is "?"."""
        found: set[str] = set()
        for _, code, _, page, schema, *_ in self.connection.execute(f"EXPLAIN {query}"):
            if code in _OPENING:
                found |= homes.get(page, {"?"}) if schema == 0 else {"?"}
            elif code == "VOpen":  # which virtual table it is, the listing does not say
                found |= homes[0] or {"?"}
        return found

    @contextmanager
    def _guarded(self, seen: set[str] | None = None) -> Iterator[None]:
        """Authorizer, limits and clock on the connection, and everything as it was afterwards."""
        connection = self.connection
        query_only = connection.execute("PRAGMA query_only").fetchone()[0]
        before = {limit: connection.setlimit(limit, value) for limit, value in _LIMITS.items()}
        closed = ({_fold(name) for _, name in self._named()} | _INTERNAL) - self._role
        deadline = time.monotonic() + self.seconds

        def allows(action: int, first: str, second: str, schema: str) -> bool:
            if action == sqlite3.SQLITE_FUNCTION:
                return _fold(second) not in _FORBIDDEN_FUNCTIONS
            if action != sqlite3.SQLITE_READ:
                return action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
            if seen is not None:
                seen.add(_fold(first))
            # count(*) reads a table and no column of it, and SQLite reports it for a common table expression as well:
            # a name that belongs to nothing on this connection passes.
            known = _fold(first) in self._role or (not second and _fold(first) not in closed)
            return known and schema in ("", "main")

        def authorize(action: int, *given: str | None) -> int:
            first, second, schema = (part or "" for part in given[:3])
            return sqlite3.SQLITE_OK if allows(action, first, second, schema) else sqlite3.SQLITE_DENY

        try:
            connection.execute("PRAGMA query_only = ON")
            connection.set_authorizer(authorize)
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            yield
        finally:
            connection.set_progress_handler(None, 0)
            connection.set_authorizer(None)
            connection.execute(f"PRAGMA query_only = {query_only}")
            for limit, value in before.items():
                connection.setlimit(limit, value)


def _fold(name: str) -> str:
    """A name as SQLite compares it: ASCII letters in lower case, all others as they are."""
    return name.translate(_LOWER)
