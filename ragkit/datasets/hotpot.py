"""HotpotQA (Yang et al. 2018, distractor setting) and 2WikiMultiHopQA (Ho et al. 2020), which shares its format.

Left out: the full-wiki setting, and 2WikiMultiHopQA's ``evidences``, which no measure of the course reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.base import Passage, check_unique
from ragkit.corpus.records import Question
from ragkit.datasets.files import field, records
from ragkit.datasets.pooled import joined, read_passages, sentence_list
from ragkit.datasets.records import Dataset


def read_hotpotqa(path: str | Path, split: str = "dev") -> Dataset:
    """HotpotQA in the distractor format: a JSON list of questions, each with its ten paragraphs.

    A passage's id is its title (``<title>#2`` for a second text under one title); its text is the sentences joined. The
    class of a question is its ``type`` (bridge, comparison). Supporting facts that point beyond a paragraph's sentences
    occur in the published file and are kept as they are; one whose title is in no paragraph is a ``ValueError``.
    """
    return _read_hotpot_format(Path(path), split)


def read_2wiki(path: str | Path, corpus: str | Path | None = None, split: str = "dev") -> Dataset:
    """2WikiMultiHopQA: HotpotQA's format with the types compositional, comparison, bridge_comparison and inference.

    With ``corpus``, a pooled collection as in HippoRAG's repository (a JSON list of ``title`` and ``text``), the
    passages are those and the questions are labelled on them.
    """
    dataset = _read_hotpot_format(Path(path), split)
    if corpus is None:
        return dataset
    passages = read_passages(corpus)
    known = {passage.id for passage in passages}
    for question in dataset.questions:
        if missing := sorted(set(question.relevant) - known):
            raise ValueError(f"{Path(corpus).name}: lacks the passage {missing[0]!r} of the question {question.id!r}")
    return Dataset(passages, dataset.questions, dataset.support, dataset.sentences)


def _read_hotpot_format(file: Path, split: str) -> Dataset:
    ids: dict[tuple[str, tuple[str, ...]], str] = {}
    per_title: dict[str, int] = {}
    questions, support = [], {}
    for n, row in records(file):
        question_id = field(file, n, row, "_id", str)
        local: dict[str, str] = {}
        for pair in field(file, n, row, "context", list):
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                raise ValueError(
                    f"{file.name}, record {n}: context must hold [title, sentences] pairs, got {pair!r:.80}"
                )
            key = (pair[0], sentence_list(file, n, pair[0], pair[1]))
            if key not in ids:
                per_title[pair[0]] = per_title.get(pair[0], 0) + 1
                ids[key] = pair[0] if per_title[pair[0]] == 1 else f"{pair[0]}#{per_title[pair[0]]}"
            local[pair[0]] = ids[key]
        facts = _facts(file, n, row)
        for title, _ in facts:
            if title not in local:
                raise ValueError(f"{file.name}, record {n}: supporting_facts names {title!r}, which is not in context")
        support[question_id] = facts
        questions.append(
            Question(
                id=question_id,
                cls=field(file, n, row, "type", str),
                split=split,
                text=field(file, n, row, "question", str),
                answer=field(file, n, row, "answer", str),
                relevant=dict.fromkeys((local[title] for title, _ in facts), 1),
            )
        )
    check_unique([question.id for question in questions], f"{file.name}:")
    passages = [Passage(an_id, joined(sentences), title) for (title, sentences), an_id in ids.items()]
    return Dataset(passages, questions, support, {an_id: sentences for (_, sentences), an_id in ids.items()})


def _facts(file: Path, n: int, row: Any) -> tuple[tuple[str, int], ...]:
    facts = []
    for fact in field(file, n, row, "supporting_facts", list):
        if not (isinstance(fact, list) and len(fact) == 2 and isinstance(fact[0], str) and isinstance(fact[1], int)):
            raise ValueError(f"{file.name}, record {n}: supporting_facts must hold [title, number] pairs, got {fact!r}")
        facts.append((fact[0], fact[1]))
    return tuple(facts)
