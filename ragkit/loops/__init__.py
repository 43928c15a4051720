"""Floor 4, loops: retrieval more than once, steered by what was found or written so far. Every loop has a hard bound.

- ``trace.py``: one record a step, printable as a table
- ``context.py``: evidence without repeats; a growing context whose newest part survives a cut
- ``sentence.py``: the first sentence of a completion, with the probabilities of its tokens
- ``iterative.py``: sub-question, search, answer, next sub-question
- ``ircot.py``: retrieval interleaved with chain-of-thought (IRCoT)
- ``beam.py``: beam search over such chains
- ``self_rag_tokens.py``: Self-RAG's reflection tokens and how they are read
- ``self_rag.py``: its retrieval gate, its segment score, and the choice of an answer
- ``self_rag_beam.py``: its long form, a beam over segments
- ``strips.py``: documents cut into strips, filtered and joined (CRAG)
- ``relevance.py``: a chat model as CRAG's evaluator
- ``crag.py``: Corrective RAG: correct, incorrect, ambiguous
- ``flare_queries.py``: what FLARE searches for: masked sentences, questions about unsure spans
- ``flare.py``: retrieval where the next sentence is unsure (FLARE)
- ``routes.py``: what routers share: decisions with their cost, features of a question, calibration, ROC
- ``route_classifier.py``: a trained router (logistic regression)
- ``route_self.py``: a router that asks the model whether it must search
- ``route_uncertainty.py``: a router by the token probabilities of an answer from memory
- ``tool_calls.py``, ``react_parser.py``: calls in all their written forms; one turn of a ReAct loop
- ``tools.py``, ``tool_runs.py``: tools with schemas; from a call to an observation, whatever goes wrong
- ``calculator.py``: arithmetic, and nothing else
- ``agent.py``, ``agent_result.py``: the ReAct agent, and what its run leaves behind
- ``tool_grammar.py``: a schema and a grammar under which a call always parses
- ``specialists.py``: a router that hands a question over
- ``fixed_loop.py``: the agent's task with its control flow in code
- ``search_r1.py``: Search-R1's transcripts, rewards and mask

``iterative``, ``ircot``, ``self_rag``, ``crag``, ``flare``, ``agent`` and ``fixed_loop`` are imported from their
modules: as names of this package they are modules.
"""

from ragkit.loops.agent_result import AgentResult, AgentStep
from ragkit.loops.beam import BeamResult, Propose, beam_search, pooled_paragraphs, sampled, single
from ragkit.loops.calculator import calculate
from ragkit.loops.context import cumulate, fit_newest
from ragkit.loops.crag import CragResult, decide, keywords
from ragkit.loops.fixed_loop import FixedResult
from ragkit.loops.flare import FlareResult, FlareSentence
from ragkit.loops.flare_queries import masked, unsure_spans
from ragkit.loops.ircot import Chain, IRCoTResult, is_reasoning, next_query, read_answer
from ragkit.loops.iterative import Hop, IterativeResult, iterative_search
from ragkit.loops.react_parser import Turn, parse_turn
from ragkit.loops.relevance import model_evaluator, read_relevance
from ragkit.loops.route_classifier import RouteClassifier, best_routes, cross_validate, labels_by_class, train_router
from ragkit.loops.route_self import probability_router, read_assessment, self_router, yes_share
from ragkit.loops.route_uncertainty import choose_threshold, detection_auc, uncertainty_answer, uncertainty_router
from ragkit.loops.routes import (
    Calibration,
    Decision,
    RouterCost,
    auc_interval,
    calibration,
    question_features,
    roc_auc,
    roc_points,
)
from ragkit.loops.search_r1 import Transcript, format_reward, loss_mask, outcome_reward, read_transcript
from ragkit.loops.self_rag import SelfRAGResult, Weights, closed_answer, retrieval_share, segment_score, should_retrieve
from ragkit.loops.self_rag_beam import SegmentBeam, segment_beam
from ragkit.loops.self_rag_tokens import Segment, group_score, read_segment, without_tokens
from ragkit.loops.sentence import cut_to_first_sentence, first_sentence, lowest_probability, mean_log_probability
from ragkit.loops.specialists import HandOver, Specialist, hand_over, model_choice, read_choice
from ragkit.loops.strips import Evaluator, Strip, cut_strips, refine
from ragkit.loops.tool_calls import ToolCall
from ragkit.loops.tool_grammar import call_grammar, call_schema
from ragkit.loops.tool_runs import Outcome, bind, run_tool
from ragkit.loops.tools import (
    Observation,
    Tool,
    calculator_tool,
    code_tool,
    outside_tool,
    passages_tool,
    sql_tool,
    toolbox,
)
from ragkit.loops.trace import Step, Trace, check_bound

__all__ = [
    "AgentResult",
    "AgentStep",
    "BeamResult",
    "Calibration",
    "Chain",
    "CragResult",
    "Decision",
    "Evaluator",
    "FixedResult",
    "FlareResult",
    "FlareSentence",
    "HandOver",
    "Hop",
    "IRCoTResult",
    "IterativeResult",
    "Observation",
    "Outcome",
    "Propose",
    "RouteClassifier",
    "RouterCost",
    "Segment",
    "SegmentBeam",
    "SelfRAGResult",
    "Specialist",
    "Step",
    "Strip",
    "Tool",
    "ToolCall",
    "Trace",
    "Transcript",
    "Turn",
    "Weights",
    "auc_interval",
    "beam_search",
    "best_routes",
    "bind",
    "calculate",
    "calculator_tool",
    "calibration",
    "call_grammar",
    "call_schema",
    "check_bound",
    "choose_threshold",
    "closed_answer",
    "code_tool",
    "cross_validate",
    "cumulate",
    "cut_strips",
    "cut_to_first_sentence",
    "decide",
    "detection_auc",
    "first_sentence",
    "fit_newest",
    "format_reward",
    "group_score",
    "hand_over",
    "is_reasoning",
    "iterative_search",
    "keywords",
    "labels_by_class",
    "loss_mask",
    "lowest_probability",
    "masked",
    "mean_log_probability",
    "model_choice",
    "model_evaluator",
    "next_query",
    "outcome_reward",
    "outside_tool",
    "parse_turn",
    "passages_tool",
    "pooled_paragraphs",
    "probability_router",
    "question_features",
    "read_answer",
    "read_assessment",
    "read_choice",
    "read_relevance",
    "read_segment",
    "read_transcript",
    "refine",
    "retrieval_share",
    "roc_auc",
    "roc_points",
    "run_tool",
    "sampled",
    "segment_beam",
    "segment_score",
    "self_router",
    "should_retrieve",
    "single",
    "sql_tool",
    "toolbox",
    "train_router",
    "uncertainty_answer",
    "uncertainty_router",
    "unsure_spans",
    "without_tokens",
    "yes_share",
]
