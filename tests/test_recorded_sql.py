"""The prompts and rules of the chapter on SQL: no pair finds itself, errors are typed, a result holds an answer."""

import pytest

from ragkit import corpus
from ragkit.corpus.sql import sql_questions
from ragkit.models import StandIn
from ragkit.recorded import sql as course
from ragkit.recorded.sql import first_prompts, holds, outcome, sample, shown, two_models, written

PAIR = next(pair for pair in sql_questions("test") if pair.id == "sql-02")


def test_no_prompt_shows_the_asked_question_or_its_query_as_an_example() -> None:
    for pair in sql_questions("test"):
        found = course.examples(pair, 3)
        assert len(found) == 3
        assert pair.sql not in [example.sql for example in found]
        assert pair.text not in [example.question for example in found]
        assert all(example.sql in [dev.sql for dev in sql_questions("dev")] for example in found)


def test_items_name_the_pair_and_the_number_of_examples() -> None:
    items = [item for item, _ in first_prompts("gold", (0, 3), only_sample=True)]
    assert len(items) == len(set(items)) == 2 * course.SAMPLE
    assert items[0] == "sql-02/0"


def test_the_gold_schema_shows_the_tables_of_the_gold_query_alone() -> None:
    assert shown(PAIR, "gold").count("CREATE TABLE") == 1
    assert shown(PAIR, "all").count("CREATE TABLE") == 9
    with pytest.raises(ValueError, match="tables must be"):
        shown(PAIR, "some")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (PAIR.sql, "right"),
        ("SELECT name FROM stores WHERE name = 'Linden Park'", "wrong result"),
        ("SELECT city FROM stores", "unknown name"),
        ("SELECT town FROM shops", "unknown name"),
        ("SELECT town FROM stores WHERE (name", "syntax"),
        ("It is in Pellmoor.", "no SELECT"),
        ("DELETE FROM stores", "no SELECT"),
        ("SELECT zeroblob(900000000)", "other error"),
    ],
)
def test_failures_are_typed_by_the_words_of_the_database(reply: str, kind: str) -> None:
    assert outcome(PAIR, written(PAIR, "gold", 0, StandIn(lambda prompt: reply), attempts=1)) == kind


def test_repairs_go_to_the_second_model() -> None:
    model = two_models(StandIn(lambda prompt: "SELECT city FROM stores"), StandIn(lambda prompt: PAIR.sql))
    answer = written(PAIR, "gold", 0, model)
    assert [attempt.error for attempt in answer.attempts] == ["no such column: city", ""]
    assert outcome(PAIR, answer) == "right"


def test_a_result_holds_an_answer_with_all_its_numbers_and_names_and_no_other_store() -> None:
    asked = {question.id: question for question in corpus.load().questions}
    three = asked["relational-01"]  # Riverside, Castle Gate and Linden Park
    assert holds(three, "name\nCastle Gate\nRiverside\nLinden Park")
    assert not holds(three, "name\nCastle Gate\nRiverside")
    assert not holds(three, "name\nCastle Gate\nRiverside\nLinden Park\nTollgate")
    post = asked["table_form-05"]  # 29 Oct, by post: the month is a figure in the database
    assert holds(post, "finished | carrier\n2024-10-29 | post")
    assert not holds(post, "")
    lamp = asked["table_form-04"]  # 25 June, one of many rows
    assert not holds(lamp, "held_until\n" + "2024-06-25\n" * 13)


def test_the_sample_is_the_first_pairs_of_the_test_half() -> None:
    assert sample() == sql_questions("test")[: course.SAMPLE]
