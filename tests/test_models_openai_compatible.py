"""A server behind an address: found, asked, and named in every error. The servers here are ours, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ragkit.models import Local, Metered, ModelUnavailableError, OpenAICompatible, bounded_schema, load
from ragkit.models.openai_compatible import base_url, is_loopback

ANSWER = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Paris"}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
}  # fmt: skip


@contextmanager
def server(status: int = 200, body: Any = ANSWER, delay: float = 0.0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives every POST one reply, and what it was asked."""
    asked: list[dict[str, Any]] = []
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def reply(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            asked.append({"path": self.path, "key": self.headers["Authorization"]})
            self.reply(200, {"object": "list", "data": [{"id": "first", "object": "model"}, {"id": "second"}]})

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "key": self.headers["Authorization"], **sent})
            released.wait(delay)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have given up
                self.reply(status, body)

        def log_message(self, *args: Any) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}/v1", asked
    finally:
        released.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def test_the_model_is_the_first_that_the_server_lists() -> None:
    with server() as (address, asked):
        llm = OpenAICompatible(address)
        assert llm("What is the capital of France?") == "Paris"
        assert llm.name == "first"
        assert [entry["path"] for entry in asked] == ["/v1/models", "/v1/chat/completions"]
        sent = asked[-1]
    assert sent["model"] == "first"
    assert sent["messages"] == [{"role": "user", "content": "What is the capital of France?"}]
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.0, 0, 256)


def test_a_named_model_is_asked_without_a_listing() -> None:
    with server() as (address, asked):
        OpenAICompatible(address, "mine", max_tokens=5, stop=["\n"])("x")
        assert [entry["path"] for entry in asked] == ["/v1/chat/completions"]
    assert (asked[0]["model"], asked[0]["max_tokens"], asked[0]["stop"]) == ("mine", 5, ["\n"])


def test_a_key_in_the_environment_is_not_sent_to_a_server_it_is_not_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-someone-elses")
    with server() as (address, asked):
        OpenAICompatible(address)("x")
        OpenAICompatible(address, api_key="mine")("x")
        assert {entry["key"] for entry in asked} == {"Bearer none", "Bearer mine"}


def test_a_proxy_in_the_environment_is_not_asked_about_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with server() as (address, _):
        assert OpenAICompatible(address, retries=0)("x") == "Paris"


def test_where_no_times_are_reported_the_calls_own_is_used() -> None:
    with server() as (address, _):
        meter = Metered(OpenAICompatible(address))
        meter("x")
    assert (meter.prompt_tokens, meter.completion_tokens) == (9, 1)
    assert meter.milliseconds > 0


def test_no_server_is_an_error_that_names_the_address() -> None:
    llm = OpenAICompatible("http://127.0.0.1:9/v1", "m", retries=0)
    with pytest.raises(ModelUnavailableError, match=r"no server answers at http://127\.0\.0\.1:9/v1"):
        llm("x")


def test_a_slow_server_is_an_error_that_names_the_address_and_the_limit() -> None:
    with (
        server(delay=5) as (address, _),
        pytest.raises(ModelUnavailableError, match=rf"{address} gave no answer within 0\.2 s"),
    ):
        OpenAICompatible(address, "m", timeout=0.2, retries=0)("x")


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (400, ValueError, "refused the request"),
        (401, ModelUnavailableError, "answered with status 401"),
        (404, ModelUnavailableError, "answered with status 404"),
        (500, ModelUnavailableError, "answered with status 500"),
    ],
)
def test_a_refusal_names_the_address(status: int, kind: type[Exception], says: str) -> None:
    with server(status, {"error": {"message": "no such thing"}}) as (address, _):
        with pytest.raises(kind, match=says) as caught:
            OpenAICompatible(address, "m", retries=0)("x")
        assert address in str(caught.value)
        assert "no such thing" in str(caught.value)


def test_a_reply_without_an_answer_is_an_error() -> None:
    with (
        server(body={**ANSWER, "choices": []}) as (address, _),
        pytest.raises(ModelUnavailableError, match="without an answer"),
    ):
        OpenAICompatible(address, "m")("x")


def test_a_server_that_passes_over_a_schema_is_found_out() -> None:
    with server() as (address, asked):
        with pytest.raises(ValueError, match="schema was not kept to"):
            OpenAICompatible(address, "m").generate("x", schema={"type": "object"})
        assert asked[0]["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize("bad", ["", "  ", None, 3, "ftp://host/v1", "http://"])
def test_a_bad_address_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="address must be"):
        OpenAICompatible(bad)


def test_addresses_are_completed_and_loopback_is_told_apart() -> None:
    assert base_url("http://127.0.0.1:8080") == "http://127.0.0.1:8080/v1"
    assert base_url("https://example.org/openai/v1/") == "https://example.org/openai/v1"
    assert [is_loopback(a) for a in ("http://[::1]:80/v1", "http://localhost/v1", "http://10.0.0.1/v1")] == [
        True, True, False,
    ]  # fmt: skip


def test_load_reads_the_environment_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as (address, asked):
        monkeypatch.setenv("RAGKIT_LLM", address.removeprefix("http://"))
        monkeypatch.setenv("RAGKIT_LLM_MODEL", "chosen")
        monkeypatch.setenv("RAGKIT_LLM_KEY", "secret")
        assert load()("x") == "Paris"
        assert (asked[-1]["model"], asked[-1]["key"]) == ("chosen", "Bearer secret")
        assert isinstance(load("local"), Local)
    monkeypatch.delenv("RAGKIT_LLM")
    assert isinstance(load(), Local)


@pytest.mark.model
def test_the_local_models_own_server_gives_the_same_answers_tokens_and_schema() -> None:
    local = Local(max_tokens=10)
    with local.serve() as address:
        remote = OpenAICompatible(address, max_tokens=10)
        assert remote.name == "SmolLM2-135M-Instruct", "and no path of this machine"
        here, there = local.generate("Name a colour.", top=2), remote.generate("Name a colour.", top=2)
        assert (there.text, there.tokens) == (here.text, here.tokens)
        assert there.prompt_tokens == here.prompt_tokens
        assert remote.generate("Name a colour.", max_tokens=1).cached_tokens == 0
        assert remote.generate("Yes?", grammar='root ::= "yes" | "no"').text in ("yes", "no")
        schema = bounded_schema({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, 9)
        assert set(json.loads(remote.generate("Name a city.", schema=schema, max_tokens=60).text)) == {"city"}


@pytest.mark.model
def test_a_server_that_reuses_prefixes_reports_them_over_the_protocol() -> None:
    with Local(reuse_prefix=True).serve() as address:
        remote = OpenAICompatible(address, max_tokens=1)
        assert remote.generate("Name a colour.").cached_tokens == 0
        assert remote.generate("Name a country.").cached_tokens > 20
