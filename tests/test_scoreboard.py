"""The scoreboard against `evaluate` and values worked out by hand; what every entry of it must keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ragkit import scoreboard
from ragkit.base import Hit
from ragkit.corpus import Question
from ragkit.metrics import evaluate, paired_bootstrap
from ragkit.models import StandIn
from ragkit.recorded import TASKS
from ragkit.scoreboard import K, Score, Stage, Technique, by_text, keeping, measuring
from ragkit.scoreboard.score import Asked
from ragkit.scoreboard.technique import World

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this file's scores are kept: its own folder, since a test must not read what a chapter left."""
    return tmp_path_factory.mktemp("scores")


@pytest.fixture(autouse=True)
def own_cache(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is kept there; embeddings stay where they are."""
    monkeypatch.setattr(keeping, "folder", lambda: shared)


def made(values: dict[str, float], cls: str = "vague", **changes: object) -> Score:
    asked = {id: Asked(cls, "test" if int(id[1:]) % 2 else "dev", value) for id, value in values.items()}
    fields = {"technique": "t", "chapter": "c", "answerer": "", "indexed": "", "measure": "recall@5"}
    return Score(**{**fields, "asked": asked, "calls": 0.0, "tokens": 0.0, "milliseconds": 1.0, **changes})  # type: ignore[arg-type]


# --- measuring ---


def test_a_search_scores_as_the_evaluation_of_its_own_chapter(world: World) -> None:
    score = scoreboard.measure("BM25")
    result = evaluate(world.bm25, world.corpus.questions, k=K)
    assert list(score.values().values()) == result.values("recall")
    assert list(score.values()) == [row.id for row in result.rows]
    assert score.interval("exact_code") == result.interval("recall", "exact_code")
    assert score.interval() == result.interval("recall")


def test_calls_and_tokens_are_means_a_question(world: World) -> None:
    questions = world.corpus.select(cls="vague")[:4]

    def make(stage: Stage) -> object:
        meter = stage.ask("rewrite")
        meter.llm = StandIn(lambda prompt: "three word answer")

        def find(question: Question) -> list[Hit]:
            for _ in range(1 + (question.id == questions[0].id)):
                meter("two words")
            return []

        return find

    technique = Technique("counted", "x", make, ("hand",), questions=lambda: questions)  # type: ignore[arg-type]
    score = measuring.run(technique, "hand", world)
    assert score.calls == 5 / 4
    assert score.tokens == 5 * (2 + 3) / 4
    assert score.milliseconds is None, "replayed answers take no time worth telling"
    assert score.values() == dict.fromkeys((question.id for question in questions), 0.0)


def test_an_answer_is_judged_and_needs_no_passages(world: World) -> None:
    questions = world.corpus.select(cls="no_answer")[:3]
    technique = Technique(
        "says no", "x", lambda stage: lambda question: question.id, questions=lambda: questions,
        judge=lambda question, answer: float(answer == questions[1].id), measure="right",
    )  # fmt: skip
    score = measuring.run(technique, "", world)
    assert list(score.values().values()) == [0.0, 1.0, 0.0]
    hits = Technique("hits", "x", lambda stage: lambda question: [], questions=lambda: questions,
                     judge=lambda question, answer: 1.0, measure="right")  # fmt: skip
    with pytest.raises(TypeError, match="'hits' must give an answer"):
        measuring.run(hits, "", world)
    words = Technique("words", "x", lambda stage: lambda question: "yes")
    with pytest.raises(TypeError, match="'words' must give hits"):
        measuring.run(words, "", world)


def test_only_the_first_hits_count(world: World) -> None:
    question = next(q for q in world.corpus.questions if len(q.relevant) == 1)
    (gold,) = question.relevant
    others = [Hit(f"other-{n}", "", 0.0) for n in range(K)]
    last = Technique(
        "last", "x", lambda stage: lambda q: [*others[1:], Hit(gold, "", 0.0)], questions=lambda: [question]
    )
    late = Technique("late", "x", lambda stage: lambda q: [*others, Hit(gold, "", 0.0)], questions=lambda: [question])
    assert measuring.run(last, "", world).interval().mean == 1.0
    assert measuring.run(late, "", world).interval().mean == 0.0


def test_what_is_read_from_a_stored_run_tells_no_time(world: World) -> None:
    questions = world.corpus.select(cls="vague")[:3]
    for timed in (True, False):
        technique = Technique("read", "x", lambda stage: lambda q: [], questions=lambda: questions, timed=timed)
        assert (measuring.run(technique, "", world).milliseconds is not None) == timed


def test_unknown_names_are_named() -> None:
    with pytest.raises(ValueError, match=r"name must be one of .*got 'BM52'"):
        scoreboard.measure("BM52")
    with pytest.raises(ValueError, match="answerer of 'BM25' must be nobody"):
        scoreboard.measure("BM25", "hand")
    with pytest.raises(ValueError, match="answerer of 'HyDE' must be 'hand' or '135M', got ''"):
        scoreboard.measure("HyDE")
    with pytest.raises(ValueError, match="chapter has no technique on the scoreboard: '99-none'"):
        scoreboard.scores("99-none")
    with pytest.raises(ValueError, match="class 'weather'"):
        scoreboard.rows("02-hybrid", ["weather"])


# --- scores ---


def test_a_gain_is_paired_on_the_questions_that_both_were_asked() -> None:
    mine = made({"q1": 1.0, "q2": 0.5, "q3": 0.0})
    theirs = made({"q9": 1.0, "q3": 1.0, "q1": 0.0})
    assert mine.gain(theirs) == paired_bootstrap([1.0, 0.0], [0.0, 1.0])
    assert mine.gain(theirs, split="test").n == 2
    with pytest.raises(ValueError, match="shares no question"):
        mine.gain(theirs, split="dev")
    with pytest.raises(ValueError, match=r"over must measure recall@5, and 't' measures right"):
        mine.gain(made({"q1": 1.0}, measure="right"))


def test_an_interval_of_nothing_is_an_error() -> None:
    score = made({"q1": 1.0})
    assert score.interval(split="test").mean == 1.0
    with pytest.raises(ValueError, match="no question of class 'theme' and split None"):
        score.interval("theme")


def test_a_technique_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="name and chapter"):
        Technique(" ", "x", lambda stage: by_text(lambda query, k: []))
    with pytest.raises(ValueError, match="name one twice"):
        Technique("t", "x", lambda stage: by_text(lambda query, k: []), ("hand", "hand"))
    with pytest.raises(ValueError, match="judge and measure together"):
        Technique("t", "x", lambda stage: by_text(lambda query, k: []), measure="right")


# --- keeping ---


def test_what_was_measured_is_read_and_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "folder", lambda: tmp_path / "made when needed")
    first = scoreboard.measure("BM25")
    monkeypatch.setattr(measuring, "run", lambda *arguments: pytest.fail("measured again"))
    assert scoreboard.measure("BM25") == first
    (path,) = keeping.folder().iterdir()
    assert keeping.kept("BM-25", "") is None, "a name that reads alike is another one"
    path.write_text(path.read_text()[:-5])
    assert keeping.kept("BM25", "") is None, "half a file is no score"
    path.write_text(json.dumps({"technique": "BM25"}))
    assert keeping.kept("BM25", "") is None


def test_another_state_of_the_package_has_another_folder(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("K = 5\n")
    (tmp_path / "__pycache__").mkdir()
    before = keeping.fingerprint.__wrapped__(tmp_path)
    (tmp_path / "__pycache__" / "code.pyc").write_text("x")
    assert keeping.fingerprint.__wrapped__(tmp_path) == before
    (tmp_path / "code.py").write_text("K = 6\n")
    changed = keeping.fingerprint.__wrapped__(tmp_path)
    (tmp_path / "code.py").rename(tmp_path / "more.py")
    assert len({before, changed, keeping.fingerprint.__wrapped__(tmp_path)}) == 3


# --- every entry ---


# Corrective RAG throws away what its grader doubts, which may be everything; on most questions it is not.
DOUBTS = {"CRAG, sample"}


@pytest.mark.parametrize("name", scoreboard.techniques())
def test_every_technique_works_on_a_question_of_each_class_it_is_asked(name: str, world: World) -> None:
    technique = scoreboard.techniques()[name]
    pages = yaml.safe_load((ROOT / "_toc.yml").read_text())
    known = {entry["file"] for part in pages["parts"] for entry in part["chapters"]}
    assert technique.chapter in known
    asked = technique.asked(world)
    assert len({question.id for question in asked}) == len(asked) >= 10
    some = {question.cls: question for question in asked}.values()
    for answerer in technique.answerers or ("",):
        stage = Stage(world, answerer)
        find = technique.make(stage)
        assert {recording.task for recording in stage.recordings} <= set(TASKS)
        assert bool(technique.answerers) == bool(stage.meters), "who answers is asked something"
        assert bool(technique.indexed) == (len(stage.recordings) > len(stage.meters))
        empty = 0
        for question in some:
            found = find(question)
            if technique.judge:
                assert isinstance(found, str)
                assert 0.0 <= technique.judge(question, found) <= 1.0
            else:
                assert not isinstance(found, str)
                ids = [hit.id for hit in found]
                assert len(ids) == len(set(ids)) <= K
                assert ids or answerer == "135M" or name in DOUBTS, "only a reply that cannot be read may find nothing"
                empty += not ids
        assert empty <= len(some) // 2 or answerer == "135M", (
            "a technique that finds nothing on most questions does not work"
        )


def test_rows_say_who_answered_and_what_was_gained() -> None:
    text = repr(scoreboard.rows("06-hyde", ["vocabulary_gap"]))
    lines = [line for line in text.splitlines() if "vocabulary gap" in line]
    assert [line.split()[:2] for line in lines] == [
        ["HyDE", "hand"], ["HyDE", "135M"], ["Query2doc", "hand"], ["Query2doc", "135M"],
    ]  # fmt: skip
    gain = scoreboard.measure("HyDE", "hand").gain(scoreboard.measure("hybrid"), "vocabulary_gap")
    assert f"{gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]" in lines[0]
    assert "replayed from a record of 20" in text


@pytest.mark.parametrize("chapter", sorted({technique.chapter for technique in scoreboard.techniques().values()}))
def test_a_chapter_shows_its_rows(chapter: str) -> None:
    text = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
    assert "\n## On the scoreboard\n" in text
    assert f'scoreboard.rows("{chapter}"' in text
