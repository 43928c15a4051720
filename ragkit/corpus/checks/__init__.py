"""The checks behind ``ragkit.corpus.check``, one file for each kind of promise.

- ``whole.py``: sizes, ids, versions that supersede each other, order codes
- ``labels.py``: what each question says of its passages and its answer
- ``chains.py``: the hops of a multi-hop question
- ``world.py``: the chains of ``WORLD.md``, and that a question's passages are their only links
- ``outside.py``: the labels of the outside collection, and that it is no way around a chain
- ``database.py``: the database's facts and the passages they were read from
- ``sql.py``: the queries that answer the SQL questions
- ``recordings.py``: recorded answers and the prompts they answer
- ``matching.py``: phrases in texts, and the names that link two passages
- ``faults.py``: what a check yields
"""
