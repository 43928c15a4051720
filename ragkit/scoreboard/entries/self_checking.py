"""Chapter 14: Corrective RAG, with a small trained evaluator, and with one who graded by hand."""

from __future__ import annotations

from ragkit import corpus
from ragkit.base import Hit
from ragkit.corpus import Question
from ragkit.loops.crag import CragResult
from ragkit.loops.relevance import model_evaluator
from ragkit.recorded import self_checking as kept
from ragkit.scoreboard.technique import Find, K, Stage, Technique
from ragkit.text import normalize_answer

CHAPTER = "14-self-checking"


def hits_of(result: CragResult) -> list[Hit]:
    """The passages of the strips that were kept: those of the company first, then those from outside."""
    return [Hit(name, "", 1 / rank) for rank, name in enumerate(result.passages[:K], start=1)]


def trained(stage: Stage) -> Find:
    """The evaluator fitted on the development half, with thresholds from there. No model is asked."""
    return lambda question: hits_of(kept.corrected(question))


def graded(stage: Stage) -> Find:
    """A model that grades every passage and strip, with the thresholds of the paper."""
    evaluate = kept.with_titles(model_evaluator(stage.ask("crag_grades")))
    return lambda question: hits_of(kept.corrected(question, evaluate))


def knowledge(stage: Stage) -> Find:
    """The text that a generator would get."""
    return lambda question: kept.corrected(question).knowledge


def outside_questions() -> list[Question]:
    """Those that the company cannot answer and the outside collection can."""
    world = corpus.load()
    return [question for question in world.questions if question.id in world.outside_answers]


def told(question: Question, text: str) -> float:
    """1 where the knowledge holds the words of the outside answer."""
    words = f" {normalize_answer(text)} "
    answers = corpus.load().outside_answers[question.id].answers
    return float(any(f" {normalize_answer(answer)} " in words for answer in answers))


TECHNIQUES = (
    Technique("CRAG", CHAPTER, trained, questions=kept.asked, timed=False),
    Technique("CRAG, sample", CHAPTER, graded, ("hand",), questions=kept.sample, timed=False),
    Technique(
        "CRAG, outside",
        CHAPTER,
        knowledge,
        questions=outside_questions,
        judge=told,
        measure="outside answer held",
        timed=False,
    ),
)
