"""What every model keeps: str in, str out, one answer to one prompt, a ValueError for anything else."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragkit.models import Local, Metered, OpenAICompatible, Record, Recording, StandIn, record_key, write_records

PROMPTS = [
    "",
    "Name a colour.",
    'Return {"answer": "$x"}',
    "東京はどこですか。",
    "line one\r\nline two\ttab \\ \"quoted\" '''",
]
"""An ordinary prompt, the empty one, braces, another script, line ends and quotes."""
LIVE = ("local", "openai-compatible")


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    with Local().serve() as address:
        yield address


def build(kind: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    if kind == "stand-in":
        return StandIn({prompt: f"answer to {prompt}" for prompt in PROMPTS})
    if kind == "recording":
        today = datetime.date(2026, 11, 29)
        rows = [Record("t", f"i{i}", record_key(p), "hand", "us", today, f"answer {i}") for i, p in enumerate(PROMPTS)]
        write_records("t", rows, folder)
        return Recording("t", folder=folder)
    if kind == "local":
        return Local(max_tokens=8)
    return OpenAICompatible(request.getfixturevalue("served"), max_tokens=8)


@pytest.fixture(params=["stand-in", "recording", *(pytest.param(kind, marks=pytest.mark.model) for kind in LIVE)])
def llm(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return build(request.param, tmp_path, request)


def test_a_str_gives_a_str_and_the_same_one_again(llm: Any) -> None:
    first = [llm(prompt) for prompt in PROMPTS]
    assert all(isinstance(answer, str) for answer in first)
    assert [llm(prompt) for prompt in reversed(PROMPTS)] == first[::-1]


def test_a_lone_user_turn_is_the_prompt(llm: Any) -> None:
    assert llm.chat([{"role": "user", "content": PROMPTS[1]}]) == llm(PROMPTS[1])


@pytest.mark.parametrize("bad", [None, 3, b"bytes", ["a list"]])
def test_a_prompt_that_is_no_str_is_refused(llm: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match="prompt must be a str"):
        llm(bad)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([], "at least one turn"),
        ("Why?", "list of role/content"),
        ([{"role": "tool", "content": "x"}], "has the role 'tool'"),
        ([{"role": "user", "content": None}], "content must be a str"),
        ([{"role": "user"}], "keys role and content"),
    ],
)
def test_a_malformed_conversation_is_refused_rather_than_answered(llm: Any, bad: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        llm.chat(bad)


def test_a_meter_changes_no_answer(llm: Any) -> None:
    metered = Metered(llm)
    assert metered(PROMPTS[1]) == llm(PROMPTS[1])
    assert metered.calls == 1
    assert metered.prompt_tokens > 0
    assert metered.completion_tokens > 0
    assert (metered.milliseconds > 0) == isinstance(llm, Local | OpenAICompatible)
