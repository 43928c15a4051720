"""Chapter 19: answers from retrieved passages, from the whole shelf, and from Self-Route, judged as answers."""

from __future__ import annotations

from ragkit.corpus import Question
from ragkit.recorded import long_context as shelf
from ragkit.scoreboard.technique import Find, Stage, Technique
from ragkit.systems.self_route import self_route

CHAPTER = "19-long-context"
MEASURE = "right answers"


def judge(question: Question, answer: str) -> float:
    """1 for a right answer, or for silence where there is none."""
    return float(shelf.right(answer, question))


def retrieved(stage: Stage) -> Find:
    """Five passages of the shelf, and leave to decline."""
    llm = stage.ask("self_route")
    return lambda question: llm(shelf.first_prompt(question))


def whole(stage: Stage) -> Find:
    """The whole shelf in every prompt."""
    llm = stage.ask("self_route_long")
    return lambda question: llm(shelf.second_prompt(question))


def routed(stage: Stage) -> Find:
    """Five passages first, the shelf where the model declines."""
    first, second, text = stage.ask("self_route"), stage.ask("self_route_long"), shelf.shelf_text()

    def find(question: Question) -> str:
        searcher = shelf.searcher()
        found = self_route(
            question.text, retriever=searcher, llm=first, long_llm=second, text=text, k=shelf.K, show=shelf.show
        )
        return found.answer

    return find


MAKERS = {"answers from five": retrieved, "answers from all": whole, "Self-Route": routed}

TECHNIQUES = (
    *(
        Technique(name, CHAPTER, make, ("hand",), questions=shelf.asked, judge=judge, measure=MEASURE)
        for name, make in MAKERS.items()
    ),
    *(
        Technique(f"{name}, sample", CHAPTER, make, ("135M",), questions=shelf.sample, judge=judge, measure=MEASURE)
        for name, make in MAKERS.items()
    ),
)
