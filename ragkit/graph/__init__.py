"""Floor 3, graphs over a collection: extraction, communities, reports, and three ways to search.

- ``extract.py``: entities, relations and claims from a passage; prompt and gleaning
- ``records.py``: what an extraction holds; a parser of tuple records and JSON that survives what models write
- ``replies.py``: reading JSON, numbers and scores out of what a model wrote; cutting text to a token budget
- ``merge.py``: one ``KnowledgeGraph`` from many extractions, with provenance
- ``entity_graph.py``: the co-occurrence graph and its connected components (``entity_graph``, ``communities``)
- ``communities.py``: Louvain, Leiden, the hierarchy of levels and its roll-up, modularity
- ``reports.py``: a model's report on each community, bottom up
- ``global_search.py``: nearest summaries, and map-reduce over reports
- ``local_search.py``: the neighbourhood of the entities in a question
- ``pagerank.py``: sparse personalized PageRank
- ``hipporag.py``: passages by PageRank from the question's entities
- ``query_entities.py``: the entities of a question, by capitals, by the graph's own names, or by a model

``entity_graph`` and ``communities`` are imported from their modules: as names of this package they are modules.
"""

from ragkit.graph.communities import Community, at_level, cover, hierarchy, leiden, louvain, modularity
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
from ragkit.graph.local_search import LocalContext, LocalSearch, Match
from ragkit.graph.merge import Edge, KnowledgeGraph, MergedClaim, Node, entity_key, merge
from ragkit.graph.query_entities import JOINERS, TITLE_JOINERS, capitalised_spans, known_names, model_entities
from ragkit.graph.reports import Report, build_reports, report_prompt

__all__ = [
    "JOINERS",
    "TITLE_JOINERS",
    "Claim",
    "Community",
    "Edge",
    "Entity",
    "Extraction",
    "Fault",
    "GlobalAnswer",
    "HippoRAG",
    "KnowledgeGraph",
    "Link",
    "LocalContext",
    "LocalSearch",
    "Match",
    "MergedClaim",
    "Node",
    "Point",
    "Relation",
    "Report",
    "at_level",
    "build_reports",
    "capitalised_spans",
    "cover",
    "entity_key",
    "extract",
    "extract_all",
    "extraction_prompt",
    "hierarchy",
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
    "report_prompt",
    "triples_from",
]
