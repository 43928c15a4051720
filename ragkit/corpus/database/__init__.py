"""The company as an SQLite database, for questions that SQL answers: ``build(path)``.

- ``schema.sql`` the tables, with their comments
- ``database.toml`` what the documents state: stores, prices, who sells what, staffing of 2024, orders, returns
- ``facts.py`` that file as rows
- ``made_up.py`` the other orders, some thousands from June 2024 to January 2025
- ``numbers.py`` the numbers that these get
- ``builder.py`` the file

"Which stores sell the earbuds and were short of staff in June" has one answer, whether it is sought in the documents or
here: ``python -m ragkit.corpus check`` holds one against the other. The questions are in ``ragkit/corpus/sql.toml``.
A built file is never committed.
"""

from ragkit.corpus.database.builder import build, open_read_only
from ragkit.corpus.database.facts import facts, schema
from ragkit.corpus.database.numbers import ABSENT

__all__ = ["ABSENT", "build", "facts", "open_read_only", "schema"]
