"""What the chapter on routers asks a model, and the stored runs whose token probabilities it reads.

Self-assessment is asked about the test half, by the text of a question alone, as a router sees it, and answered by
hand. Four runs of the 135M model on a `sample` of it keep the probabilities of the tokens, which a recording has no
place for: the ``assessed`` replies to the same prompt, the ``closed`` answers from memory, and answers to `facts` with
the five ``retrieved`` passages or with the ``gold`` ones. ``python -m ragkit.recorded.routing RUN`` makes one of them
again and goes on where it was stopped. Retrieval is BM25, whose ranking is the same on every machine, so that the
prompts are too. Left out: several samples an answer, and larger models.
"""

from __future__ import annotations

import argparse
import datetime
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ragkit import corpus
from ragkit.corpus import CLASSES, Question
from ragkit.loops.route_self import self_assessment_prompt
from ragkit.loops.route_uncertainty import closed_book_prompt
from ragkit.models.local import Local
from ragkit.models.recording_tasks import Settings
from ragkit.models.shapes import Completion, Token
from ragkit.query import paraphrases_prompt
from ragkit.recorded import measuring

FOLDER = Path(corpus.__file__).parent / "runs" / "routing"
CHAT = "no_retrieval"
"""The class of messages that no document can help with."""
PER_CLASS = 3
"""Questions of each other class of the test half that the 135M model is asked about."""
TOP = 20
"""Alternatives that are asked for beside each token of a verdict; of them those that read yes or no are kept."""


class Run(NamedTuple):
    """A stored run: the most tokens an answer may have, and how many alternatives of each are asked for."""

    max_tokens: int
    top: int


RUNS = {"assessed": Run(8, TOP), "closed": Run(16, 1), "retrieved": Run(24, 1), "gold": Run(24, 1)}
"""The readers' runs are cut where chapter 4 cuts its reader, whose prompts they are."""


def sample() -> list[Question]:
    """What the 135M model is asked of the test half: the messages, then the first of each class, the second, and so on.

    Wherever a run is stopped, what it has answered is spread over the classes.
    """
    test = corpus.load().select(split="test")
    messages = [question for question in test if question.cls == CHAT]
    classes = [[q for q in test if q.cls == cls][:PER_CLASS] for cls in CLASSES if cls != CHAT]
    return messages + [group[turn] for turn in range(PER_CLASS) for group in classes]


def facts() -> list[Question]:
    """Every second question of the test half whose answers chapter 4 reads: single facts, and facts of tables."""
    return [question for question in measuring.asked() if question.split == "test"][::2]


def asked(run: str) -> list[Question]:
    """The questions of a run, each once."""
    if run not in RUNS:
        raise ValueError(f"run must be one of {', '.join(RUNS)}, got {run!r}")
    chosen = {"assessed": sample(), "closed": [*sample(), *facts()], "retrieved": facts(), "gold": facts()}
    return list({question.id: question for question in chosen[run]}.values())


def prompt_of(run: str, question: Question) -> str:
    """The prompt that a run sends about a question. Only its text is shown, also of a follow-up."""
    if run == "assessed":
        return self_assessment_prompt(question.text)
    if run == "closed":
        return closed_book_prompt(question.text)
    return measuring.reader_prompt(question, run)


def generate(run: str, question: Question, model: Local) -> Completion:
    """One call of a run, now; its probabilities rounded as they are kept."""
    settings = RUNS[run]
    said = model.generate(prompt_of(run, question), top=settings.top, max_tokens=settings.max_tokens)
    return _read(_kept(said))


@cache
def stored(run: str) -> Mapping[str, Any]:
    """A run's file: ``date``, ``machine``, ``command`` and ``answers`` by question id."""
    with (FOLDER / f"{run}.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def said(run: str) -> dict[str, Completion]:
    """Question id -> what the model said in a stored run, with its tokens."""
    return {name: _read(row) for name, row in stored(run)["answers"].items()}


def replay(run: str) -> Callable[[str], Completion]:
    """A stored run as the function that the routers call: a prompt in, what the model said to it out.

    A prompt that the run did not send is a `KeyError`: nothing is asked instead.
    """
    answers, prompts = said(run), {prompt_of(run, question): question.id for question in asked(run)}
    return lambda prompt: answers[prompts[prompt]]


def _kept(completion: Completion) -> list[Any]:
    """Prompt tokens, then each token with its probability and the alternatives that read yes or no."""
    rows = []
    for token in completion.tokens:
        verdicts = [[text, _round(p)] for text, p in token.top if text.strip().lower() in ("yes", "no")]
        rows.append([token.text, _round(token.probability), *verdicts])
    return [completion.prompt_tokens, *rows]


def _read(row: list[Any]) -> Completion:
    tokens = tuple(Token(text, p, tuple((t, q) for t, q in verdicts)) for text, p, *verdicts in row[1:])
    text = "".join(token.text for token in tokens)
    return Completion(text, tokens, prompt_tokens=row[0], completion_tokens=len(tokens))


def _round(probability: float) -> float:
    """Four significant digits.

    >>> _round(0.123456), _round(1e-05)
    (0.1235, 1e-05)
    """
    return float(f"{probability:.4g}")


def assessments() -> Iterator[tuple[str, str]]:
    """The test half, one prompt a question."""
    yield from ((question.id, prompt_of("assessed", question)) for question in corpus.load().select(split="test"))


def chat() -> Iterator[tuple[str, str]]:
    """Other wordings of the messages of the test half, by the prompt that chapter 5 asks about questions."""
    yield from ((q.id, paraphrases_prompt(q.text)) for q in corpus.load().select(cls=CHAT, split="test"))


TASKS = {"self_assessment": assessments, "paraphrases_chat": chat}

SETTINGS = {
    "self_assessment": Settings(max_tokens=RUNS["assessed"].max_tokens),
    "paraphrases_chat": Settings(max_tokens=96),
}


def main() -> None:
    """Write one run's file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", choices=[*RUNS])
    parser.add_argument("--machine", default="one thread of a shared processor", help="what it runs on, in words")
    options = parser.parse_args()
    path = FOLDER / f"{options.run}.toml"
    done: dict[str, list[Any]] = dict(stored(options.run)["answers"]) if path.exists() else {}
    model, settings = Local(threads=1), RUNS[options.run]
    for count, question in enumerate(asked(options.run), start=1):
        if question.id in done:
            continue
        prompt = prompt_of(options.run, question)
        done[question.id] = _kept(model.generate(prompt, top=settings.top, max_tokens=settings.max_tokens))
        if count % 5 == 0:
            save(path, done, options.machine)
    save(path, done, options.machine)


def save(path: Path, rows: Mapping[str, list[Any]], machine: str) -> None:
    """Write a file of the folder. An array in JSON on one line, with strings and numbers in it, is one in TOML too."""
    head = [
        "# What is in here, and how it is made: ragkit/recorded/routing.py",
        f"date = {datetime.date.today()}",
        f'machine = "{machine}"',
        f'command = "python -m ragkit.recorded.routing {path.stem}"',
        "\n[answers]",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} = {json.dumps(row, ensure_ascii=False)}" for name, row in rows.items()]
    path.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
