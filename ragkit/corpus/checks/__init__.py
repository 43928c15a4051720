"""The checks behind ``ragkit.corpus.check``, one file for each kind of promise.

- ``whole.py``: sizes, ids, versions that supersede each other, order codes
- ``labels.py``: what each question says of its passages and its answer
- ``chains.py``: the hops of a multi-hop question
- ``recordings.py``: recorded answers and the prompts they answer
- ``matching.py``: phrases in texts, and the names that link two passages
- ``faults.py``: what a check yields
"""
