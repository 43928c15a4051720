"""DRIFT: folds, replies of every kind, rounds and their bounds, a deterministic order, and the last call."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.graph.drift import (
    DriftAnswer,
    Step,
    drift,
    local_prompt,
    pack,
    primer_prompt,
    read_step,
    reduce_prompt,
    split_folds,
)
from ragkit.graph.drift_primer import expanded_question, primer_reports
from ragkit.graph.global_search import NO_ANSWER, nearest_reports
from ragkit.graph.reports import Report
from ragkit.text import count_tokens

REPORTS = [Report(i, 0, f"t{i}", f"s{i}", 1.0, f"report {i}") for i in range(5)]
QUESTION = "Why do the kettles come back?"


def reply(answer, score, *follow_ups):
    return json.dumps({"intermediate_answer": answer, "score": score, "follow_up_queries": list(follow_ups)})


class Script:
    """A model that answers by kind of prompt: a primer fold, a narrower question, or the reduction."""

    def __init__(self, primer, local, final="FINAL"):
        self.primer, self.local, self.final = list(primer), local, final
        self.prompts, self.asked = [], []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if prompt.startswith("Below are reports"):
            return self.primer.pop(0)
        if prompt.startswith("Answer the narrower"):
            query = prompt.split("Narrower question: ")[1].split("\n")[0]
            self.asked.append(query)
            return self.local(query)
        return self.final


def notes(query):
    return f"notes on {query}"


def never(prompt):
    pytest.fail("the model was called")


def test_a_run_worked_by_hand():
    local = {
        "Which lids?": reply("The red ones", 90, "Since when?", "which  LIDS?"),
        "Which shops?": reply("Riverside", 40),
        "Since when?": reply("2023", 70),
    }
    llm = Script([reply("Lids", 20, "Which lids?", "Which shops?"), reply("Shops", 50, "Which lids?")], local.get)
    found = drift(QUESTION, REPORTS, notes, llm, folds=2)
    assert [(s.round, s.query, s.answer, s.score) for s in found.steps] == [
        (0, QUESTION, "Lids", 20.0),
        (0, QUESTION, "Shops", 50.0),
        (1, "Which lids?", "The red ones", 90.0),
        (1, "Which shops?", "Riverside", 40.0),
        (2, "Since when?", "2023", 70.0),
    ]
    assert llm.asked == ["Which lids?", "Which shops?", "Since when?"]  # each once, whatever its case and spacing
    assert llm.prompts[0] == primer_prompt(QUESTION, ["report 0", "report 1"])
    assert llm.prompts[1] == primer_prompt(QUESTION, ["report 2", "report 3", "report 4"])
    assert llm.prompts[2] == local_prompt(QUESTION, "Which lids?", "notes on Which lids?")
    assert llm.prompts[-1] == reduce_prompt(QUESTION, ["The red ones", "2023", "Shops", "Riverside", "Lids"])
    assert (found.answer, found.calls, found.unanswered) == ("FINAL", 6, ())
    assert found.calls == len(llm.prompts)


def test_without_a_scorer_the_order_is_that_of_asking_and_never_shuffled():
    questions = [f"q{i}?" for i in range(30)]
    for seed in range(5):
        random.seed(seed)
        llm = Script([reply("a", 1, *questions)], lambda query: reply(query, 1))
        found = drift(QUESTION, REPORTS, notes, llm, folds=1, depth=1)
        assert llm.asked == questions[:20]  # at most 20 a round
        assert found.unanswered == tuple(questions[20:])


def test_what_a_round_leaves_open_comes_before_what_it_asked():
    llm = Script([reply("a", 1, "q1", "q2", "q3")], lambda query: reply(query, 1, query + "+"))
    found = drift(QUESTION, REPORTS, notes, llm, folds=1, depth=2, per_round=2)
    assert llm.asked == ["q1", "q2", "q3", "q1+"]
    assert found.unanswered == ("q2+", "q3+", "q1++")


def test_a_scorer_ranks_the_open_questions_and_ties_keep_the_order_of_asking():
    llm = Script([reply("a", 1, "low", "top", "tie one", "tie two")], lambda query: reply(query, 1))
    scores = {"low": 0.1, "top": 0.9, "tie one": 0.5, "tie two": 0.5}
    drift(QUESTION, REPORTS, notes, llm, folds=1, scorer=scores.__getitem__)
    assert llm.asked == ["top", "tie one", "tie two", "low"]


@given(st.integers(1, 6), st.integers(0, 3), st.integers(1, 4), st.integers(0, 9))
@settings(max_examples=50, deadline=None)
def test_the_calls_are_bounded_even_by_a_model_that_never_stops_asking(folds, depth, per_round, n_reports):
    count = iter(range(10_000))

    def llm(prompt):
        return reply("a", 50, *(f"question {next(count)}?" for _ in range(7)))

    reports = (REPORTS * 2)[:n_reports]
    found = drift(QUESTION, reports, notes, llm, folds=folds, depth=depth, per_round=per_round)
    assert found.calls <= folds + depth * per_round + 1
    assert max((step.round for step in found.steps), default=0) <= depth
    for number in range(1, depth + 1):
        assert sum(step.round == number for step in found.steps) <= per_round


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (reply("Red", 80, "Why?", "why not?"), ("Red", 80.0, ("Why?", "why not?"), True)),
        ("```json\n" + reply("Red", "85.5", "Why?") + "\n```", ("Red", 85.5, ("Why?",), True)),
        ("Sure: " + reply("Red", "8/10") + " Done.", ("Red", 80.0, (), True)),
        ('{"response": "Red", "score": "high", "follow_up_queries": "Why?"}', ("Red", None, ("Why?",), True)),
        ('{"follow_up_queries": ["Why?", "Why?", 7, " ", null]}', ("", None, ("Why?",), True)),
        ('{"intermediate_answer": null, "score": 130, "follow_up_queries": null}', ("", 100.0, (), True)),
        ("It is red.", ("It is red.", None, (), False)),
        ('{"intermediate_answer": "Red", "sco', ('{"intermediate_answer": "Red", "sco', None, (), False)),
        ('{"other": 1}', ('{"other": 1}', None, (), False)),
        ("", ("", None, (), False)),
        (reply("Красный", 5, "やかん?"), ("Красный", 5.0, ("やかん?",), True)),
    ],
)
def test_replies_as_models_write_them(text, step):
    found = read_step(text, 1, "q")
    assert (found.answer, found.score, found.follow_ups, found.readable) == step


def test_replies_that_are_no_json_still_inform_and_stop_nothing():
    llm = Script(["Lids leak."] * 5, never)
    found = drift(QUESTION, REPORTS, notes, llm)
    assert found.answer == "FINAL"
    assert not any(step.readable for step in found.steps)
    assert llm.prompts[-1] == reduce_prompt(QUESTION, ["Lids leak."] * 5)


def test_a_question_without_notes_costs_no_call():
    llm = Script([reply("Lids", 20, "unknown?", "known?")], lambda query: reply("yes", 50))
    found = drift(QUESTION, REPORTS, lambda query: "" if query == "unknown?" else "x", llm, folds=1)
    assert found.steps[1] == Step(1, "unknown?", "")
    assert llm.asked == ["known?"]
    assert found.calls == 3


def test_without_reports_the_question_itself_is_looked_up():
    llm = Script([], lambda query: reply("here", 60))
    found = drift(QUESTION, [], notes, llm)
    assert llm.asked == [QUESTION]
    assert [step.round for step in found.steps] == [1]


def test_nothing_to_answer_from_gives_the_canned_answer_without_a_last_call():
    assert drift(" ", REPORTS, notes, never) == DriftAnswer(NO_ANSWER)
    assert drift(QUESTION, [], lambda query: "", never) == DriftAnswer(NO_ANSWER, (Step(1, QUESTION, ""),))
    empty = drift(QUESTION, REPORTS, notes, lambda prompt: reply("", 0), folds=2)
    assert (empty.answer, empty.calls) == (NO_ANSWER, 2)


def test_folds_are_consecutive_nearly_equal_and_never_empty():
    for n in range(12):
        for k in range(1, 8):
            parts = split_folds(list(range(n)), k)
            assert [x for part in parts for x in part] == list(range(n))
            assert len(parts) == min(n, k)
            assert not parts or max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_last_prompt_takes_the_best_answers_within_its_budget_separators_counted():
    steps = [
        Step(0, "q", "word " * 10, 10.0),
        Step(1, "q", "good", 90.0),
        Step(1, "q", "none"),
        Step(1, "q", "tie", 90.0),
    ]
    assert pack(steps, 1000) == ["good", "tie", "word " * 10, "none"]
    between = count_tokens("\n\n---\n\n")
    assert between > 0
    assert pack(steps, 2 + between) == ["good", "tie"]
    assert pack(steps, 1 + between) == ["good"]
    assert pack([Step(0, "q", "one two three", 1.0), Step(0, "q", "x", 0.0)], 2) == ["one two"]  # cut, not lost
    assert pack([], 10) == []
    assert count_tokens("\n\n---\n\n".join(pack(steps, 12))) <= 12


def test_prompts_survive_braces_and_dollars_and_bad_arguments_are_named():
    nasty = 'What is {x} for $5, "$question"?'
    assert nasty in primer_prompt(nasty, [nasty])
    assert local_prompt(nasty, "q", nasty).count(nasty) == 2
    assert nasty in reduce_prompt(nasty, ["a"])
    for name, value in (("folds", 0), ("depth", -1), ("per_round", 0), ("reduce_budget", 0)):
        with pytest.raises(ValueError, match=f"^{name}"):
            drift(QUESTION, REPORTS, notes, never, **{name: value})


# --- which reports the primer reads


def direction(texts):
    """Toward x for what speaks of lids, toward y for what speaks of staff, between them otherwise."""
    words = [(1.0 * ("lid" in t.lower()), 1.0 * ("staff" in t.lower())) for t in texts]
    rows = np.array([pair if any(pair) else (0.7, 0.7) for pair in words], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


ABOUT = [
    Report(0, 0, "Staff", "Rosters.", 1.0, "Staff: rosters in June."),
    Report(1, 0, "Kettles", "Colours.", 1.0, "Kettles: colours."),
    Report(2, 0, "Lids", "Returns.", 1.0, "Lids: returns in May."),
    Report(3, 0, "Lids again", "Leaks.", 1.0, "Lids: leaks."),
]


def test_the_primer_reads_the_reports_nearest_to_a_made_up_one():
    prompts = []

    def made_up(prompt):
        prompts.append(prompt)
        return "Lids:\n  they leak. "

    asked = "What annoys customers of the staff canteen?"
    assert [r.community for r in nearest_reports(asked, ABOUT, direction, 2)] == [0, 1]  # the question's own vector
    assert [r.community for r in primer_reports(asked, ABOUT, direction, made_up, k=3)] == [2, 3, 1]
    assert expanded_question(asked, ABOUT, made_up) == "Lids: they leak."
    assert len(prompts) == 2
    assert all(prompt == prompts[0] for prompt in prompts)  # one seed, one template
    assert sum(report.text in prompts[0] for report in ABOUT) == 1
    templates = {
        next(r.community for r in ABOUT if r.text in prompt) for seed in range(20) for prompt in [capture(asked, seed)]
    }
    assert len(templates) > 1


def capture(question, seed):
    seen = []
    expanded_question(question, ABOUT, lambda prompt: seen.append(prompt) or "x", seed)
    return seen[0]


def test_a_primer_without_question_reports_or_reply():
    assert primer_reports("  ", ABOUT, direction, never) == []
    assert primer_reports("Which lids?", [], direction, never) == []
    assert primer_reports("Which lids?", ABOUT, direction, never, k=0) == []
    assert expanded_question(" ", ABOUT, never) == " "
    assert expanded_question("Which lids?", [], never) == "Which lids?"
    for reply_ in ("", " \n"):
        found = primer_reports("Which lids?", ABOUT, direction, lambda prompt, r=reply_: r, k=99)
        assert [r.community for r in found] == [2, 3, 1, 0]  # the question stands in
    with pytest.raises(ValueError, match="k must"):
        primer_reports("Which lids?", ABOUT, direction, never, k=-1)


def test_the_chosen_reports_are_what_the_search_begins_with():
    reports = primer_reports("Which lids?", ABOUT, direction, lambda prompt: "Lids leak.", k=2)
    llm = Script([reply("Lids", 20)], lambda query: pytest.fail("nothing was asked"))
    found = drift("Which lids?", reports, notes, llm, folds=1)
    assert llm.prompts[0] == primer_prompt("Which lids?", ["Lids: returns in May.", "Lids: leaks."])
    assert found.answer == "FINAL"
