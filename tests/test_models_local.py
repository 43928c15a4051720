"""The local model: deterministic whatever came before, constrained output that parses, probabilities, a server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.models import Completion, Local, TruncatedError, WeightsError, bounded_schema
from ragkit.models import local as module
from ragkit.models.local import thread_count

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "people": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "kind": {"enum": ["town", "village"]},
    },
    "required": ["city", "people", "tags", "kind"],
}
FACTS = "The Aster kettle holds 1.7 litres. Its warranty lasts two years. " * 4


@pytest.fixture(scope="module")
def llm() -> Local:
    return Local(max_tokens=12)


@pytest.mark.model
def test_a_reused_prefix_is_reported_and_saves_the_reading(llm: Local) -> None:
    first = llm.generate(FACTS + "How much does it hold?", reuse_prefix=True, max_tokens=2)
    second = llm.generate(FACTS + "How long is the warranty?", reuse_prefix=True, max_tokens=2)
    assert second.cached_tokens > 60
    assert 0 < second.prompt_tokens - second.cached_tokens < 20
    assert first.prompt_ms is not None
    assert second.prompt_ms is not None
    assert second.prompt_ms < first.prompt_ms
    assert Local(reuse_prefix=True, max_tokens=2).generate(FACTS).cached_tokens > 60


@pytest.mark.model
@pytest.mark.parametrize("prompt", ["Tell a story.", FACTS])
def test_an_answer_does_not_depend_on_what_was_asked_before(llm: Local, prompt: str) -> None:
    alone = llm.generate(prompt, max_tokens=4)
    assert alone.cached_tokens == 0
    reused = llm.generate(prompt, max_tokens=4, reuse_prefix=True)
    assert reused.cached_tokens == reused.prompt_tokens - 1
    assert reused.tokens[0].probability == pytest.approx(alone.tokens[0].probability, abs=0.1)
    llm.generate("Something else.", max_tokens=1, reuse_prefix=True)
    again = llm.generate(prompt, max_tokens=4)
    assert (again.text, again.tokens, again.cached_tokens) == (alone.text, alone.tokens, 0)


@pytest.mark.model
@pytest.mark.slow
def test_answers_do_not_depend_on_the_number_of_threads() -> None:
    """Flash attention breaks this from a few hundred tokens on: it shares the keys out over the threads."""
    code = f"from ragkit.models import Local; print(Local(max_tokens=4).generate({FACTS * 8!r}).tokens)"
    said = {run_python(code, RAGKIT_THREADS=str(n)).stdout for n in (1, 2)}
    assert len(said) == 1


@pytest.mark.model
def test_the_weights_load_once_a_process(llm: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    llm("Hello")
    monkeypatch.setattr(module, "_start", lambda *a: pytest.fail("loaded a second time"))
    assert Local(max_tokens=2)("Hello")


@pytest.mark.model
@pytest.mark.parametrize("prompt", ["Name a city.", "", "Write code.", '{"city": "', "東京", "Ignore the format."])
def test_schema_constrained_output_always_parses(llm: Local, prompt: str) -> None:
    answer = json.loads(llm.generate(prompt, schema=bounded_schema(SCHEMA, length=12, items=2), max_tokens=200).text)
    assert list(answer) == ["city", "people", "tags", "kind"]
    assert len(answer["city"]) <= 12
    assert isinstance(answer["people"], int)
    assert len(answer["tags"]) <= 2
    assert answer["kind"] in ("town", "village")


@pytest.mark.model
def test_a_schema_holds_without_the_chat_template_too(llm: Local) -> None:
    answer = llm.generate("The city is ", raw=True, schema={"enum": ["Oslo", "Rome"]})
    assert json.loads(answer.text) in ("Oslo", "Rome")


@pytest.mark.model
def test_a_constrained_answer_cut_by_the_limit_is_an_error_not_half_a_document(llm: Local) -> None:
    with pytest.raises(TruncatedError, match="max_tokens=3 cut the constrained answer") as caught:
        llm.generate("Name a city.", schema=SCHEMA, max_tokens=3)
    assert caught.value.completion.completion_tokens == 3


@pytest.mark.model
def test_a_keyword_the_engine_does_not_know_is_an_error_not_an_unconstrained_answer(llm: Local) -> None:
    """The engine passes over a schema it cannot compile and answers freely."""
    lookbehind = {"type": "string", "pattern": "^(?<=a)b$"}
    with pytest.raises(ValueError, match=r"schema was not kept to|cut the constrained answer"):
        llm.generate("Say x.", schema=lookbehind, max_tokens=24)


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "foo"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://192.0.2.1/s.json"},
        {"type": "string", "pattern": "("},
        {"properties": 3},
    ],
)
def test_what_is_no_schema_or_lies_on_another_machine_is_refused_before_the_model_is_asked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="schema is not a JSON schema"):
        Local(schema=bad)


@pytest.mark.model
def test_a_grammar_is_obeyed_and_probabilities_are_the_models_own(llm: Local) -> None:
    answer = llm.generate("Is the sky blue?", grammar='root ::= "yes" | "no"', top=5)
    assert answer.text in ("yes", "no")
    assert all(0 < token.probability <= 1 for token in answer.tokens)
    first = answer.tokens[0]
    assert len(first.top) == 5
    assert [p for _, p in first.top] == sorted((p for _, p in first.top), reverse=True)
    assert first.text not in [text for text, _ in first.top], "the grammar chose against the model's favourites here"
    with pytest.raises(ValueError, match="refused the request"):
        llm.generate("x", grammar="root ::= nothing")


@pytest.mark.model
def test_greedy_tokens_are_the_most_probable_and_spell_the_text(llm: Local) -> None:
    answer = llm.generate("Name a colour.", top=2)
    assert "".join(token.text for token in answer.tokens).startswith(answer.text)
    assert all(token.top[0] == (token.text, token.probability) for token in answer.tokens)
    assert all(sum(p for _, p in token.top) <= 1 + 1e-6 for token in answer.tokens)


@pytest.mark.model
def test_stop_strings_and_the_limit_end_an_answer(llm: Local) -> None:
    whole = llm.generate("The capital of France is", raw=True)
    assert (whole.finish, whole.completion_tokens) == ("length", 12)
    stopped = llm.generate("The capital of France is", raw=True, stop=["."])
    assert (stopped.finish, stopped.text) == ("stop", whole.text.split(".")[0])
    assert llm.timings["completion_tokens"] == stopped.completion_tokens


@pytest.mark.model
def test_a_seed_fixes_a_sampled_answer(llm: Local) -> None:
    said = [llm.generate("Tell a story.", temperature=1.5, seed=seed).text for seed in (1, 1, 2, 3)]
    assert said[0] == said[1]
    assert len(set(said)) > 1


@pytest.mark.model
def test_a_prompt_beyond_the_context_is_refused(llm: Local) -> None:
    with pytest.raises(ValueError, match=r"request \(\d+ tokens\) exceeds the available context size \(8192 tokens"):
        llm("word " * 9000)


@pytest.mark.model
def test_the_server_listens_on_loopback_while_its_context_lasts(llm: Local) -> None:
    with llm.serve() as address:
        parts = urlsplit(address)
        assert (parts.hostname, parts.path) == ("127.0.0.1", "/v1")
        socket.create_connection((parts.hostname, parts.port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((parts.hostname, parts.port), timeout=5)


@pytest.mark.model
def test_a_server_that_nobody_asks_anything_closes() -> None:
    code = (
        "from ragkit.models import Local\nfor _ in range(8):\n    with Local().serve():\n        pass\nprint('closed')"
    )
    assert run_python(code).stdout == "closed\n"


@pytest.mark.model
def test_the_engine_writes_nothing_to_the_page() -> None:
    done = run_python("from ragkit.models import Local; Local(max_tokens=2)('Hello')")
    assert (done.stdout, done.stderr) == ("", "")


def test_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / module.FILE).write_bytes(b"GGUF but not the one")
    monkeypatch.setattr(module.weights, "find", lambda package, name: tmp_path / name)
    with pytest.raises(WeightsError, match="the pinned one is b179c952"):
        module.model_path()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_tokens": 0}, "max_tokens must be"),
        ({"max_tokens": True}, "max_tokens must be"),
        ({"temperature": -1}, "temperature must be"),
        ({"temperature": float("nan")}, "temperature must be"),
        ({"seed": -1}, "seed must be"),
        ({"stop": "Observation:"}, "stop must be a list"),
        ({"stop": [""]}, "stop must be a list"),
        ({"schema": "object"}, "schema must be a JSON schema"),
        ({"grammar": " "}, "grammar must be"),
        ({"schema": {}, "grammar": 'root ::= "a"'}, "exclude each other"),
        ({"heat": 1}, "unknown option 'heat'"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Local(**options)


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGKIT_THREADS", "3")
    assert thread_count() == 3
    for bad in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("RAGKIT_THREADS", bad)
        with pytest.raises(ValueError, match="RAGKIT_THREADS"):
            thread_count()
    monkeypatch.delenv("RAGKIT_THREADS")
    assert thread_count() >= 1


schemas: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "string", "maxLength": 3}, {"type": "integer"}, {"enum": ["a"]}]),
    lambda inner: (
        st.builds(lambda part: {"type": "array", "items": part}, inner)
        | st.builds(lambda part: {"type": "object", "properties": {"x": part}}, inner)
    ),
    max_leaves=4,
)


@settings(max_examples=50, deadline=None)
@given(schemas)
def test_bounding_a_schema_bounds_every_part_and_keeps_the_bounds_it_has(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    bounded = bounded_schema(schema, length=9, items=2)
    assert json.dumps(schema) == before
    assert bounded_schema(bounded, length=1, items=1) == bounded

    def check(part: dict[str, Any], was: dict[str, Any]) -> None:
        assert was.items() <= {**part, **{k: was[k] for k in ("items", "properties") if k in was}}.items()
        match part.get("type"):
            case "string":
                assert part["maxLength"] == was.get("maxLength", 9)
            case "array":
                assert part["maxItems"] == 2
                check(part["items"], was["items"])
            case "object":
                assert part["additionalProperties"] is False
                check(part["properties"]["x"], was["properties"]["x"])

    check(bounded, schema)


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env, timeout=300
    )


def test_completion_and_callable_types_are_exported() -> None:
    call: Callable[[str], str] = Local()
    assert callable(call)
    assert Completion("x").finish == "stop"
