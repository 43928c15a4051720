"""Entity and relation extraction, one prompt a passage of the corpus (chapters on GraphRAG and HippoRAG)."""

from __future__ import annotations

from collections.abc import Iterator

from ragkit import corpus
from ragkit.graph.extract import extraction_prompt


def extraction() -> Iterator[tuple[str, str]]:
    """Passage id and prompt, in the order of the corpus; tickets are left to rules."""
    for passage in corpus.load().passages:
        yield passage.id, extraction_prompt(passage.full_text)


TASKS = {"extraction": extraction}
