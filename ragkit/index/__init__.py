"""Floor 2, what is stored for a passage beside its text.

- ``parents.py``: search small children, return their parents
- ``representations.py``: many representations of a passage, returned once
- ``summaries.py``: a summary as a representation
- ``questions.py``: the questions a passage answers (doc2query)
"""

from ragkit.index.parents import Indexer, ParentChild, parents_for
from ragkit.index.questions import (
    doc2query_index,
    expanded,
    hypothetical_questions,
    question_representations,
    questions_prompt,
)
from ragkit.index.representations import itself, representation, representations_index
from ragkit.index.summaries import summaries, summary_prompt

__all__ = [
    "Indexer",
    "ParentChild",
    "doc2query_index",
    "expanded",
    "hypothetical_questions",
    "itself",
    "parents_for",
    "question_representations",
    "questions_prompt",
    "representation",
    "representations_index",
    "summaries",
    "summary_prompt",
]
