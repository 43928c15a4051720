"""Floor 2, what is stored for a passage beside its text.

- ``parents.py``: search small children, return their parents
- ``representations.py``: many representations of a passage, returned once
- ``summaries.py``: a summary as a representation
- ``questions.py``: the questions a passage answers (doc2query)
- ``contextual.py``: a sentence on where a chunk stands, in front of it in both indexes
- ``context_cost.py``: what that costs, with and without a cached prefix
- ``streaming.py``: contexts for documents that arrive, change and go
- ``raptor.py``: a tree of summaries, searched on all its levels
- ``raptor_clusters.py``: its soft clusters
"""

from ragkit.index.context_cost import TokenBill, corpus_bill, document_bill, pays_from, prefix_cost, price
from ragkit.index.contextual import (
    context_prompt,
    contexts,
    contextual_hybrid,
    contextual_index,
    contextualised,
    document_prefix,
    relative_cut,
)
from ragkit.index.parents import Indexer, ParentChild, parents_for
from ragkit.index.questions import (
    doc2query_index,
    expanded,
    hypothetical_questions,
    question_representations,
    questions_prompt,
)
from ragkit.index.raptor import Raptor, cluster_prompt
from ragkit.index.representations import itself, representation, representations_index
from ragkit.index.streaming import Change, StreamingContexts
from ragkit.index.summaries import summaries, summary_prompt

__all__ = [
    "Change",
    "Indexer",
    "ParentChild",
    "Raptor",
    "StreamingContexts",
    "TokenBill",
    "cluster_prompt",
    "context_prompt",
    "contexts",
    "contextual_hybrid",
    "contextual_index",
    "contextualised",
    "corpus_bill",
    "doc2query_index",
    "document_bill",
    "document_prefix",
    "expanded",
    "hypothetical_questions",
    "itself",
    "parents_for",
    "pays_from",
    "prefix_cost",
    "price",
    "question_representations",
    "questions_prompt",
    "relative_cut",
    "representation",
    "representations_index",
    "summaries",
    "summary_prompt",
]
