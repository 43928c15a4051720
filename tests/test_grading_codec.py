"""What crosses between the judge and the student's process arrives as it was, and changes are seen on both sides."""

from __future__ import annotations

import itertools
import json
import math
import os
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.running.caps import MAX_DEPTH, MAX_HEX, TooMuchError, check_parts
from grading.running.channel import Channel
from grading.running.clock import Clock
from grading.running.codec import Heap
from grading.running.descriptions import NO_DATA
from grading.running.explaining import Explainer
from grading.running.plan import Limits, PlanCell
from grading.running.session import Session
from grading.running.standins import Class, Function, Instance
from grading.running.stops import StudentStopped
from grading.sandbox import Sandbox


class Pair:
    """Two heaps that talk JSON, without a process between them."""

    def __init__(self) -> None:
        self.judge = Heap(0, lambda about: ("theirs", about["number"]), lambda value: {"kind": "far"})
        self.student = Heap(1, lambda about: ("ours", about["number"]), lambda value: {"kind": "object"})

    def send(self, value: Any, back: bool = False) -> Any:
        here, there = (self.student, self.judge) if back else (self.judge, self.student)
        wire = here.pack(value)
        wire, updates = json.loads(json.dumps([wire, here.updates()]))
        there.apply(updates)
        return there.unpack(wire)

    def sync(self, back: bool = False) -> None:
        self.send(None, back)


ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=9)
    | st.complex_numbers(allow_nan=False)
)
KEYS = ATOMS | st.tuples(ATOMS, ATOMS) | st.frozensets(ATOMS, max_size=3)
VALUES = st.recursive(
    KEYS | st.sets(KEYS, max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal with equal types all the way down (1 is not True, nor 1.0)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return bool(a == b)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_plain_data_arrives_as_it_was(value: Any):
    pair = Pair()
    arrived = pair.send(value)
    assert same(arrived, value)
    assert same(pair.send(arrived, back=True), value)


def test_numbers_at_the_edges():
    pair = Pair()
    for value in (10**5000, -(1 << 62), (1 << 62), -0.0, math.inf, -math.inf, 5e-324):
        arrived = pair.send(value)
        assert same(arrived, value)
        assert math.copysign(1, arrived) == math.copysign(1, value) if isinstance(value, float) else True
    assert math.isnan(pair.send(math.nan))
    assert pair.send(...) is ...
    assert pair.send(range(3, 9, 2)) == range(3, 9, 2)
    assert pair.send("\ud800") == "\ud800"


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int8", "uint64", "bool", "complex128", "<U3", "S2", ">i4"]
)
def test_arrays_and_scalars_of_numpy(dtype: str):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    pair = Pair()
    arrived = pair.send(array)
    assert arrived.dtype == array.dtype
    assert arrived.shape == (2, 3)
    assert np.array_equal(arrived, array)
    scalar = pair.send(array[0, 1])
    assert type(scalar) is type(array[0, 1])
    assert scalar == array[0, 1]
    assert pair.send(np.zeros((0, 4), dtype)).shape == (0, 4)
    assert pair.send(array.T).tolist() == array.T.tolist()


def test_objects_in_an_array_travel_one_by_one():
    arrived = Pair().send(np.array([1, "a", None], dtype=object))
    assert arrived.dtype == object
    assert arrived.tolist() == [1, "a", None]


def test_a_buffer_of_addresses_is_refused():
    pair = Pair()
    with pytest.raises(ValueError, match="object arrays"):
        pair.student.apply([[2, "a", "|O", [1], "AAAAAAAAAAA=", True]])


def test_identity_and_cycles_survive():
    pair = Pair()
    inner: list[Any] = [1]
    value: list[Any] = [inner, inner]
    value.append(value)
    arrived = pair.send(value)
    assert arrived[0] is arrived[1]
    assert arrived[2] is arrived
    assert pair.send(arrived, back=True) is value
    assert pair.send(arrived[0], back=True) is inner


def test_changes_are_seen_on_the_other_side():
    pair = Pair()
    value = {"a": [1, 2], "s": {1}, "v": np.arange(3.0)}
    arrived = pair.send(value)
    arrived["a"].append(3)
    arrived["s"].add(2)
    arrived["v"][0] = 9
    del arrived["v"]
    pair.sync(back=True)
    assert value == {"a": [1, 2, 3], "s": {1, 2}}
    value["a"].clear()
    pair.sync()
    assert arrived["a"] == []


def test_array_changed_in_place_is_changed_in_place():
    pair = Pair()
    mine = np.zeros(3)
    other = mine
    theirs = pair.send(mine)
    theirs += 1
    pair.sync(back=True)
    assert other.tolist() == [1, 1, 1]


def test_view_of_an_argument_comes_back_as_one():
    pair = Pair()
    mine = np.arange(6.0).reshape(2, 3)
    theirs = pair.send(mine)
    for view in (theirs[1], theirs[:, 1], theirs[:, ::-1], theirs.T):
        back = pair.send(view, back=True)
        assert back.tolist() == view.tolist()
        assert np.shares_memory(back, mine)
    copied = pair.send(theirs.copy(), back=True)
    assert not np.shares_memory(copied, mine)


def test_read_only_arrays_stay_read_only():
    mine = np.zeros(2)
    mine.flags.writeable = False
    assert not Pair().send(mine).flags.writeable


def test_subclasses_arrive_as_their_base_and_their_methods_are_not_called():
    class Same(list):
        def __eq__(self, other: object) -> bool:
            return True

        def __iter__(self) -> Any:
            return iter("forged")

        __hash__ = None  # type: ignore[assignment]

    arrived = Pair().send(Same([1, 2]), back=True)
    assert type(arrived) is list
    assert arrived == [1, 2]
    assert arrived != [3]


def test_things_that_are_no_data_are_handles_of_one_identity():
    pair = Pair()
    thing = object()
    assert pair.send(thing) is pair.send(thing)
    assert pair.send(pair.send(thing), back=True) is thing
    assert pair.send(float) is float


def test_objects_nobody_holds_are_forgotten():
    pair = Pair()
    kept = [1]
    pair.send([kept, [2], {"a": []}])
    dropped = pair.judge.prune()
    assert len(dropped) == 4
    assert list(pair.judge.objects.values()) == [kept]


@pytest.mark.parametrize("wire", [{"r": 99}, {"own": 1}, {"?": 0}, {"y": "print"}, {"y": "nothing"}, {"a": 1, "b": 2}])
def test_forged_wire_forms_are_errors(wire: Any):
    with pytest.raises((KeyError, ValueError, AttributeError)):
        Pair().judge.unpack(wire)


# What is too much, or nothing that an honest process sends


@pytest.mark.parametrize(
    "wire",
    [
        {"i": "f" * (MAX_HEX + 1)},
        {"g": [0, 1 << 40, 1]},
        {"g": [1 << 60, 0, -1]},
        {"n": ["<U99999999", ""]},
        json.loads('{"t": [' * (MAX_DEPTH + 2) + "]}" * (MAX_DEPTH + 2)),
    ],
)
def test_small_form_of_something_large_is_refused(wire: Any):
    with pytest.raises(ValueError, match=r"more|deep|plain"):
        Pair().judge.unpack(wire)


def test_ordinary_large_things_are_taken():
    pair = Pair()
    assert pair.send(range(0, 10**30, 10**29)) == range(0, 10**30, 10**29)
    deep: Any = ()
    for _ in range(MAX_DEPTH // 2):
        deep = (deep,)
    assert pair.send(deep) == deep
    assert len(pair.send(list(range(100_000)))) == 100_000
    assert pair.send(np.zeros(1 << 16)).shape == (1 << 16,)


@pytest.mark.parametrize(
    "update",
    [
        [3, "a", "<f8", [1 << 31], "", True],
        [3, "a", "<f8", [1 << 20, 1 << 20], "", True],
        [3, "a", "<f8", [3], "AAAAAAAAAAA=", True],
        [3, "a", "<f8", [-1], "", True],
        [3, "a", "<f8", [True], "AAAAAAAAAAA=", True],
        [3, "a", "<f8", [1] * 40, "AAAAAAAAAAA=", True],
        [3, "a", "<f8", 1, "AAAAAAAAAAA=", True],
        [3, "a", "<U0", [1 << 40], "", True],
        [3, "a", "(1000000000,)<f8", [1], "", True],
        [3, "a", "f8,f8", [1], "", True],
        [3, "a", "|V8", [1], "AAAAAAAAAAA=", True],
        [3, "o", [1 << 31], []],
        [3, "o", [2], [1]],
        [3, "v", 99, [0], 0, "<f8", [1 << 31], "", True],
        [3, "x", []],
        [3, "l", {"0": 1}],
        [3, "l", "abc"],
        [3, "d", [1]],
        [3, "d", [[1, 2, 3]]],
        [3, "s", [{"r": 3}]],
        [3, "l", [[1]]],
        [3, "l", [{"t": "ab"}]],
        [4, "l", []],
        [0, "l", []],
        [-1, "l", []],
        [3.0, "l", []],
        ["3", "l", []],
        [3],
        [],
        3,
    ],
)
def test_forged_updates_are_errors(update: Any):
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        Pair().judge.apply([update])


def test_view_of_a_known_array_cannot_claim_more_than_was_sent():
    pair = Pair()
    mine = np.arange(4.0)
    pair.send(mine)
    number = pair.judge.numbers[id(mine)]
    with pytest.raises(ValueError, match="shape"):
        pair.judge.apply([[3, "v", number, [0], 0, "<f8", [1 << 24], "", True]])
    pair.judge.apply([[5, "v", number, [8], 8 * 1000, "<f8", [1], "AAAAAAAAAAA=", True]])
    assert pair.judge.objects[5].tolist() == [0.0]  # outside of it: a copy of what was sent


@pytest.mark.parametrize("kind", [["d", []], ["s", []], ["a", "<f8", [0], "", True], ["o", [0], []]])
def test_shared_object_keeps_its_kind(kind: list[Any]):
    pair = Pair()
    mine = [1, 2]
    pair.send(mine)
    number = pair.judge.numbers[id(mine)]
    with pytest.raises(ValueError, match="kind"):
        pair.judge.apply([[number, *kind]])
    assert mine == [1, 2]


def test_more_objects_than_a_test_can_take_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("grading.running.codec.MAX_OBJECTS", 10)
    with pytest.raises(TooMuchError):
        Pair().judge.apply([[2 * n + 3, "l", []] for n in range(11)])
    monkeypatch.setattr("grading.running.codec.MAX_HANDLES", 3)
    judge = Pair().judge
    with pytest.raises(TooMuchError):
        judge.unpack({"t": [{"h": {"number": 2 * n + 3}} for n in range(4)]})


def test_message_of_very_many_parts_is_refused_and_a_long_text_is_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("grading.running.caps.MAX_PARTS", 100)
    check_parts(json.dumps({"value": ",[{" * 500, "more": 'a"' * 500 + "\\"}).encode())
    with pytest.raises(TooMuchError):
        check_parts(json.dumps([[]] * 101).encode())


# Anything at all from the student's process

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats()
    | st.sampled_from(["", "3", "l", "<f8", "AAAA", "int"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*"rtfigbcenyh", "own", "number", "kind", "name", "methods", "parameters", "family"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
WIRES = JSON | st.builds(lambda key, body: {key: body}, st.sampled_from([*"rtfigbceny", "own", "h"]), JSON)
UPDATES = st.lists(
    st.builds(
        lambda number, kind, body: [number, kind, *body],
        st.sampled_from([3, 5, 7]) | JSON,
        st.sampled_from(["l", "d", "s", "a", "o", "v"]) | JSON,
        st.lists(WIRES, max_size=6),
    )
    | JSON,
    max_size=3,
)
OBJECTS = st.just([]) | UPDATES
RAISED = JSON | st.fixed_dictionaries({"family": st.lists(st.text(max_size=9)) | JSON, "argument": JSON})
BEGINNINGS = st.fixed_dictionaries({"objects": OBJECTS, "names": st.dictionaries(st.sampled_from(["f", "abs"]), WIRES)})
RESULTS = st.fixed_dictionaries({"objects": OBJECTS, "value": WIRES})
ERRORS = st.fixed_dictionaries({"objects": OBJECTS, "raised": RAISED})
ENDS = st.fixed_dictionaries({"ended": JSON, "n": st.sampled_from([1, 2])})
ANSWERS = BEGINNINGS | RESULTS | ERRORS | ENDS | st.dictionaries(st.sampled_from(["objects", "names", "value"]), JSON)


class Scripted:
    """A student's process that says what it is told to, an answer a request."""

    why = ""

    def __init__(self, answers: Sequence[Any]) -> None:
        self.connection, self.other = socket.socketpair()
        self.process = os.getpid()
        self.answers = list(answers)

    def spawn(self, files: Sequence[str]) -> Scripted:
        return self

    def kill(self, student: object) -> None:
        self.other.close()

    def answer(self, number: int) -> None:
        if not self.answers:
            self.other.close()
            return
        answer = self.answers.pop(0)
        if isinstance(answer, dict):
            answer = {"n": number, **answer}
        data = json.dumps(answer).encode()
        self.other.sendall(len(data).to_bytes(4, "big") + data)


class Answered(Channel):
    """A channel whose other end answers at once, in the same thread."""

    student: Scripted

    def _send(self, message: dict[str, Any]) -> None:
        super()._send(message)
        self.student.answer(self.number)


FUNCTION = {"h": {"number": 3, "kind": "function", "name": "f"}}


def scripted(answers: Sequence[Any]) -> Session:
    student = Scripted(answers)
    session = Session(student, Limits(cell_seconds=2, test_seconds=2, total_seconds=4))
    session.student = student
    session.channel = Answered(student.connection, session.clock, student.process, 1 << 20)
    session.channel.student = student
    return session


def use(found: Any) -> None:
    """What a test might do with what it got."""
    if callable(found):
        found = found(1, [2])
    if isinstance(found, Instance):
        str(found)
        _ = found == [1, 2], found == 3
        len(found)
        list(itertools.islice(found, 3))


@settings(max_examples=400, deadline=None)
@given(st.booleans(), st.lists(ANSWERS | JSON, min_size=1, max_size=4))
def test_whatever_the_process_says_a_test_ends_in_an_exception_of_its_own_kind(honest: bool, answers: list[Any]):
    session = scripted([{"objects": [], "names": {"f": FUNCTION}}, *answers] if honest else answers)
    raised: BaseException | None = None
    found: dict[str, Any] = {}
    try:
        found = session.begin_test(["f"])
        use(found.get("f"))
    except (Exception, StudentStopped) as problem:
        raised = problem
    known = raised is None or isinstance(raised, StudentStopped) or "student_error" in raised.__dict__
    assert known or str(raised) == NO_DATA, repr(raised)
    assert found.keys() <= {"f"}
    session.end_test()
    assert session.stopped is None or session.stopped.status in ("crash", "timeout", "suspicious")
    session.close()


@settings(max_examples=200, deadline=None)
@given(JSON | st.dictionaries(st.sampled_from(["done", "error", "printed", "n"]), JSON))
def test_whatever_the_process_says_of_a_cell_is_taken(answer: Any):
    session = scripted([answer])
    ran = session.run_cell("cell", "x")
    error = Explainer([PlanCell("answer", "cell", "x")], []).of_cell(
        PlanCell("answer", "cell", "x"), ran.get("error"), session.lost.get("cell")
    )
    assert error is None or isinstance(error.text, str)
    assert "cell" in session.lost or "done" in ran
    session.close()


def test_second_answer_is_noticed_at_once():
    session = scripted([])
    data = json.dumps({"n": 1, "done": True}).encode()
    frame = len(data).to_bytes(4, "big") + data
    session.channel.student.answer = lambda number: session.channel.student.other.sendall(frame * 2)
    session.run_cell("cell", "x")
    assert session.lost["cell"].status == "suspicious"
    session.close()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_whatever_bytes_arrive_are_no_answer(data: bytes):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        channel = Channel(ours, Clock(Limits()), os.getpid(), 1 << 20)
        with pytest.raises(StudentStopped):
            channel.exchange({"op": "call"})
        with pytest.raises(StudentStopped):
            channel.check_quiet()


def test_length_beyond_the_limit_is_refused_before_anything_of_it_is_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall((1 << 30).to_bytes(4, "big") + b"x" * 100)
        channel = Channel(ours, Clock(Limits()), os.getpid(), 1 << 20)
        with pytest.raises(StudentStopped, match="more data than a test can take"):
            channel.exchange({"op": "call"})
        assert len(channel.arrived) < 200


def test_report_of_any_shape_becomes_an_error_of_a_cell():
    deep = json.loads("[" * 900 + "]" * 900)
    cell = PlanCell("answer", "total", "x")
    for report in (
        {"type": deep, "text": deep, "family": [deep], "lines": [{"cell": deep, "line": deep}]},
        {"type": 3},
    ):
        error = Explainer([cell], ["total"]).of_cell(cell, report, None)
        assert error is not None
        assert (error.type, error.text, error.lines) == ("", "", ())
    named = Explainer([cell], []).of_cell(cell, {"type": "timeout", "family": ["Exception"]}, None)
    assert named is not None
    assert named.type == "an exception timeout"  # a class may have any name, and this one has a meaning here


# Across a process


LIMITS = Limits(test_seconds=10, total_seconds=60)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(("numpy",), LIMITS) as sandbox:
        yield sandbox


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[Session]:
    session = Session(sandbox, LIMITS, names=("Counter",))
    yield session
    session.close()


SOURCE = """
class Counter:
    kind = "counter"
    def __init__(self, start=0):
        self.n = start
    def add(self, by=1, *, twice=False):
        self.n += by * (2 if twice else 1)
        return self.n
    def __len__(self):
        return self.n
    def __contains__(self, item):
        return item == self.n
    def __getitem__(self, key):
        if key > 2:
            raise IndexError(key)
        return key * self.n
class Mine(ValueError):
    pass
def function(a, b=2, *, c=3):
    "Words."
    return [a, b, c]
def fails(kind):
    raise {"mine": Mine("m"), "key": KeyError("k"), "unicode": UnicodeDecodeError("utf-8", b"x", 0, 1, "r")}[kind]
def same(x):
    return x
def generate(n):
    yield from range(n)
value = {(1, 2): {3}}
"""


def test_stand_ins_behave_like_what_they_stand_for(session: Session):
    session.run_cell("cell", SOURCE)
    names = session.begin_test(["Counter", "function", "fails", "same", "generate", "value", "missing"])
    assert "missing" not in names
    assert names["value"] == {(1, 2): {3}}
    function, made = names["function"], names["Counter"](4)
    assert isinstance(function, Function)
    assert isinstance(names["Counter"], Class)
    assert (function.__name__, function.__doc__) == ("function", "Words.")
    assert str(__import__("inspect").signature(function)) == "(a, b=Ellipsis, *, c=Ellipsis)"
    assert function(1, c=[5]) == [1, 2, [5]]
    assert isinstance(made, Instance)
    assert isinstance(made, names["Counter"])
    assert not isinstance(3, names["Counter"])
    assert made.add(2, twice=True) == 8
    assert (made.n, len(made), 8 in made, made[2], made.kind) == (8, 8, True, 16, "counter")
    made.n = 1
    assert made.add() == 2
    assert list(names["generate"](3)) == [0, 1, 2]
    assert names["same"](made) is made
    mine = object()
    assert names["same"](mine) is mine
    assert made != 8
    with pytest.raises(AttributeError):
        made.nothing()
    with pytest.raises(ValueError, match="m") as caught:
        names["fails"]("mine")
    assert type(caught.value) is ValueError
    with pytest.raises(KeyError, match="k"):
        names["fails"]("key")
    with pytest.raises(ValueError, match="codec"):
        names["fails"]("unicode")
    session.end_test()


def test_what_a_student_keeps_sees_later_changes(session: Session):
    session.run_cell("cell", "kept = []\ndef keep(x):\n    kept.append(x)\ndef show():\n    return kept")
    names = session.begin_test(["keep", "show"])
    mine, vector = [1], np.zeros(2)
    names["keep"](mine)
    names["keep"](vector)
    mine.append(2)
    vector[:] = 7
    shown = names["show"]()
    assert shown[0] is mine
    assert shown[1].tolist() == [7, 7]
    session.end_test()


def test_many_calls_keep_no_old_arguments(session: Session):
    session.run_cell("cell", "def size(x):\n    return len(x)")
    size = session.begin_test(["size"])["size"]
    for n in range(300):
        assert size([[n]] * 3) == 3
    assert len(session.heap.objects) < 10
    session.end_test()


def test_a_dead_process_is_started_again_with_its_cells(session: Session, tmp_path: Path):
    session.run_cell(
        "cell", "import os\ndef die():\n    os.kill(os.getppid(), 9)\n    os._exit(3)\ndef live():\n    return 1"
    )
    names = session.begin_test(["die"])
    with pytest.raises(StudentStopped):
        names["die"]()
    with pytest.raises(StudentStopped):
        names["die"]()
    session.end_test()
    assert session.begin_test(["live"])["live"]() == 1
    session.end_test()


def test_fork_that_dies_while_it_waits_for_another_test_is_replaced(session: Session):
    dies = "threading.Timer(0.2, os._exit, (3,)).start()"
    session.run_cell(
        "cell", f"import os, threading\ncalls = []\ndef f():\n    calls.append({dies})\n    return len(calls)"
    )
    for _ in range(2):
        assert session.begin_test(["f"], question="f")["f"]() == 1
        session.end_test(more=True)
        assert session.stopped is None
        time.sleep(0.5)


def test_fork_is_left_for_the_same_question_alone(session: Session):
    session.run_cell("cell", "calls = []\ndef f():\n    calls.append(1)\n    return len(calls)")
    seen = []
    for question, more in (
        ("f", True),
        ("f", True),
        ("g", True),
        ("f", False),
        ("f", True),
        (None, True),
        (None, True),
    ):
        seen.append(session.begin_test(["f"], question=question)["f"]())
        session.end_test(more)
    assert seen == [1, 2, 1, 1, 1, 1, 1]
    session.run_cell("other", "calls.append(2)")
    assert session.begin_test(["f"], question=None)["f"]() == 2
