"""Floor 2, transforming the query before the search.

Every ``*_search`` takes ``(question, k, *, …)``, so ``functools.partial(multi_query_search, retriever=r, llm=m)`` is a
`Retriever` like any other.

- ``conversational.py``: a follow-up becomes a question that stands alone
- ``rewrite.py``: one better query; rewrite-retrieve-read
- ``reward.py``: a choice among rewriters, trained on the reader's reward
- ``multi_query.py``: several wordings, fused by rank
- ``step_back.py``: the general question beside the specific one
- ``decompose.py``: sub-questions, interleaved
- ``hyde.py``: the vector of a hypothetical answer
- ``query2doc.py``: the query with a pseudo-document appended
- ``few_shot.py``: solved examples for a base model
- ``replies.py``: reading one line, or a list, from a reply
"""

from ragkit.query.conversational import conversational_search, standalone_question, standalone_question_prompt
from ragkit.query.decompose import decompose_search, sub_questions, sub_questions_prompt
from ragkit.query.few_shot import few_shot, few_shot_prompt, first_completion
from ragkit.query.hyde import hyde_search, hyde_vector, hypothetical_document_prompt, hypothetical_documents
from ragkit.query.multi_query import multi_query_search, paraphrases, paraphrases_prompt
from ragkit.query.query2doc import dense_query, pseudo_document, pseudo_document_prompt, query2doc_search, sparse_query
from ragkit.query.replies import list_items, one_line
from ragkit.query.reward import RewriteSelector, reader_reward, reward_best, surface_features
from ragkit.query.rewrite import (
    Reading,
    read_prompt,
    rewrite_query,
    rewrite_query_prompt,
    rewrite_retrieve_read,
    rewrite_search,
)
from ragkit.query.step_back import step_back_prompt, step_back_question, step_back_search

__all__ = [
    "Reading",
    "RewriteSelector",
    "conversational_search",
    "decompose_search",
    "dense_query",
    "few_shot",
    "few_shot_prompt",
    "first_completion",
    "hyde_search",
    "hyde_vector",
    "hypothetical_document_prompt",
    "hypothetical_documents",
    "list_items",
    "multi_query_search",
    "one_line",
    "paraphrases",
    "paraphrases_prompt",
    "pseudo_document",
    "pseudo_document_prompt",
    "query2doc_search",
    "read_prompt",
    "reader_reward",
    "reward_best",
    "rewrite_query",
    "rewrite_query_prompt",
    "rewrite_retrieve_read",
    "rewrite_search",
    "sparse_query",
    "standalone_question",
    "standalone_question_prompt",
    "step_back_prompt",
    "step_back_question",
    "step_back_search",
    "sub_questions",
    "sub_questions_prompt",
    "surface_features",
]
