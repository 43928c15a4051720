"""The corpus: its formats, its promises (each checker with a broken corpus of its own), and the ticket generator."""

import json
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from datetime import date
from itertools import islice, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import corpus
from ragkit.corpus import Corpus, phrases, tickets
from ragkit.corpus import __main__ as cli
from ragkit.corpus.check import Minimums, check, read_leniently
from ragkit.corpus.checks.world import read_chains
from ragkit.models import Record, record_key, write_records
from ragkit.models.shapes import chat_prompt
from ragkit.text import content_hash

plain = settings(max_examples=50, deadline=None)
NONE = Minimums(*[0] * len(Minimums._fields))

KETTLE = """---
id: kettle
title: Aster kettle, manual
kind: manual
date: 2024-03-01
version: 2
supersedes: kettle-old
---
## maker
The Aster kettle is made by Larkfield Goods, with a thermostat by Tindall.

## table
| model | years |
|---|---|
| AK-170R | 2 |
"""
OLD = """---
id: kettle-old
title: Aster kettle, old manual
kind: manual
date: 2021-03-01
---
## warranty
One year, then.
"""
TINDALL = """---
id: tindall
title: Tindall Controls
kind: profile
date: 2023-01-01
---
## owner
Since 2018 the works of Tindall belong to a group led by Lorne Ashby.
"""
HOP = """
[[question]]
id = "hop-1"
split = "dev"
text = "Who leads the owner of the thermostat maker for the Aster kettle?"
answer = "Lorne Ashby"
aliases = ["Ashby"]
relevant = { "kettle/maker" = 2, "tindall/owner" = 3 }
chain = ["kettle/maker", "tindall/owner"]
anchor = "Aster kettle"

[[question]]
id = "hop-2"
split = "test"
text = "Who leads the owner of the thermostat maker for the Aster kettle now?"
answer = "Lorne Ashby"
relevant = { "kettle/maker" = 2, "tindall/owner" = 3 }
chain = ["kettle/maker", "tindall/owner"]
anchor = "Aster kettle"
"""
RECORD = {
    "task": "rewrite",
    "item": "hop-1",
    "key": content_hash("Rewrite: hop-1")[:16],
    "answerer": "hand",
    "author": "course authors",
    "date": date(2026, 11, 29),
    "response": "Lorne?",
}


def world(folder, documents=(KETTLE, OLD, TINDALL), questions=None, recordings=None, outside=(), **files):
    """A tiny corpus on disk, sound unless a part is replaced; ``files`` are further ones, ``sql_toml="..."``."""
    for name in ("documents", "questions", "recordings", "outside"):
        (folder / name).mkdir(parents=True)
    for name, texts in (("documents", documents), ("outside", outside)):
        for text in texts:
            (folder / name / f"{re.search('id: (.*)', text)[1]}.md").write_text(text, encoding="utf-8")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    for cls, text in (questions if questions is not None else {"multi_hop": HOP}).items():
        (folder / "questions" / f"{cls}.toml").write_text(text, encoding="utf-8")
    for task, records in (recordings or {}).items():
        rows = [
            "[[record]]\n"
            + "\n".join(
                f"{k} = {json.dumps(v, default=str)}".replace('"2026-11-29"', "2026-11-29") for k, v in row.items()
            )
            for row in records
        ]
        (folder / "recordings" / f"{task}.toml").write_text("\n\n".join(rows), encoding="utf-8")
    return folder


def faults_of(folder, minimums=NONE, tasks=None, distractors=0):
    found, faults = read_leniently(folder, distractors)
    return faults + check(found, minimums, tasks)


def kinds(folder, **options):
    return {fault.kind for fault in faults_of(folder, **options)}


# The real corpus ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    found = corpus.load()
    if not found.questions:
        pytest.fail("the corpus has no questions")
    return found


def test_the_corpus_keeps_every_promise(real):
    found, faults = read_leniently()
    assert faults + check(found, tasks=cli.registered()) == []


def test_load_is_shared_and_a_folder_can_be_given(real, tmp_path):
    assert corpus.load() is real
    other = corpus.load(world(tmp_path / "w"))
    assert [document.id for document in other.documents] == ["kettle", "kettle-old", "tindall"]
    with pytest.raises(ValueError, match="no folder documents"):
        corpus.load(tmp_path / "nowhere")


def test_index_is_passages_then_distractors(real):
    assert real.index == real.passages + real.distractors
    assert not {passage.id for passage in real.outside} & {passage.id for passage in real.index}
    assert len(real.distractors) == corpus.DISTRACTORS
    first = real.distractors[122]
    assert first.title == "Support ticket 000123"
    assert first.meta["kind"] == "ticket"
    assert first.meta["theme"] in tickets.distribution()


def test_selection_and_lookup(real):
    hops = real.select("multi_hop", "dev")
    assert hops
    assert all(q.cls == "multi_hop" and q.split == "dev" for q in hops)
    assert sum(len(real.select(cls)) for cls in corpus.CLASSES) == len(real.select()) == len(real.questions)
    a_passage = real.passage(hops[0].chain[0])
    assert a_passage.title == real.document(a_passage.meta["doc"]).title
    for call, name in ((lambda: real.select("easy"), "cls"), (lambda: real.select(split="train"), "split")):
        with pytest.raises(ValueError, match=name):
            call()
    with pytest.raises(ValueError, match="passage_id"):
        real.passage("nowhere")
    with pytest.raises(ValueError, match="document_id"):
        real.document("nowhere")


# The formats --------------------------------------------------------------------------------------------------------


def test_a_document_becomes_passages_with_provenance(tmp_path):
    found = corpus.load(world(tmp_path / "w"))
    kettle = found.document("kettle")
    assert (kettle.version, kettle.supersedes, kettle.kind) == ("2", "kettle-old", "manual")
    maker, table = kettle.passages
    assert maker.id == "kettle/maker"
    assert maker.full_text.startswith("Aster kettle, manual\nThe Aster kettle is made")
    assert maker.meta == {"doc": "kettle", "kind": "manual", "date": "2024-03-01", "version": "2", "section": "maker"}
    assert table.text == "| model | years |\n|---|---|\n| AK-170R | 2 |"
    assert found.document("kettle-old").version == ""


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("---\nid", "id"), r"documents/kettle.md, line 1: must open"),
        (("kind: manual\n", ""), r"line 1: front matter lacks kind"),
        (("kind: manual", "kind manual"), r"line 4: must be 'key: value'"),
        (("kind: manual", "sort: manual"), r"line 4: has an unknown key 'sort'"),
        (("kind: manual", "title: again"), r"line 4: gives 'title' a second time"),
        (("2024-03-01", "1 March 2024"), r"line 5: date must be like"),
        (("## maker", "## The Maker"), r"line 9: section name must be a slug"),
        (("## table", "## maker"), r"line 12: has a second section 'maker'"),
        (("## maker\n", "stray\n## maker\n"), r"line 9: text stands before"),
        (("| model | years |\n|---|---|\n| AK-170R | 2 |\n", ""), r"line 12: section 'table' is empty"),
    ],
)
def test_a_bad_document_is_named_with_its_line(tmp_path, change, complaint):
    folder = world(tmp_path / "w")
    (folder / "documents" / "kettle.md").write_text(KETTLE.replace(*change, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        corpus.load(folder)
    assert "format" in kinds(folder)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('text = "Who', "text = Who"), r"questions/multi_hop.toml, line 5: is no TOML"),
        (('id = "hop-2"\n', ""), r"line 12: question '\?' lacks id"),
        (('split = "test"', 'split = "train"'), r"line 12: question 'hop-2': split must be 'dev' or 'test'"),
        (('"kettle/maker" = 2', '"kettle/maker" = "2"'), r"line 2: question 'hop-1': relevant must be"),
        (('aliases = ["Ashby"]', 'aliases = "Ashby"'), r"line 2: question 'hop-1': aliases must be a list"),
        (('aliases = ["Ashby"]', 'alias = ["Ashby"]'), r"line 2: question 'hop-1' has unknown keys: alias"),
        (('anchor = "Aster kettle"', 'history = [{ role = "robot", content = "x" }]'), r"history must be"),
    ],
)
def test_a_bad_question_is_named_with_its_line(tmp_path, change, complaint):
    folder = world(tmp_path / "w", questions={"multi_hop": HOP.replace(*change, 1)})
    with pytest.raises(ValueError, match=complaint):
        corpus.load(folder)
    assert "format" in kinds(folder)


def test_a_file_named_after_no_class_is_a_fault(tmp_path):
    assert "format" in kinds(world(tmp_path / "w", questions={"multi_hop": HOP, "riddles": HOP}))


# The checker: a sound world has no fault, and each broken one has its own ------------------------------------------


def test_a_sound_world_has_no_fault(tmp_path):
    folder = world(tmp_path / "w", recordings={"rewrite": [RECORD]})
    assert faults_of(folder) == []
    assert (
        faults_of(folder, tasks={"rewrite": lambda: [("hop-1", "Rewrite: hop-1"), ("hop-2", "Rewrite: hop-2")]}) == []
    )


def test_sizes_are_checked(tmp_path):
    found = faults_of(world(tmp_path / "w"), minimums=Minimums(), distractors=5)
    where = {fault.where: fault.message for fault in found if fault.kind == "size"}
    assert set(where) == {"passages", "distractors", "outside", "WORLD.md", "sql", *corpus.CLASSES}
    assert where["multi_hop"] == "has 2 questions, needs 40"
    assert where["single_fact"] == "has 0 questions, needs 25"


def broken_question(**changes):
    row = {
        "id": "x-1",
        "split": "dev",
        "text": "How long?",
        "answer": "2",
        "relevant": {"kettle/table": 3},
        **changes,
    }
    lines = []
    for key, value in row.items():
        if isinstance(value, dict):
            inner = ", ".join(f'"{k}" = {v}' for k, v in value.items())
            lines.append(f"{key} = {{ {inner} }}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "[[question]]\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("cls", "changes", "kind"),
    [
        ("single_fact", {}, None),
        ("single_fact", {"relevant": {"kettle/nowhere": 3}}, "unknown-passage"),
        ("single_fact", {"relevant": {"kettle/table": 4}}, "gain"),
        ("single_fact", {"relevant": {"kettle/table": 0}}, "gain"),
        ("compound", {"relevant": {}}, "relevant-empty"),
        ("single_fact", {"answer": ""}, "answer-empty"),
        ("single_fact", {"answer": "7"}, "answer-missing"),
        ("single_fact", {"answer": "7", "aliases": ["AK-170R"]}, None),
        ("single_fact", {"answer": "170"}, "answer-missing"),  # a part of a code is no answer
        ("exact_code", {"answer": "7"}, "answer-missing"),
        ("temporal", {"answer": "7"}, "answer-missing"),
        ("table_form", {"answer": "7"}, "answer-missing"),
        ("vocabulary_gap", {"answer": "7"}, "answer-missing"),
        ("relational", {"answer": "7"}, None),
        ("no_answer", {"answer": ""}, "relevant-not-empty"),
        ("no_answer", {"relevant": {}}, "answer-not-empty"),
        ("no_retrieval", {}, "relevant-not-empty"),
        ("theme", {"relevant": {}}, "themes-empty"),
        ("theme", {"relevant": {}, "answer": "It cuts out.", "themes": ["switches off | cuts out"]}, None),
        ("theme", {"relevant": {}, "answer": "It breaks.", "themes": ["breaks", "switches off"]}, "theme-unnamed"),
        ("follow_up", {}, "history-empty"),
    ],
)
def test_each_fault_of_a_label_is_found(tmp_path, cls, changes, kind):
    both = broken_question(**changes) + broken_question(**{**changes, "id": "x-2", "split": "test"})
    found = kinds(world(tmp_path / "w", questions={cls: both}))
    assert found == ({kind} if kind else set())


def test_a_class_with_one_split_is_a_fault(tmp_path):
    assert kinds(world(tmp_path / "w", questions={"single_fact": broken_question()})) == {"split"}


def test_duplicate_ids_are_faults(tmp_path):
    twice = broken_question() + broken_question(split="test")
    folder = world(tmp_path / "w", questions={"single_fact": twice})
    assert kinds(folder) == {"duplicate-id"}
    with pytest.raises(ValueError, match="'x-1' more than once"):
        corpus.load(folder)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["tindall/owner"]'), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', "chain = []"), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', f"chain = {['kettle/maker'] * 5}"), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["kettle/maker", "tindall/nowhere"]'), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["kettle/maker", "kettle-old/warranty"]'), "chain"),
        (('relevant = { "kettle/maker" = 2, ', "relevant = { "), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["kettle/maker", "kettle/maker"]'), "chain"),
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["tindall/owner", "kettle/maker"]'), "chain-end"),
        (('chain = ["kettle/maker", "tindall/owner"]', 'chain = ["tindall/owner", "kettle/maker"]'), "chain-start"),
        (('anchor = "Aster kettle"', 'anchor = ""'), "anchor"),
        (('anchor = "Aster kettle"', 'anchor = "Wren radio"'), "anchor"),
    ],
)
def test_each_fault_of_a_chain_is_found(tmp_path, change, kind):
    assert kind in kinds(world(tmp_path / "w", questions={"multi_hop": HOP.replace(*change, 1)}))


def test_a_chain_without_a_shared_name_is_a_fault(tmp_path):
    apart = KETTLE.replace("by Tindall", "bought in")
    assert kinds(world(tmp_path / "w", documents=(apart, OLD, TINDALL))) == {"chain-link"}


def test_a_capital_at_the_start_of_a_sentence_links_nothing(tmp_path):
    keep = KETTLE.replace("with a thermostat by Tindall.", "with a thermostat. Keep it dry, or keep the receipt.")
    other = TINDALL.replace("Since 2018 the works of Tindall", "Keep in mind that these works")
    other = other.replace("title: Tindall Controls", "title: Controls")
    assert "chain-link" in kinds(world(tmp_path / "w", documents=(keep, OLD, other)))


def test_a_passage_with_both_anchor_and_answer_is_a_fault(tmp_path):
    leak = OLD.replace("One year, then.", "Ms Ashby praised the Aster kettle.")
    found = faults_of(world(tmp_path / "w", documents=(KETTLE, leak, TINDALL)))
    assert {(fault.kind, fault.where) for fault in found} == {("shortcut", "hop-1")}  # only hop-1 has the alias
    assert "kettle-old/warranty" in found[0].message


def school(text):
    return f"---\nid: school\ntitle: A school\nkind: press\ndate: 2023-01-01\n---\n## opening\n{text}\n"


def told(*passages):
    """The two hops with these passages declared as mentions."""
    return {"multi_hop": HOP.replace('anchor = "', f'mentions = {json.dumps(passages)}\nanchor = "')}


def test_an_answer_in_a_passage_that_is_not_gold_is_a_fault_unless_it_is_declared(tmp_path):
    """Whoever looks for the answer in what was found would credit a passage that does not help."""
    documents = (KETTLE, OLD, TINDALL, school("Lorne Ashby opened it."))
    found = faults_of(world(tmp_path / "w", documents))
    assert {(f.kind, f.where) for f in found} == {("answer-elsewhere", "hop-1"), ("answer-elsewhere", "hop-2")}
    assert kinds(world(tmp_path / "v", documents, told("school/opening"))) == set()
    assert kinds(world(tmp_path / "u", (*documents[:3], school("It lies among ashby trees.")))) == set(), "no name"


@pytest.mark.parametrize("passage", ["kettle-old/warranty", "nowhere/at-all", "tindall/owner"])
def test_a_declared_mention_must_hold_the_answer_and_be_no_gold(tmp_path, passage):
    assert kinds(world(tmp_path / "w", questions=told(passage))) == {"mentions"}


def test_a_distractor_with_both_anchor_and_answer_is_a_fault(tmp_path):
    found, _ = read_leniently(world(tmp_path / "w"), 3)
    leak = corpus.ticket_passages(1)[0]
    bad = type(leak)(leak.id, "My Aster kettle was praised by Lorne Ashby.", leak.title, leak.meta)
    shortcut = Corpus(found.root, found.documents, [bad], found.questions)
    assert {fault.kind for fault in check(shortcut, NONE)} == {"shortcut"}


def test_a_ticket_about_an_order_of_the_documents_is_a_fault(tmp_path):
    code = re.search(r"ORD-\d+", " ".join(p.text for p in corpus.ticket_passages(20)))[0]
    told = OLD.replace("One year, then.", f"Order {code} is late.")
    assert kinds(world(tmp_path / "w", documents=(KETTLE, told, TINDALL)), distractors=20) == {"code-clash"}


@pytest.mark.parametrize(
    ("old", "kind"),
    [
        (None, "supersedes"),
        (OLD.replace("2021-03-01", "2024-03-01"), "supersedes"),
        (OLD.replace("kind: manual", "kind: manual\nsupersedes: kettle"), "supersedes-cycle"),
    ],
)
def test_versions_that_do_not_resolve_are_faults(tmp_path, old, kind):
    documents = [text for text in (KETTLE, old, TINDALL) if text]
    assert kind in kinds(world(tmp_path / "w", documents=documents))


@pytest.mark.parametrize(
    "changes",
    [
        {"answerer": "somebody"},
        {"key": "XYZ"},
        {"date": "yesterday"},
        {"author": ""},
        {"task": "other"},
        {"response": 7},
        {"item": None},
    ],
)
def test_a_bad_recording_is_a_fault(tmp_path, changes):
    row = {key: value for key, value in {**RECORD, **changes}.items() if value is not None}
    assert kinds(world(tmp_path / "w", recordings={"rewrite": [row]})) == {"recording"}


def test_two_answers_of_one_answerer_to_one_prompt_are_a_fault(tmp_path):
    rows = [RECORD, {**RECORD, "answerer": "135M", "response": "Who?"}]
    assert kinds(world(tmp_path / "w", recordings={"rewrite": rows})) == set()
    both = [*rows, {**RECORD, "response": "Ashby?"}]
    assert kinds(world(tmp_path / "v", recordings={"rewrite": both})) == {"recording"}


def test_a_task_in_a_folder_and_a_conversation_are_checked_too(tmp_path):
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    folder = world(tmp_path / "w")
    write_records(
        "chat", [Record(**{**RECORD, "task": "chat", "key": record_key(chat_prompt(turns))})], folder / "recordings"
    )
    (folder / "recordings" / "chat").mkdir()
    (folder / "recordings" / "chat.toml").rename(folder / "recordings" / "chat" / "hand.toml")
    assert kinds(folder, tasks={"chat": lambda: [("hop-1", turns)]}) == set()
    assert kinds(folder, tasks={"chat": lambda: [("hop-1", turns[:1])]}) == {"stale-recording"}


def test_a_recording_file_that_is_no_toml_is_a_fault(tmp_path):
    folder = world(tmp_path / "w")
    (folder / "recordings" / "rewrite.toml").write_text("[[record")
    assert kinds(folder) == {"recording"}
    (folder / "recordings" / "rewrite.toml").write_text("[[records]]\nitem = 'x'\n")
    assert kinds(folder) == {"recording"}


@pytest.mark.parametrize(
    "tasks",
    [
        {"rewrite": lambda: [("hop-1", "Rewrite now: hop-1")]},  # the prompt changed
        {"rewrite": list},
        {"summary": lambda: [("hop-1", "Rewrite: hop-1")]},  # nobody registers the task
    ],
)
def test_a_stale_recording_is_a_fault(tmp_path, tasks):
    assert kinds(world(tmp_path / "w", recordings={"rewrite": [RECORD]}), tasks=tasks) == {"stale-recording"}


def test_the_command_counts_and_exits_by_the_faults(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cli, "check", lambda found, tasks: check(found, NONE, tasks))
    assert cli.main(["check", str(world(tmp_path / "good"))]) == 0
    assert "no faults" in capsys.readouterr().out
    bad = world(tmp_path / "bad", questions={"multi_hop": HOP.replace('"kettle/maker" = 2', '"kettle/maker" = 9', 1)})
    assert cli.main(["check", str(bad)]) == 1
    shown = capsys.readouterr().out
    assert "gain of 'kettle/maker' must be 1 to 3" in shown
    assert "1 faults" in shown


def test_the_module_runs_as_a_command_and_fails_on_a_small_corpus(tmp_path):
    command = [sys.executable, "-m", "ragkit.corpus", "check", str(world(tmp_path / "w"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "needs 400" in done.stdout
    assert done.stderr == ""


def test_registered_prompts_are_found_by_name_and_may_be_absent(tmp_path, monkeypatch):
    (tmp_path / "some_tasks.py").write_text("TASKS = {'rewrite': list}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cli.registered("some_tasks:TASKS") == {"rewrite": list}
    assert cli.registered("ragkit.no_such_module:TASKS") is None
    assert cli.registered("no_such_package.module:TASKS") is None


# Lengths, the chains of WORLD.md, and the outside collection ----------------------------------------------------------


def page(name, text, section="text"):
    return f"---\nid: {name}\ntitle: A page\nkind: blog\ndate: 2024-01-01\n---\n## {section}\n{text}\n"


@pytest.mark.parametrize("part", ["documents", "outside"])
@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("word " * 126, False),  # and two words of title
        ("word " * 127, True),
        ("| a | b |\n|---|---|\n" + "| a | b |\n" * 40, False),
        ("| a | b |\n|---|---|\n" + "| a | b |\n" * 60, True),
        ("- a line of a log\n" * 30, False),
    ],
)
def test_a_passage_must_fit_into_what_the_embedding_model_reads(tmp_path, part, text, long):
    parts = {"documents": (KETTLE, OLD, TINDALL), "outside": tuple(page(f"p{n}", "Filler.") for n in range(9))}
    parts[part] = (*parts[part], page("long", text))
    found = faults_of(world(tmp_path / "w", **parts))
    assert [(fault.kind, fault.where) for fault in found] == ([("length", "long/text")] if long else [])


WORLD = """# The world

## Chains

Neighbours stand together once.

1. Aster kettle, Tindall, Lorne Ashby

## Later

2. Not, a chain
"""


def test_the_chains_of_the_world_are_read():
    chains = read_chains(corpus.load().root / "WORLD.md")
    assert len(chains) == 40
    assert chains[0] == ("Aster kettle", "Larkfield Goods", "Maren Oakes", "Skerrin Bay")


def test_a_world_with_chains_is_sound(tmp_path):
    folder = world(tmp_path / "w", WORLD_md=WORLD)
    assert read_chains(folder / "WORLD.md") == [("Aster kettle", "Tindall", "Lorne Ashby")]
    assert faults_of(folder) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tindall supplies the Aster kettle.", {"world-link", "chain-gap"}),  # taking kettle/maker out leaves no gap
        ("Lorne Ashby chairs Tindall.", {"world-link", "chain-gap", "answer-elsewhere"}),
        ("Lorne Ashby has an Aster kettle.", {"world-shortcut", "shortcut"}),
        ("She owns a tindall, whatever that is, and an Aster kettle.", set()),  # no name
    ],
)
def test_a_passage_that_joins_names_of_a_chain_once_more_is_a_fault(tmp_path, text, expected):
    assert kinds(world(tmp_path / "w", (KETTLE, OLD, TINDALL, page("more", text)), WORLD_md=WORLD)) == expected


def test_a_ticket_that_joins_neighbours_is_a_second_link(tmp_path):
    found, _ = read_leniently(world(tmp_path / "w", WORLD_md=WORLD), 1)
    leak = replace(found.distractors[0], text="The Tindall part in my Aster kettle failed.")
    joined = Corpus(found.root, found.documents, [leak], found.questions)
    assert {fault.kind for fault in check(joined, NONE)} == {"world-link", "chain-gap"}


def test_neighbours_that_nothing_joins_are_a_fault(tmp_path):
    folder = world(tmp_path / "w", WORLD_md=WORLD.replace("1. Aster", "3. Wren radio, Aster"))
    assert [(f.kind, f.where) for f in faults_of(folder)] == [("world-link", "Wren radio and Aster kettle")]


@pytest.mark.parametrize(
    "change",
    [
        ("Lorne Ashby\n", "owner\n"),  # the answer is no name of the chain
        ("Aster kettle, Tindall", "Tindall"),  # the chain begins after the anchor
    ],
)
def test_a_question_that_follows_no_chain_of_the_world_is_a_fault(tmp_path, change):
    documents = (KETTLE, OLD, TINDALL.replace("a group led", "an owner led"))
    found = faults_of(world(tmp_path / "w", documents, WORLD_md=WORLD.replace(*change, 1)))
    assert {("chain-gap", "hop-1"), ("chain-gap", "hop-2")} == {(f.kind, f.where) for f in found if "gap" in f.kind}


FILLER = tuple(page(f"filler-{n}", "The ferry is late.") for n in range(5))


def test_outside_passages_are_found_by_id_and_are_not_in_the_index(tmp_path):
    found = corpus.load(world(tmp_path / "w", outside=FILLER))
    assert found.passage("filler-3/text") in found.outside
    assert found.document("filler-3") in found.outside_documents
    assert found.document("filler-3") not in found.documents
    assert not set(map(id, found.index)) & set(map(id, found.outside))
    assert (dict(found.outside_answers), found.outside_near_misses, dict(found.outside_wrong)) == ({}, (), {})


def test_an_id_in_both_collections_is_refused(tmp_path):
    folder = world(tmp_path / "w", outside=(*FILLER, page("tindall", "A stone.", "owner")))
    with pytest.raises(ValueError, match="'tindall' more than once"):
        corpus.load(folder)
    assert kinds(folder) == {"duplicate-id"}


def test_an_outside_collection_smaller_than_the_documents_is_a_fault(tmp_path):
    assert {(f.kind, f.where) for f in faults_of(world(tmp_path / "w", outside=FILLER[:4]))} == {("size", "outside")}


@pytest.mark.parametrize(
    "text",
    [
        "Ms Ashby praised the Aster kettle.",  # anchor and answer
        "The works of Tindall make the disc of the Aster kettle.",  # two neighbours
    ],
)
def test_an_outside_passage_that_is_a_way_around_a_chain_is_a_fault(tmp_path, text):
    folder = world(tmp_path / "w", outside=(*FILLER, page("leak", text)), WORLD_md=WORLD)
    assert {(fault.kind, fault.where) for fault in faults_of(folder)} == {("outside-shortcut", "leak/text")}


UNANSWERED = """
[[question]]
id = "none-1"
split = "dev"
text = "Why?"

[[question]]
id = "none-2"
split = "test"
text = "How late is the ferry?"
"""
LABELS = """
[[answer]]
question = "none-1"
passages = ["filler-0/text"]
answer = "late ferry"
aliases = ["ferry is late"]

[[near_miss]]
question = "none-2"
passages = ["filler-1/text"]
about = "not how late"

[[wrong]]
passage = "filler-2/text"
about = "outdated: the ferry is punctual, tindall/owner"
"""


def labelled(folder, change=("", "")):
    questions = {"no_answer": UNANSWERED, "multi_hop": HOP}
    return world(folder, questions=questions, outside=FILLER, outside_toml=LABELS.replace(*change, 1))


def test_the_labels_of_the_outside_collection_are_read(tmp_path):
    folder = labelled(tmp_path / "w")
    assert faults_of(folder) == []
    found = corpus.load(folder)
    assert found.outside_answers["none-1"].answers == ("late ferry", "ferry is late")
    assert found.outside_answers["none-1"].passages == ("filler-0/text",)
    assert found.outside_near_misses == (corpus.NearMiss("none-2", ("filler-1/text",), "not how late"),)
    assert set(found.outside_wrong) == {"filler-2/text"}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (('question = "none-1"', 'question = "hop-1"'), "outside-label"),
        (('question = "none-1"', 'question = "nobody"'), "outside-label"),
        (('passages = ["filler-0/text"]', "passages = []"), "outside-label"),
        (('["filler-0/text"]', '["filler-0/text", "filler-1/text", "filler-2/text"]'), "outside-label"),
        (('["filler-0/text"]', '["tindall/owner"]'), "outside-label"),
        (('aliases = ["ferry is late"]', 'aliases = ["ferry is early"]'), "outside-answer"),
        (('question = "none-2"', 'question = "nobody"'), "outside-label"),
        (('["filler-1/text"]', '["nowhere/text"]'), "outside-label"),
        (('question = "none-2"\npassages = ["filler-1', 'question = "none-1"\npassages = ["filler-0'), "outside-label"),
        (('passage = "filler-2/text"', 'passage = "tindall/owner"'), "outside-label"),
        (("punctual, tindall/owner", "punctual, tindall/nowhere"), "outside-label"),
        (("punctual, tindall/owner", "punctual"), "outside-label"),
        (("[[wrong]]", "[[wrongs]]"), "format"),
        (('answer = "late', 'reply = "late'), "format"),
        (('answer = "late ferry"', "answer = 7"), "format"),
        (('aliases = ["ferry is late"]', 'aliases = "late"'), "format"),
        (("[[answer]]", "[[answer"), "format"),
        (("[[answer]]", "[answer]"), "format"),
        (("[[near_miss]]", LABELS[: LABELS.index("[[near")] + "[[near_miss]]"), "format"),  # answered twice
    ],
)
def test_each_fault_of_an_outside_label_is_found(tmp_path, change, kind):
    assert kinds(labelled(tmp_path / "w", change)) == {kind}


def test_about_half_of_the_unanswerable_questions_are_answered_outside(real):
    share = len(real.outside_answers) / len(real.select("no_answer"))
    assert 0.4 <= share <= 0.6


# Tickets ------------------------------------------------------------------------------------------------------------

THEMES = {
    "kettle shuts off early": 18,
    "limescale": 15,
    "earbuds pairing": 14,
    "late delivery": 13,
    "charging case battery": 11,
    "lid hinge": 8,
    "wrong item": 7,
    "slow refund": 6,
    "app login": 5,
    "store queues": 3,
}


@pytest.fixture(scope="module")
def sample():
    return list(tickets.generate(3000, seed=1))


def test_distribution_is_the_stated_one():
    assert tickets.distribution() == {label: percent / 100 for label, percent in THEMES.items()}
    assert list(tickets.distribution()) == list(THEMES), "most frequent first"


@plain
@given(st.integers(0, 3000))
def test_counts_are_largest_remainders(n):
    counts = tickets.counts(n)
    assert sum(counts.values()) == n
    for label, percent in THEMES.items():
        assert abs(counts.get(label, 0) - percent * n / 100) < 1


def test_the_generated_distribution_is_exact_and_shuffled(sample):
    assert Counter(ticket.theme for ticket in sample) == {label: 30 * percent for label, percent in THEMES.items()}
    first_half = Counter(ticket.theme for ticket in sample[:1500])
    for label, percent in THEMES.items():  # a shuffle: each half has about half, within five standard deviations
        assert abs(first_half[label] - 15 * percent) <= 5 * (30 * percent / 4) ** 0.5
    runs = sum(a.theme != b.theme for a, b in pairwise(sample))
    assert runs > 2400


def test_the_tickets_of_a_seed_never_change():
    """Labels, recordings and figures of the book stand on these texts; a phrase moved in the file changes them all."""
    written = "\n".join(map(repr, tickets.generate(4000, 0)))
    assert content_hash(written) == "be366c4e6acc5fefa8ff77c30fcc2d205627783df366bcaf97052ed8b67aaa51"


def test_tickets_are_deterministic_by_seed():
    assert list(tickets.generate(50, 3)) == list(tickets.generate(50, 3))
    assert list(tickets.generate(50, 3)) != list(tickets.generate(50, 4))


def test_tickets_do_not_depend_on_hash_randomisation():
    code = "from ragkit.corpus import tickets; print(list(tickets.generate(20, 5)))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{list(tickets.generate(20, 5))}\n".encode()}


def test_ids_fields_and_lengths(sample):
    assert [ticket.id for ticket in sample[:2]] == ["ticket-000001", "ticket-000002"]
    assert len({ticket.id for ticket in sample}) == len(sample)
    for ticket in sample:
        assert 25 <= len(ticket.text.split()) <= 60, ticket
        assert date.fromisoformat(ticket.date).year == 2024
        assert ticket.store in phrases.STORES[ticket.product], "no store sells what the range plan denies it"
        assert "{" not in ticket.text
        assert not re.search(r"[\[\]|]|  ", ticket.text), ticket.text


def test_no_ticket_writes_a_theme_as_its_label(sample):
    for ticket in sample:
        words = ticket.text.lower()
        assert not [label for label in THEMES if label in words], ticket


def test_duplicates_are_rare_even_without_codes_and_dates(sample):
    assert len({ticket.text for ticket in sample}) == len(sample)
    masked = {re.sub(r"ORD-\d+|\d\d/\d\d/2024|\d+ \w+( 2024)?|\w+ \d+", "#", ticket.text) for ticket in sample}
    assert len(masked) > 0.99 * len(sample)


def test_each_theme_has_many_phrasings():
    for theme in phrases.THEMES:
        assert len(theme.complaints) >= 6
        ways = [
            sum(prod(len(part) for part in tickets._parsed(piece)) for piece in pieces)
            for pieces in (theme.complaints, theme.details)
        ]
        assert prod(ways) > 300, theme.label


def test_typos_happen_but_never_in_codes(sample):
    codes = [code for ticket in sample for code in re.findall(r"\bO\w*-\w+", ticket.text)]
    assert codes
    assert all(re.fullmatch(r"ORD-\d{6}", code) for code in codes)
    known = {word for piece in _all_pieces() for word in re.findall(r"[a-z]+", piece.lower())}
    odd = [t for t in sample if set(re.findall(r"(?<![\w-])[a-z]{5,}(?![\w-])", t.text)) - known]
    assert 0.05 < len(odd) / len(sample) < 0.2


def _all_pieces():
    for theme in phrases.THEMES:
        yield from theme.complaints
        yield from theme.details
    for table in (phrases.CONTEXTS, phrases.CLOSINGS, phrases.EXTRAS, phrases.PRODUCTS):
        for pieces in table.values():
            yield from pieces
    yield from (*phrases.OPENINGS, *phrases.BUDS)


def test_order_codes_keep_clear_of_those_of_the_documents(sample, real):
    told = set(re.findall(r"ORD-\d+", " ".join(p.full_text for p in real.passages)))
    assert told
    assert not told & {code for ticket in sample for code in re.findall(r"ORD-\d+", ticket.text)}
    assert all(400_000 <= int(code[4:]) < 600_000 for code in told)


def test_tickets_stream_in_flat_memory():
    for _ in tickets.generate(500, 0):  # parsed phrases are cached once
        pass
    stream = tickets.generate(50_000, 0)
    tracemalloc.start()
    try:
        for _ in islice(stream, 500):
            pass
        early = tracemalloc.get_traced_memory()[1]
        for _ in islice(stream, 1500):
            pass
        late = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert late < 1_000_000
    assert late - early < 100_000


@pytest.mark.parametrize("n", [-1, 1.5, True, "10"])
def test_a_bad_number_of_tickets_is_refused_at_once(n):
    with pytest.raises(ValueError, match="n must"):
        tickets.generate(n)


def test_no_tickets_are_no_tickets():
    assert list(tickets.generate(0)) == []


def test_embed_fills_the_cache_with_what_every_search_needs(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small, _ = read_leniently(world(tmp_path / "w"), 2)

    class Counting:
        version = "counting 1"

        def __call__(self, texts: list[str]) -> np.ndarray:
            embedded.extend(texts)
            return np.ones((len(texts), 2), dtype=np.float32)

    embedded: list[str] = []
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cli, "load", lambda: small)
    monkeypatch.setattr(cli, "sentence_embedder", Counting)
    wanted = {p.full_text for p in small.index} | {q.text for q in small.questions}
    assert wanted
    for _ in range(2):
        assert cli.main(["embed"]) == 0
    assert sorted(embedded) == sorted(wanted), "each text once, and none a second time"
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{len(wanted)} texts embedded, 0 were there")
    assert second.startswith("0 texts embedded")
