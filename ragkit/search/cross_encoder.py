"""A cross-encoder: query and passage go through the network as one sequence, so every word of one sees the other.

Nogueira and Cho, *Passage Re-ranking with BERT* (2019), in the form of sentence-transformers' ``CrossEncoder``
(Reimers and Gurevych, 2019), which is the library to use. Nothing can be computed before the query is known: the cost
is one forward pass a hit. Left out: training, and weights (no trained cross-encoder comes with the course; a small one
is in ``cross_encoder_head.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.models.loading import network, quiet
from ragkit.search.rerank import Reranker, scoring


def cross_encoder(model: Any, batch_size: int = 32) -> Reranker:
    """A `Reranker` over a ``CrossEncoder``: an object with ``predict``, a folder, or any name of the hub.

    A folder is loaded without the network. Any other name may be downloaded: only name one on purpose. Scores are what
    ``predict`` gives, a sigmoid's output in [0, 1] for most models of one label; they order hits of one query and are
    no calibrated probabilities. A text beyond the model's length is cut at its end. A model of several labels gives a
    row a pair instead of a number and is refused with a ``ValueError``, as is a ``model`` of another kind.
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive int, got {batch_size!r}")
    if isinstance(model, str | Path):
        if not str(model).strip():
            raise ValueError("model must be a name, a folder or an object with predict, got an empty str")
        model = load(model)
    if not callable(getattr(model, "predict", None)):
        raise ValueError(f"model must be a name, a folder or an object with predict, got {type(model).__name__}")

    def score(query: str, texts: list[str]) -> Any:
        pairs = [(query, text) for text in texts]
        return model.predict(pairs, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True)

    return scoring(score)


def load(name: str | Path) -> Any:
    """The ``CrossEncoder`` of a folder (read without the network) or of a name, on the processor."""
    local = Path(name).is_dir()
    with quiet(), network(allowed=not local):
        from sentence_transformers import CrossEncoder

        return CrossEncoder(str(name), device="cpu", local_files_only=local)
