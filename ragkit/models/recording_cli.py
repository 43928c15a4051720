"""``python -m ragkit.models.recording``: which prompts lack an answer, what a key holds, record, re-key.

The command line over ``recording_tasks.py`` and ``recording_runs.py``. ``MODULE:TASKS`` is the import string of a
*tasks* mapping.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragkit.models.recording_runs import rerecord
from ragkit.models.recording_tasks import (
    Prompt,
    Settings,
    chosen,
    key_text,
    load_tasks,
    missing,
    prompts_of,
    recorded,
    rekey,
    settings_of,
    stale,
    unnamed,
)
from ragkit.models.records import ANSWERERS, Record, record_key, tasks_in, write_records


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status is 1 when ``missing`` finds a gap or a failing task, or ``show`` nothing."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ValueError, ImportError, AttributeError, FileNotFoundError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _missing(options: argparse.Namespace) -> int:
    tasks = load_tasks(options.tasks)
    unmade = unnamed(tasks)
    gaps: list[tuple[str, str, Prompt]] = []
    old: list[Record] = []
    for task in chosen(tasks, options.only):
        try:
            gaps += missing(tasks, options.answerer, options.folder, [task])
            old += stale(tasks, options.folder, [task])
        except Exception as error:  # whatever a task's own code raises: it is named, and the others are listed
            unmade[task] = f"{type(error).__name__}: {error}"
    for task, item, prompt in gaps:
        text = key_text(prompt)
        print(f"{task}  {item}  key {record_key(text)}")
        if options.prompts:
            print(f"{text}\n{'-' * 80}")
    for record in old:
        print(f"{record.task}  {record.item}  key {record.key}  answers no prompt of the code (by {record.answerer})")
    print(f"{len(gaps)} prompts have no answer by {options.answerer!r}", file=sys.stderr)
    for name, why in unmade.items():
        print(f"{name}  cannot be listed: {why}", file=sys.stderr)
    return 1 if gaps or unmade else 0


def _show(options: argparse.Namespace) -> int:
    found = [
        r for task in tasks_in(options.folder) for r in recorded(task, options.folder) if r.key.startswith(options.key)
    ]
    for r in found:
        note = f"  ({r.note})" if r.note else ""
        print(
            f"{r.task}  {r.item}  key {r.key}  by {r.answerer} ({r.author}), {r.date}{note}\n{r.response}\n{'-' * 80}"
        )
    if not found:
        print(f"no record's key begins with {options.key}", file=sys.stderr)
    return 0 if found else 1


def _add(options: argparse.Namespace) -> int:
    row = Record(
        task=options.task,
        item=options.item,
        key=options.key,
        answerer="hand",
        author=options.author,
        date=options.date,
        response=sys.stdin.read().removesuffix("\n"),
        note=options.note,
    )
    kept = [r for r in recorded(row.task, options.folder) if (r.key, r.answerer) != (row.key, row.answerer)]
    write_records(row.task, [*kept, row], options.folder)
    return 0


def _rekey(options: argparse.Namespace) -> int:
    print(f"{rekey(load_tasks(options.tasks), options.folder, options.only)} hand answers filed under new prompts")
    return 0


def _rerecord(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import Progress

    tasks = load_tasks(options.tasks)
    if options.answerer == "hosted" and not options.address:
        raise ValueError("--answerer hosted needs --address")
    settings = {task: settings_of(tasks, task) for task in chosen(tasks, options.only)}
    if options.address and (raw := [task for task, asked in settings.items() if asked.raw]):
        print(f"left out, as a server is asked in turns of a chat: {', '.join(raw)}", file=sys.stderr)
        settings = {task: asked for task, asked in settings.items() if not asked.raw}
    total = sum(len(prompts_of(tasks, task)) for task in settings)
    names: dict[str, int] = {}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("asking", total=total)
        for task, asked in settings.items():
            name, llm = _asker(
                options, asked if options.max_tokens is None else asked._replace(max_tokens=options.max_tokens)
            )
            progress.update(bar, description=f"asking {name}: {task}")
            count = rerecord(
                tasks, llm, options.answerer, name, options.folder, [task], options.gaps, lambda: progress.advance(bar)
            )
            names[name] = names.get(name, 0) + count
    for name, count in names.items():
        print(f"{count} answers recorded by {options.answerer!r} ({name})")
    return 0


def _asker(options: argparse.Namespace, asked: Settings) -> tuple[str, Any]:
    """The model's name, and what is called with a prompt."""
    from ragkit.models.local import Local
    from ragkit.models.openai_compatible import OpenAICompatible

    if options.address:
        remote = OpenAICompatible(
            options.address, options.model, api_key=options.api_key, max_tokens=asked.max_tokens, stop=asked.stop
        )
        return remote.name, remote
    local = Local(max_tokens=asked.max_tokens, stop=asked.stop)
    if not asked.raw:
        return local.name, local
    name = f"{local.name}, continuing the prompt without a chat template"
    return name, lambda prompt: local.generate(prompt, raw=True, top=None).text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m ragkit.models.recording", description="Recorded answers of models."
    )
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        made.add_argument("--folder", type=Path, help="where recordings lie (the course's own by default)")
        return made

    one = command("missing", _missing, "list prompts without an answer, and answers without a prompt")
    one.add_argument("tasks", metavar="MODULE:TASKS")
    one.add_argument("--answerer", choices=ANSWERERS, default="hand")
    one.add_argument("--only", action="append", default=[], metavar="TASK")
    one.add_argument("--prompts", action="store_true", help="print every prompt in full")

    one = command("show", _show, "print the records under a key, or under the keys that begin so")
    one.add_argument("key")

    one = command("add", _add, "record one hand answer, read from standard input")
    one.add_argument("--task", required=True)
    one.add_argument("--item", required=True)
    one.add_argument("--key", required=True)
    one.add_argument("--author", default="course authors")
    one.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    one.add_argument("--note", default="")

    one = command("rekey", _rekey, "file hand answers under the prompts their items have now")
    one.add_argument("tasks", metavar="MODULE:TASKS")
    one.add_argument("--only", action="append", default=[], metavar="TASK")

    one = command(
        "rerecord", _rerecord, "ask a model every prompt and record its answers; goes on where a run broke off"
    )
    one.add_argument("--tasks", required=True, metavar="MODULE:TASKS")
    one.add_argument("--answerer", required=True, choices=[a for a in ANSWERERS if a != "hand"])
    one.add_argument("--address", help="an OpenAI-compatible server")
    one.add_argument("--model", help="the model's name there (the first it lists by default)")
    one.add_argument("--api-key", default="none")
    one.add_argument("--max-tokens", type=int, help="length of an answer (each task's own by default)")
    one.add_argument("--only", action="append", default=[], metavar="TASK")
    one.add_argument("--gaps", action="store_true", help="ask only prompts that have no answer yet")
    return parser
