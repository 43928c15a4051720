"""Floor 3, graphs over a collection: extraction, communities, reports, and the ways to search it.

- ``extract.py``: entities, relations and claims from a passage; prompt and gleaning
- ``records.py``: what an extraction holds; a parser of tuple records and JSON that survives what models write
- ``replies.py``: reading JSON, numbers and scores out of what a model wrote; cutting text to a token budget
- ``merge.py``: one ``KnowledgeGraph`` from many extractions, with provenance
- ``entity_graph.py``: the co-occurrence graph and its connected components (``entity_graph``, ``communities``)
- ``communities.py``: Louvain, Leiden, the hierarchy of levels and its roll-up, modularity
- ``reports.py``: a model's report on each community, bottom up
- ``global_search.py``: nearest summaries, and map-reduce over reports
- ``local_search.py``: the neighbourhood of the entities in a question
- ``drift.py``: the reports ask, local searches answer and ask on (DRIFT)
- ``drift_primer.py``: which reports it begins with, by a made-up one
- ``keyword_graph.py``: LightRAG's graph with vectors, kept up to date; ``keyword_extract.py``: what it is made of
- ``keyword_search.py``: its two-level search; ``keyword_query.py``: the keywords of a question
- ``pagerank.py``: sparse personalized PageRank
- ``hipporag.py``: passages by PageRank from the question's entities
- ``mention_graph.py``: passages linked by the titles they mention; PageRank without a model
- ``query_entities.py``: the entities of a question, by capitals, by the graph's own names, or by a model

``entity_graph``, ``communities`` and ``drift`` are imported from their modules: as names of this package they are
modules.
"""

from ragkit.graph.communities import Community, at_level, cover, hierarchy, leiden, louvain, modularity
from ragkit.graph.drift import DriftAnswer, Step
from ragkit.graph.drift_primer import expanded_question, expansion_prompt, primer_reports
from ragkit.graph.extract import (
    Claim,
    Entity,
    Extraction,
    Fault,
    Relation,
    extract,
    extract_all,
    extraction_prompt,
    parse,
)
from ragkit.graph.global_search import GlobalAnswer, Point, map_reduce, nearest_summaries
from ragkit.graph.hipporag import HippoRAG, Link, phrase_key, triples_from
from ragkit.graph.keyword_extract import KeyedExtraction, KeyedRelation, keyed, keyed_extract, keyed_prompt
from ragkit.graph.keyword_graph import KeyedEdge, KeyedEntity, KeywordGraph, Update
from ragkit.graph.keyword_query import Keywords, keywords_prompt, query_keywords
from ragkit.graph.keyword_search import KeywordContext, KeywordSearch
from ragkit.graph.local_search import LocalContext, LocalSearch, Match
from ragkit.graph.mention_graph import MentionGraph, title_names
from ragkit.graph.merge import Edge, KnowledgeGraph, MergedClaim, Node, entity_key, merge
from ragkit.graph.query_entities import JOINERS, TITLE_JOINERS, capitalised_spans, known_names, model_entities
from ragkit.graph.reports import Report, build_reports, report_prompt

__all__ = [
    "JOINERS",
    "TITLE_JOINERS",
    "Claim",
    "Community",
    "DriftAnswer",
    "Edge",
    "Entity",
    "Extraction",
    "Fault",
    "GlobalAnswer",
    "HippoRAG",
    "KeyedEdge",
    "KeyedEntity",
    "KeyedExtraction",
    "KeyedRelation",
    "KeywordContext",
    "KeywordGraph",
    "KeywordSearch",
    "Keywords",
    "KnowledgeGraph",
    "Link",
    "LocalContext",
    "LocalSearch",
    "Match",
    "MentionGraph",
    "MergedClaim",
    "Node",
    "Point",
    "Relation",
    "Report",
    "Step",
    "Update",
    "at_level",
    "build_reports",
    "capitalised_spans",
    "cover",
    "entity_key",
    "expanded_question",
    "expansion_prompt",
    "extract",
    "extract_all",
    "extraction_prompt",
    "hierarchy",
    "keyed",
    "keyed_extract",
    "keyed_prompt",
    "keywords_prompt",
    "known_names",
    "leiden",
    "louvain",
    "map_reduce",
    "merge",
    "model_entities",
    "modularity",
    "nearest_summaries",
    "parse",
    "phrase_key",
    "primer_reports",
    "query_keywords",
    "report_prompt",
    "title_names",
    "triples_from",
]
