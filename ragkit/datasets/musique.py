"""MuSiQue (Trivedi et al. 2022): questions of two to four hops, with their decomposition.

Left out: the sub-questions' own texts and answers; the chain of passages is what retrieval is scored on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragkit.base import Passage, check_unique
from ragkit.corpus.records import Question
from ragkit.datasets.files import field, records, strings
from ragkit.datasets.records import Dataset


def read_musique(path: str | Path, split: str = "dev") -> Dataset:
    """MuSiQue: JSON lines, or a JSON list, of questions with ``paragraphs`` and a ``question_decomposition``.

    Titles repeat in MuSiQue, so a passage's id is ``<title>#<n>``, the n-th different paragraph of that title in the
    file. ``chain`` holds the passages in hop order, the class is the hop prefix of the id (``2hop``, ``3hop1``, ...).
    An unanswerable question (``answerable: false``) has no relevant passage and no answer.
    """
    file = Path(path)
    ids: dict[tuple[str, str], str] = {}
    per_title: dict[str, int] = {}
    passages: list[Passage] = []
    questions = []
    for n, row in records(file):
        local: dict[int, str] = {}
        gold = []
        for paragraph in field(file, n, row, "paragraphs", list):
            title = field(file, n, paragraph, "title", str, "paragraphs.")
            text = field(file, n, paragraph, "paragraph_text", str, "paragraphs.")
            key = (title, text)
            if key not in ids:
                per_title[title] = per_title.get(title, 0) + 1
                ids[key] = f"{title}#{per_title[title]}"
                passages.append(Passage(ids[key], text, title))
            local[field(file, n, paragraph, "idx", int, "paragraphs.")] = ids[key]
            if field(file, n, paragraph, "is_supporting", bool, "paragraphs."):
                gold.append(ids[key])
        answerable = bool(row.get("answerable", True))
        question_id = field(file, n, row, "id", str)
        questions.append(
            Question(
                id=question_id,
                cls=question_id.split("__")[0],
                split=split,
                text=field(file, n, row, "question", str),
                answer=field(file, n, row, "answer", str) if answerable else "",
                aliases=tuple(strings(file, n, row, "answer_aliases")) if answerable else (),
                relevant=dict.fromkeys(gold, 1) if answerable else {},
                chain=_musique_chain(file, n, row, local) if answerable else (),
            )
        )
    check_unique([question.id for question in questions], f"{file.name}:")
    return Dataset(passages, questions)


def _musique_chain(file: Path, n: int, row: Any, local: Mapping[int, str]) -> tuple[str, ...]:
    chain = []
    for hop in field(file, n, row, "question_decomposition", list):
        index = field(file, n, hop, "paragraph_support_idx", int, "question_decomposition.")
        if index not in local:
            raise ValueError(f"{file.name}, record {n}: question_decomposition points at paragraph {index}, not there")
        chain.append(local[index])
    return tuple(chain)
