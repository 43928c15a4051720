"""Which reports DRIFT's primer reads: those nearest to a made-up report that would answer the question.

Microsoft's DRIFT search (microsoft/graphrag, ``query/structured_search/drift_search/primer.py``, 2024) begins as HyDE
does (Gao et al., ACL 2023): a question is short and asks, a report is long and states, so a model first writes the
report that would answer, in the form of a real one, and its vector takes the place of the question's. The released
code takes its model of the form by an unseeded draw and embeds whole reports; here the draw is seeded, and a report is
found by title and summary, as in ``global_search``. Left out: the mean with the question's own vector, as HyDE has it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ragkit.base import LLM, Embedder, check_k
from ragkit.graph.global_search import nearest_reports
from ragkit.graph.reports import Report
from ragkit.text import fill

PROMPT = """\
Write a made-up report that would answer the question. Keep to the form of the report below, and take nothing of its
content over. Name no person, product, place or organisation that the question does not name.

Question: ${question}

The form to keep to:
${form}

Made-up report:
"""


def expansion_prompt(question: str, form: str) -> str:
    """The prompt that asks for a made-up report; ``form`` is the text of a real one."""
    return fill(PROMPT, question=question, form=form)


def expanded_question(question: str, reports: Sequence[Report], llm: LLM, seed: int = 0) -> str:
    """The made-up report on one line, its form that of one of ``reports``; one call.

    The question itself where it is blank or there are no reports (no call), or where the reply is empty.
    """
    if not question.strip() or not reports:
        return question
    form = random.Random(seed).choice(list(reports)).text
    return " ".join(llm(expansion_prompt(question, form)).split()) or question


def primer_reports(
    question: str, reports: Sequence[Report], embed: Embedder, llm: LLM, k: int = 20, seed: int = 0
) -> list[Report]:
    """The ``k`` reports nearest to the made-up one, ties by position: what ``drift.drift`` takes for its ``reports``.

    20 is the released code's number. ``[]`` for a blank question, no reports or ``k = 0``, without a call.
    """
    check_k(k)
    if not question.strip() or not reports or k == 0:
        return []
    return nearest_reports(expanded_question(question, reports, llm, seed), reports, embed, k)
