"""The OpenAI protocol as the course's two live models use it: options checked, replies read, schemas held to.

The protocol is that of OpenAI's *API reference*, "Create chat completion"; ``timings`` is llama.cpp's addition to it.
Left out: streaming, tools, images, several answers a call.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragkit.models.shapes import Completion, Token, TruncatedError

OPTIONS: dict[str, Any] = {
    "max_tokens": 256,
    "temperature": 0.0,
    "seed": 0,
    "stop": (),
    "schema": None,
    "grammar": None,
}
"""What a call can be told, and the defaults."""


def merge(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """One call's settings: its options over the model's, checked. A new schema replaces a grammar, and the reverse."""
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}; known are {', '.join(OPTIONS)}")
    settings = {**defaults, **options}
    if ("schema" in options) != ("grammar" in options):
        settings["grammar" if "schema" in options else "schema"] = None
    _check_options(**settings)
    return settings


def _check_options(
    max_tokens: object, temperature: object, seed: object, stop: object, schema: object, grammar: object
) -> None:
    positive("max_tokens", max_tokens)
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be a number of at least 0, got {temperature!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32 - 1:
        raise ValueError(f"seed must be an int from 0 to 2**32 - 2, got {seed!r}")
    if isinstance(stop, str) or not isinstance(stop, Sequence) or not all(isinstance(s, str) and s for s in stop):
        raise ValueError(f"stop must be a list of non-empty strings, got {stop!r}")
    if schema is not None:
        check_schema(schema)
    if grammar is not None and (not isinstance(grammar, str) or not grammar.strip()):
        raise ValueError(f"grammar must be a GBNF grammar as a str, got {grammar!r:.80}")
    if schema is not None and grammar is not None:
        raise ValueError("schema and grammar exclude each other; give one of them")


def positive(name: str, value: object) -> int:
    """A count as it is, refusing what is not a whole number of at least 1.

    >>> positive("top", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be an int of at least 1, got {value!r}")
    return value


def read_completion(reply: Mapping[str, Any], who: str) -> Completion:
    """A reply of the OpenAI protocol (chat or text) as a ``Completion``; an error in it is a ``ValueError``."""
    if "error" in reply:
        raise ValueError(f"{who} refused the request: {reply['error'].get('message', reply['error'])}")
    choice = reply["choices"][0]
    usage = reply.get("usage") or {}
    timings = reply.get("timings") or {}
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    listed = ((choice.get("logprobs") or {}).get("content")) or []
    return Completion(
        text=text or "",
        tokens=tuple(_token(entry) for entry in listed),
        prompt_tokens=usage.get("prompt_tokens", 0),
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
        completion_tokens=usage.get("completion_tokens", 0),
        prompt_ms=timings.get("prompt_ms"),
        completion_ms=timings.get("predicted_ms"),
        finish=choice.get("finish_reason") or "stop",
    )


def _token(entry: Mapping[str, Any]) -> Token:
    alternatives = entry.get("top_logprobs") or []
    return Token(
        text=_text(entry),
        probability=math.exp(entry["logprob"]),
        top=tuple((_text(other), math.exp(other["logprob"])) for other in alternatives),
    )


def _text(entry: Mapping[str, Any]) -> str:
    """A token's text; one that holds half a character shows the replacement sign."""
    return bytes(entry["bytes"]).decode("utf-8", errors="replace") if entry.get("bytes") else str(entry["token"])


def check_limits(completion: Completion, settings: Mapping[str, Any]) -> Completion:
    """The completion of a constrained call, refused when it was cut or does not obey its schema."""
    schema, grammar = settings["schema"], settings["grammar"]
    if completion.finish == "length" and (schema is not None or grammar is not None):
        raise TruncatedError(completion, settings["max_tokens"])
    if schema is not None:
        check_answer(completion.text, schema)
    return completion


def check_schema(schema: object) -> Callable[[Any], Any]:
    """A JSON schema as a checking function; ``ValueError`` for what is none: an engine may answer without it.

    ``fastjsonschema`` because importing ``jsonschema`` costs a second. It would fetch a schema that another machine
    holds, so such references are refused.
    """
    import fastjsonschema

    if not isinstance(schema, Mapping):
        raise ValueError(f"schema must be a JSON schema as a dict, got {type(schema).__name__}")

    def refuse(address: str) -> None:
        raise fastjsonschema.JsonSchemaDefinitionException(f"it refers to {address}, which is not part of it")

    plain = json.loads(json.dumps(schema))
    try:
        check = fastjsonschema.compile(
            plain, handlers=dict.fromkeys(("http", "https", "ftp", "file"), refuse), use_default=False
        )
    except (fastjsonschema.JsonSchemaDefinitionException, re.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"schema is not a JSON schema: {error}") from error
    checked: Callable[[Any], Any] = check
    return checked


def check_answer(text: str, schema: Mapping[str, Any]) -> None:
    """Refuse an answer that is not JSON or not of the schema: the engine passed over a keyword it does not know."""
    import fastjsonschema

    try:
        check_schema(schema)(json.loads(text))
    except (json.JSONDecodeError, fastjsonschema.JsonSchemaValueException) as failure:
        raise ValueError(
            f"schema was not kept to ({failure}): it may use a keyword that the engine does not know. "
            f"The answer was: {text!r:.300}"
        ) from failure


def bounded_schema(schema: Any, length: int = 120, items: int = 8) -> Any:
    """A copy of a JSON schema in which every string, array integer and object without a bound gets one.

    A small model under an unbounded schema can write one string for ever; a bounded one ends, so it parses. Strings
    and arrays get a greatest length, integers stay within a thousand million, and objects that list their properties
    admit no others. A ``number`` has no such bound: its digits can run on, so prefer integers.

    >>> bounded_schema({"type": "array", "items": {"type": "string"}}, length=9, items=2)
    {'type': 'array', 'items': {'type': 'string', 'maxLength': 9}, 'maxItems': 2}
    """
    if isinstance(schema, list):
        return [bounded_schema(part, length, items) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    bounded = {key: bounded_schema(part, length, items) for key, part in schema.items()}
    if schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & set(schema):
        bounded.setdefault("maxLength", length)
    if schema.get("type") == "integer" and not {"enum", "const"} & set(schema):
        bounded.setdefault("minimum", -(10**9))
        bounded.setdefault("maximum", 10**9)
    if schema.get("type") == "array":
        bounded.setdefault("maxItems", items)
    if schema.get("type") == "object" and "properties" in schema:
        bounded.setdefault("additionalProperties", False)
    return bounded
