"""A context for each passage, written from its whole document: what contextual retrieval puts in front of a chunk.

Prompts are those of ``ragkit/index/contextual.py``. A document is shown as it was published, with its title and date
above the text, so that the model knows what a reader of the page would know.

``python -m ragkit.recorded.contexts`` reranks by MaxSim what hybrid search finds without and with the contexts, and
keeps the best of each question in ``corpus/runs/contextual/maxsim.toml``: it takes minutes, a page should not.
"""

from __future__ import annotations

import datetime
import random
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ragkit import corpus
from ragkit.corpus import Document, Question
from ragkit.index.contextual import context_prompt, contextualised
from ragkit.index.contextual import contexts as read_contexts
from ragkit.models import Recording, embedder, token_embedder
from ragkit.models.recording_tasks import Settings
from ragkit.search import BM25, Dense, LateInteraction, full_texts, fuse_retrievers, rerank

CLASSES = ("single_fact", "vocabulary_gap", "exact_code", "temporal", "table_form", "fragmented_entity", "vague")
"""Classes whose questions stand alone and are answered by what one search may find."""
MAXSIM = Path(corpus.__file__).parent / "runs" / "contextual" / "maxsim.toml"
DEPTH, KEPT = 30, 20
"""Candidates that are reranked, and hits that are kept of them."""


def document_text(document: Document) -> str:
    """A document as its readers see it: title, date, and the sections with blank lines between them."""
    return "\n\n".join([f"{document.title}\n{document.date}", *(passage.text for passage in document.passages)])


def document_texts() -> dict[str, str]:
    """Document id -> `document_text`, for every document of the corpus."""
    return {document.id: document_text(document) for document in corpus.load().documents}


def passage_contexts() -> Iterator[tuple[str, str]]:
    """Passage id and the prompt that asks where the passage belongs, document by document."""
    for document in corpus.load().documents:
        whole = document_text(document)
        for passage in document.passages:
            yield passage.id, context_prompt(whole, passage.text)


def contexts_sample(n: int = 40, seed: int = 8) -> Iterator[tuple[str, str]]:
    """The prompts of ``n`` passages drawn by ``seed``: enough to set a small model's contexts beside written ones."""
    prompts = list(passage_contexts())
    chosen = set(random.Random(seed).sample(sorted(item for item, _ in prompts), n))
    yield from ((item, prompt) for item, prompt in prompts if item in chosen)


TASKS = {"contexts": passage_contexts, "contexts_sample": contexts_sample}

SETTINGS = {"contexts_sample": Settings(max_tokens=70)}


def asked() -> list[Question]:
    """The questions of `CLASSES`, both splits, class by class."""
    return [question for cls in CLASSES for question in corpus.load().select(cls=cls)]


@cache
def _stored() -> Mapping[str, Any]:
    with MAXSIM.open("rb") as file:
        return tomllib.load(file)


def reranked(name: str) -> dict[str, list[str]]:
    """Question id -> the kept passage ids, best first, of a run: ``titles`` or ``contexts``."""
    return dict(_stored()[name])


def main() -> None:
    """Rerank both runs and write them down."""
    world, embed, late = corpus.load(), embedder(), LateInteraction(token_embedder())
    written = read_contexts(document_texts(), world.passages, Recording("contexts"))
    lines = []
    for name, passages in (("titles", world.index), ("contexts", contextualised(world.index, written))):
        hybrid, texts = fuse_retrievers([BM25(passages), Dense(passages, embed)]), full_texts(passages)
        late.prepare([texts[hit.id] for question in asked() for hit in hybrid(question.text, DEPTH)])
        search = rerank(hybrid, late, DEPTH, texts)
        lines.append(f"\n[{name}]")
        for question in asked():
            best = ", ".join(f'"{hit.id}"' for hit in search(question.text, KEPT))
            lines.append(f"{question.id} = [{best}]")
    head = [
        "# What is in here, and how it is made: ragkit/recorded/contexts.py",
        f"date = {datetime.date.today()}",
        'command = "python -m ragkit.recorded.contexts"',
    ]
    MAXSIM.parent.mkdir(parents=True, exist_ok=True)
    MAXSIM.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
