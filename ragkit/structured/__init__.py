"""Floor 3, retrieval from what has a structure: tables of a database, and code.

- ``statement.py``: the tokens of SQL, and the one statement in a model's reply
- ``database.py``: a guarded, read-only SQLite connection
- ``result.py``: columns and rows, whether more were left, and the table in text
- ``schema.py``: tables, columns, keys, comments and sample values of a database
- ``schema_text.py``: a table as text, for the prompt and for search
- ``schema_linking.py``: the tables that a question needs, by retrieval and by keys
- ``sql_examples.py``: solved examples by retrieval, and leave-one-out
- ``sql.py``: question to SQL to rows, repaired with the database's own error; the preview
- ``compare.py``: execution accuracy
- ``sql_benchmarks.py``: defog's and Spider's questions and schemas
- ``identifiers.py``: names of code and schemas in words
- ``code_text.py``: lines, comments, signatures and docstrings of Python source
- ``code_chunks.py``: chunks along the syntax tree that lose no line
- ``code_search.py``: an index of a package of code
"""

from ragkit.structured.code_chunks import CodeChunk, code_chunks
from ragkit.structured.code_search import CodeFiles, CodeSearch, package_chunks
from ragkit.structured.compare import Verdict, compare, execution_match
from ragkit.structured.database import Database, connect
from ragkit.structured.identifiers import code_tokens, identifier_words
from ragkit.structured.result import Result
from ragkit.structured.schema import Column, ForeignKey, Schema, Table, read_schema
from ragkit.structured.schema_linking import Linked, LinkingScore, SchemaLinker, linking_scores
from ragkit.structured.schema_text import create_text, prompt_text, table_passages, table_text
from ragkit.structured.sql import Attempt, SQLAnswer, answer_prompt, preview, repair_prompt, sql_prompt, text_to_sql
from ragkit.structured.sql_examples import SQLExample, SQLExamples
from ragkit.structured.statement import check_query, is_ordered, sql_in_reply, statements

__all__ = [
    "Attempt",
    "CodeChunk",
    "CodeFiles",
    "CodeSearch",
    "Column",
    "Database",
    "ForeignKey",
    "Linked",
    "LinkingScore",
    "Result",
    "SQLAnswer",
    "SQLExample",
    "SQLExamples",
    "Schema",
    "SchemaLinker",
    "Table",
    "Verdict",
    "answer_prompt",
    "check_query",
    "code_chunks",
    "code_tokens",
    "compare",
    "connect",
    "create_text",
    "execution_match",
    "identifier_words",
    "is_ordered",
    "linking_scores",
    "package_chunks",
    "preview",
    "prompt_text",
    "read_schema",
    "repair_prompt",
    "sql_in_reply",
    "sql_prompt",
    "statements",
    "table_passages",
    "table_text",
    "text_to_sql",
]
