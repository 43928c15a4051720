"""Any server that speaks the OpenAI protocol, as an ``LLM``: hosted, on the local network, or ``Local().serve()``.

The protocol is that of OpenAI's *API reference*, "Create chat completion"; the client is the ``openai`` package. Left
out: streaming, tools, images. ``grammar`` is llama.cpp's addition to the protocol, and other servers ignore it.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from ragkit.base import Message
from ragkit.models.protocol import OPTIONS, check_limits, merge, positive, read_completion
from ragkit.models.shapes import Completion, as_messages, check_messages, check_prompt


class ModelUnavailableError(RuntimeError):
    """The server cannot be reached, took too long, or answered with an error; the message names its address."""


class OpenAICompatible:
    """A model behind an address: ``OpenAICompatible("http://127.0.0.1:8080/v1")("What is 2 + 2?")``.

    ``address`` may leave out ``http://`` and, where it has no path, ``/v1``. Without a ``model`` the first one that
    ``/v1/models`` lists is used. ``api_key`` goes to that address alone; the environment's ``OPENAI_API_KEY`` is not
    read, so that a key is never sent to a server it was not meant for. ``timeout`` is in seconds and covers one try.
    ``options`` are those of ``Local``: ``max_tokens``, ``temperature``, ``seed``, ``stop``, ``schema``, ``grammar``.
    Temperature 0 and a fixed seed are asked for; whether a server is then deterministic is its own affair.

    Raises ``ValueError`` for bad arguments and for a request the server refuses (status 400 or 422),
    ``ModelUnavailableError`` for everything that stands between here and an answer.
    """

    def __init__(
        self,
        address: str,
        model: str | None = None,
        *,
        api_key: str = "none",
        timeout: float = 120.0,
        retries: int = 2,
        **options: Any,
    ) -> None:
        self.address = base_url(address)
        self.last: Completion | None = None
        self._model = model
        self._api_key, self._timeout, self._retries = api_key, timeout, retries
        self._defaults = merge(OPTIONS, options)

    @cached_property
    def name(self) -> str:
        """The model's name: as given, else the first that the server lists."""
        if self._model is not None:
            return self._model
        listed = self._call(lambda: self._client.models.list().data)
        if not listed:
            raise ModelUnavailableError(f"the server at {self.address} lists no model; name one with model=")
        return str(listed[0].id)

    def __call__(self, prompt: str) -> str:
        """The model's answer to one prompt, sent as a user's turn."""
        return self.generate(check_prompt(prompt)).text

    def chat(self, messages: list[Message]) -> str:
        """The assistant's next turn of a conversation."""
        return self.generate(check_messages(messages)).text

    def generate(self, prompt: str | list[Message], *, top: int | None = None, **options: Any) -> Completion:
        """One call with everything the server reports; ``top`` asks for that many alternatives for each token.

        Where the server reports no times of its own, ``completion_ms`` is the whole call's and ``prompt_ms`` is None.
        """
        messages = as_messages(prompt)
        settings = merge(self._defaults, options)
        if top is not None:
            positive("top", top)
        request = _request(settings, top)
        started = time.perf_counter()
        reply = self._call(lambda: self._client.chat.completions.create(model=self.name, messages=messages, **request))
        elapsed = 1000 * (time.perf_counter() - started)
        body = reply.model_dump()
        if not body.get("choices"):
            raise ModelUnavailableError(f"the server at {self.address} gave a reply without an answer: {body!r:.200}")
        completion = read_completion(body, who=f"the server at {self.address}")
        if completion.completion_ms is None:
            completion = replace(completion, completion_ms=elapsed)
        self.last = completion
        return check_limits(completion, settings)

    @cached_property
    def _client(self) -> Any:
        import openai

        # A proxy named in the environment must not see what is meant for this machine.
        http = openai.DefaultHttpxClient(trust_env=not is_loopback(self.address))
        return openai.OpenAI(
            base_url=self.address,
            api_key=self._api_key,
            timeout=self._timeout,
            max_retries=self._retries,
            http_client=http,
        )

    def _call(self, action: Any) -> Any:
        import openai

        try:
            return action()
        except openai.APITimeoutError as error:
            raise ModelUnavailableError(
                f"the server at {self.address} gave no answer within {self._timeout:g} s"
            ) from error
        except openai.APIConnectionError as error:
            raise ModelUnavailableError(
                f"no server answers at {self.address} ({error.__cause__ or error}); is it running, and is the address "
                "right?"
            ) from error
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            raise ValueError(f"the server at {self.address} refused the request: {error.message}") from error
        except openai.APIStatusError as error:
            raise ModelUnavailableError(
                f"the server at {self.address} answered with status {error.status_code}: {error.message}"
            ) from error
        except openai.OpenAIError as error:
            raise ModelUnavailableError(f"the server at {self.address} could not be used: {error}") from error


def base_url(address: object) -> str:
    """The address in full.

    >>> base_url("localhost:8080"), base_url("https://example.org/api/v1/")
    ('http://localhost:8080/v1', 'https://example.org/api/v1')
    """
    if not isinstance(address, str) or not address.strip():
        raise ValueError(f"address must be a non-empty str such as http://127.0.0.1:8080/v1, got {address!r}")
    full = address.strip() if "://" in address else f"http://{address.strip()}"
    parts = urlsplit(full)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"address must be an http or https address, got {address!r}")
    return full.rstrip("/") if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}/v1"


def is_loopback(address: str) -> bool:
    """Whether an address stays on this machine.

    >>> is_loopback("http://127.0.0.1:8080/v1"), is_loopback("http://example.org/v1")
    (True, False)
    """
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _request(settings: Mapping[str, Any], top: int | None) -> dict[str, Any]:
    request: dict[str, Any] = {key: settings[key] for key in ("max_tokens", "temperature", "seed")}
    if settings["stop"]:
        request["stop"] = list(settings["stop"])
    if settings["schema"] is not None:
        answer = {"name": "answer", "schema": dict(settings["schema"])}
        request["response_format"] = {"type": "json_schema", "json_schema": answer}
    if settings["grammar"] is not None:
        request["extra_body"] = {"grammar": settings["grammar"]}
    if top is not None:
        request |= {"logprobs": True, "top_logprobs": top}
    return request
