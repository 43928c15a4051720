"""The gradebook's file: made where there is none, checked where there is one, and never left half written.

Everything is written in transactions that ask for the right to write before anything else. So another program's lock is
met at one place, and a process that is killed leaves the file as it was: SQLite takes back what was begun.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from grading.gradebook.tables import ALEMBIC_DIR, Base, Course

COURSE = "default_course"  # nbgrader's name for the only course of a gradebook
KEPT = "the records are kept, so grading again is quick"


class GradebookLocked(ValueError):  # noqa: N818 - it says what is the matter
    """Another program is writing in the gradebook. Nothing is lost: grade again when it is done."""


def connect(database: Path, wait: float) -> Engine:
    """An engine that waits so many seconds for other programs, and leaves it to `transaction` to begin one."""
    url = URL.create("sqlite", database=str(database.resolve()))
    engine = create_engine(url, connect_args={"timeout": wait})  # SQLite's busy_timeout

    @event.listens_for(engine, "connect")
    def leave_transactions_alone(connection: Any, _: object) -> None:
        connection.isolation_level = None

    return engine


@contextlib.contextmanager
def transaction(engine: Engine, database: Path) -> Iterator[Connection]:
    """A transaction with the right to write from its start. All of it is written, or nothing.

    Raises `GradebookLocked` when another program keeps the file, and `ValueError` that names it when it cannot be
    written for another reason.
    """
    with explained(database), engine.connect() as connection:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()
        except BaseException:
            connection.invalidate()  # after a commit that failed, SQLAlchemy would keep the transaction and its lock
            raise


@contextlib.contextmanager
def explained(database: Path) -> Iterator[None]:
    """Turns what the database says into one sentence that names the file."""
    try:
        yield
    except SQLAlchemyError as problem:
        reason = getattr(problem, "orig", None) or problem
        code = getattr(reason, "sqlite_errorcode", 0) & 0xFF  # the rest of the number tells kinds of the same trouble
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise GradebookLocked(f"gradebook: {database} is in use by another program ({reason}); {KEPT}") from problem
        raise ValueError(f"gradebook: {database} cannot be written ({reason}); {KEPT}") from problem


def prepare(connection: Connection, database: Path) -> None:
    """Make nbgrader's tables in a new file, and see that those of an old one are nbgrader's of this version.

    Raises `ValueError` that names the file and says what to do.
    """
    from alembic.script import ScriptDirectory  # it takes its time, and a gradebook is opened once

    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    tables = set(inspect(connection).get_table_names())
    if not tables:
        Base.metadata.create_all(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": head})
    elif not {"assignment", "grade", "student"} <= tables:
        raise ValueError(f"gradebook: {database} is a database of another program, and no gradebook of nbgrader's")
    known = "alembic_version" in tables or not tables
    version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar() if known else None
    if version != head:
        made = f"its tables are of version {version or 'unknown'}, this nbgrader's of {head}"
        raise ValueError(
            f"gradebook: {database} was made by another version of nbgrader ({made}); run `nbgrader db upgrade` first"
        )
    if connection.execute(select(Course.id).where(Course.id == COURSE)).first() is None:
        connection.execute(insert(Course.__table__), [{"id": COURSE}])
