"""The shape that every reader gives. Left out: splits of a file by answerability; select by ``Question.answer``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragkit.base import Passage
from ragkit.corpus.records import Question


@dataclass(frozen=True)
class Dataset:
    """Passages and questions of one benchmark.

    ``support`` holds, for HotpotQA and 2WikiMultiHopQA, each question's supporting facts as ``(title, sentence
    number)`` pairs, for ``ragkit.metrics.support_scores``. ``sentences`` holds the sentences of each passage there.
    """

    passages: list[Passage]
    questions: list[Question]
    support: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    sentences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
