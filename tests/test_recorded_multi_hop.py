"""The recorded loops on multi-hop questions: prompts follow the answers, searches are written down, hops take turns."""

from ragkit.base import Hit
from ragkit.corpus import load
from ragkit.loops.iterative import next_question_prompt
from ragkit.models import Recording, StandIn
from ragkit.recorded import multi_hop as course

QUESTION = next(q for q in course.hops() if q.id == "multi_hop-05")


def test_every_hand_run_has_come_to_its_end() -> None:
    for task, loop in course.LOOPS.items():
        for question in course.asked():
            assert course.branch(loop, task, question, "hand")[1], f"{task} {question.id} waits for an answer"


def test_every_search_of_a_hand_run_is_written_down() -> None:
    for task, loop in course.LOOPS.items():
        for question in course.hops()[::4]:
            queries = [step.text for step in loop(question, Recording(task)).trace if step.action == "retrieve"]
            assert queries
            assert set(queries) <= set(course.stored())


def test_what_is_written_down_are_passages_of_the_index_each_once() -> None:
    known = {passage.id for passage in load().index}
    assert course.stored()
    for ids in course.stored().values():
        assert len(ids) == len(set(ids)) == course.K
        assert set(ids) <= known


def test_the_first_prompt_knows_nothing_and_the_third_holds_the_first_answer() -> None:
    prompts, ended = course.branch(course.decomposed, "iterative", QUESTION, "hand")
    assert ended
    assert prompts[0] == next_question_prompt(QUESTION.text, ())
    answer = Recording("iterative")(prompts[1])
    assert "(nothing)" in prompts[0]
    assert answer in prompts[2]


def test_a_run_without_answers_waits_with_its_first_prompt() -> None:
    prompts, ended = course.branch(course.decomposed, "iterative", QUESTION, "hosted")
    assert (prompts, ended) == ([next_question_prompt(QUESTION.text, ())], False)


def test_items_name_question_answerer_and_call() -> None:
    items = [item for item, _ in course.prompts("ircot", ("hand",))]
    assert len(items) == len(set(items))
    assert items[0] == "multi_hop-01/hand/1"
    assert all(item.split("/")[1] == "hand" for item in items)


def test_the_searches_of_a_loop_take_turns() -> None:
    result = course.decomposed(QUESTION, Recording("iterative"))
    first, second, *_ = course.rounds(result)
    taken = course.in_turn(result, 2)
    assert [hit.id for hit in taken] == [first[0].id, next(h.id for h in second if h.id != first[0].id)]


def test_a_hit_shows_the_title_and_the_text() -> None:
    hit = course.search(next(iter(course.stored())), 1)[0]
    passage = next(p for p in load().index if p.id == hit.id)
    assert hit == Hit(passage.id, passage.full_text, 1.0)


def test_the_sample_is_of_the_test_half_and_the_controls_need_no_second_hop() -> None:
    assert len(course.sample()) == course.SAMPLE
    assert {q.split for q in course.sample()} == {"test"}
    assert {q.cls for q in course.controls()} == set(course.CONTROLS)
    assert all(not q.chain for q in course.controls())


def test_a_loop_ends_whatever_the_model_says() -> None:
    for loop in course.LOOPS.values():
        assert loop(QUESTION, StandIn(lambda prompt: "Which one?")).stopped in {"repeat", "done", "bound"}
