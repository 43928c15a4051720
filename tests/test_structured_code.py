"""Code chunks and their search: no line lost, names as Python has them; against ast, symtable, inspect and tokenize."""

import ast
import importlib
import inspect
import io
import symtable
import textwrap
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.base import Passage
from ragkit.corpus.code import STYLES, CodeQuestion, load_code_questions, select
from ragkit.metrics import recall_at_k
from ragkit.search import BM25
from ragkit.structured import CodeSearch, code_chunks, code_tokens, package_chunks
from ragkit.structured.code_search import read_source
from ragkit.structured.code_text import comment_columns, source_lines

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = Path(ast.__file__).parent
SHORT = 12  # a small limit, so that ordinary functions are split too

EXAMPLE = '''\
#!/usr/bin/env python
"""What the module is for.

More of it.
"""
from __future__ import annotations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 3  # a constant

# Why this function exists.
@cache
@other(
    1
)
async def fetch(url: str) -> bytes:
    """Get a page."""
    def inner():  # nested
        return "# not a comment"
    return inner()


class Kettle(Base, metaclass=Meta):
    """A kettle."""

    colour: str = "red"

    @property
    def name(self) -> str:
        return self.colour

    @name.setter
    def name(self, value):
        self.colour = value

    size = 1

    class Lid:
        def open(self): ...

try:
    import fast
except ImportError:
    def fast(): return None
else:
    fast.on()
'''


def ids(chunks):
    return [chunk.id for chunk in chunks]


def joined(chunks):
    return "".join(chunk.text for chunk in chunks)


def by_name(chunks, name):
    return [chunk for chunk in chunks if chunk.name == name]


def test_a_file_by_hand():
    chunks = code_chunks(EXAMPLE, "shop")
    assert ids(chunks) == [
        "shop",
        "shop.fetch",
        "shop.Kettle",
        "shop.Kettle.name",
        "shop.Kettle.name#2",
        "shop.Kettle#2",
        "shop.Kettle.Lid",
        "shop.Kettle.Lid.open",
        "shop#2",
        "shop.fast",
        "shop#3",
    ]
    assert [chunk.kind for chunk in chunks[:4]] == ["module", "function", "class", "function"]
    assert joined(chunks) == EXAMPLE


def test_decorators_and_the_comment_above_belong_to_the_def_although_lineno_is_the_def_line():
    node = ast.parse(EXAMPLE).body[5]
    assert EXAMPLE.splitlines()[node.lineno - 1].startswith("async def")  # the slip: text from lineno on
    (fetch,) = by_name(code_chunks(EXAMPLE, "shop"), "shop.fetch")
    assert fetch.text.startswith("# Why this function exists.\n@cache\n@other(\n")
    assert fetch.start == node.lineno - 5


def test_async_functions_are_found():
    assert by_name(code_chunks(EXAMPLE, "shop"), "shop.fetch")[0].context == (
        "# shop\nasync def fetch(url: str) -> bytes:"
    )


def test_docstring_imports_constants_and_type_checking_blocks_stay_as_module_chunks():
    head = code_chunks(EXAMPLE, "shop")[0]
    for part in ('"""What the module', "import annotations", "if TYPE_CHECKING:\n    from collections", "LIMIT = 3"):
        assert part in head.text


def test_ast_walk_would_yield_nested_functions_twice_and_here_each_line_is_once():
    walked = [n.name for n in ast.walk(ast.parse(EXAMPLE)) if isinstance(n, ast.FunctionDef)]
    assert "inner" in walked  # the slip
    assert not by_name(code_chunks(EXAMPLE, "shop"), "shop.fetch.inner")
    assert sum("def inner" in chunk.text for chunk in code_chunks(EXAMPLE, "shop")) == 1


def test_a_method_keeps_its_class_name_and_has_the_class_header_as_context():
    method = by_name(code_chunks(EXAMPLE, "shop"), "shop.Kettle.Lid.open")[0]
    assert method.context.splitlines() == [
        "# shop",
        "class Kettle(Base, metaclass=Meta):",
        "    class Lid:",
        "        def open(self):",
    ]
    assert "A kettle." in method.embedded
    assert "What the module is for." in method.embedded


def test_the_embedded_text_has_no_comment_and_has_the_docstring_and_the_stored_text_both():
    chunks = code_chunks(EXAMPLE, "shop")
    fetch = by_name(chunks, "shop.fetch")[0]
    assert "Why this function" not in fetch.embedded
    assert "# nested" not in fetch.embedded
    assert '"# not a comment"' in fetch.embedded  # what only a tokenizer knows
    assert fetch.embedded.index("Get a page.") < fetch.embedded.index("async def")
    assert "# nested" in fetch.text
    assert "a constant" not in chunks[0].embedded


def long_function(statements=150, nested=0):
    body = [f"    x{i} = [\n        {i},\n    ]\n" for i in range(statements)]
    body += ["    for i in y:\n", *(f"        z{i} = {i}\n" for i in range(nested))] if nested else []
    return '@keep\ndef long(a, b=2):\n    """Do it all.\n\n    Slowly.\n    """\n' + "".join(body)


def test_functions_over_200_lines_are_split_at_statement_boundaries():
    source = long_function(nested=300)
    chunks = code_chunks(source, "m")
    assert ids(chunks) == ["m.long", *(f"m.long#{n}" for n in range(2, len(chunks) + 1))]
    assert all(chunk.end - chunk.start < 200 for chunk in chunks)
    assert joined(chunks) == source
    for chunk in chunks[1:]:
        first = chunk.text.splitlines()[0].strip()
        assert first.startswith(("x", "z", "for i"))  # the beginning of a statement, never a line inside one
        ast.parse(textwrap.dedent(chunk.text))
        assert "def long(a, b=2):" in chunk.context
        assert "def long(a, b=2):" in chunk.embedded
        assert "Do it all." in chunk.embedded
        assert "Slowly." not in chunk.embedded
    assert "Slowly." in chunks[0].embedded


def test_a_function_of_200_lines_is_whole_and_one_long_statement_too():
    exact = "def f():\n" + "".join(f"    a{i} = {i}\n" for i in range(199))
    assert len(code_chunks(exact, "m")) == 1
    assert len(code_chunks(exact + "    return 1\n", "m")) == 2
    table = "T = [\n" + "".join(f"    {i},\n" for i in range(400)) + "]\n"
    assert ids(code_chunks(table, "m")) == ["m"]
    assert ids(code_chunks(f"a = 1\n{table}b = 2\n", "m")) == ["m", "m#2", "m#3"]


def test_branches_are_cut_before_elif_and_except():
    source = "def f(x):\n    if x:\n        a = 1\n        b = 2\n    elif y:\n        c = 3\n        d = 4\n"
    assert [chunk.start for chunk in code_chunks(source, "m", max_lines=4)] == [1, 5]
    source = "def f(x):\n    try:\n        a = 1\n        b = 2\n    except E:\n        c = 3\n        d = 4\n"
    assert [chunk.start for chunk in code_chunks(source, "m", max_lines=4)] == [1, 5]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n\n",
        "# only a comment",
        "x = 1",
        "x = 1\r\n\r\ndef f():\r\n    pass\r\n",
        "x = 1\rdef f():\r    pass\r",
        "\x0cdef f():\n    pass\n\x0c\ndef g():\n    pass\n",
        "\ufeffx = 1\ndef f(): pass\n",
        "a = 1; b = 2\ndef f(): pass; pass\n",
        "x = 'a\x1cb'\n\n\ndef f():\n    return 'é\u2028'\n",
        "@\\\n  keep\ndef f(): pass\n",
        "x = 1  # path\\\ndef f(): pass\n",
        "class A: pass\nclass B:\n    # nothing\n    x = 1\n    # tail\n\n# end\n",
        "match x:\n    case 1:\n        def f(): pass\n    case _:\n        pass\n",
        "if a:\n    def f(): pass\nelse:\n    def f(): pass\n",
        "def f():\n    pass\n    # trailing\n\n\n# about g\n\ndef g():\n    pass\n",
        "x = '''\n# no comment\n'''\ndef f(): pass\n",
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 200])
def test_no_line_is_lost_in_odd_files(source, limit):
    chunks = code_chunks(source, "m", limit)
    assert joined(chunks) == source
    assert all(chunk.start <= chunk.end for chunk in chunks)
    assert len(set(ids(chunks))) == len(chunks)
    if source.strip():
        assert [chunk.start for chunk in chunks] == [1, *(chunk.end + 1 for chunk in chunks[:-1])]


def test_form_feeds_are_no_line_ends_as_splitlines_would_have_it():
    source = "\x0c\nx = 1\n\x0cdef f():\n    pass\n"
    assert len(source.splitlines()) > len(source_lines(source))
    assert by_name(code_chunks(source, "m"), "m.f")[0].text == "\x0cdef f():\n    pass\n"


names = st.sampled_from("abc")


@st.composite
def blocks(draw, depth=0):
    """A random block of Python, one statement a line or nested."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["x = 1", "# note", "", "def", "class", "if", "async def", "try", "text", "@d"]))
        pad = "    " * depth
        if kind in ("x = 1", "# note"):
            lines.append(pad + kind)
        elif kind == "text":
            lines += [f"{pad}y = '''", "# inside", f"{pad}'''"]
        elif kind and depth < 3:
            head = {"if": "if x:", "try": "try:", "class": f"class {draw(names)}:"}.get(
                kind, f"{kind} {draw(names)}():"
            )
            if kind == "@d":
                lines.append(f"{pad}@d")
                head = f"def {draw(names)}():"
            lines += [pad + head, *draw(blocks(depth + 1))]
            if kind == "try":
                lines += [f"{pad}finally:", *draw(blocks(depth + 1))]
        else:
            lines.append("")
    return [*lines, "    " * depth + "pass"]


def symbols(table, prefix):
    """Qualified names of definitions that are in no function, by ``symtable``."""
    for child in table.get_children():
        if child.get_type() in ("function", "class"):
            name = f"{prefix}.{child.get_name()}"
            if child.get_name() not in ("lambda", "genexpr", "listcomp", "setcomp", "dictcomp"):
                yield name
            if child.get_type() == "class":
                yield from symbols(child, name)


@settings(max_examples=50, deadline=None)
@given(blocks(), st.sampled_from([1, 3, 200]))
def test_chunks_of_random_programs_are_the_file_and_their_names_those_of_symtable(lines, limit):
    source = "\n".join(lines) + "\n"
    chunks = code_chunks(source, "m", limit)
    assert joined(chunks) == source
    whole = code_chunks(source, "m")
    found = {chunk.name for chunk in whole if chunk.kind != "module"}
    wanted = set(symbols(symtable.symtable(source, "m", "exec"), "m"))
    assert found == wanted
    for chunk in whole:
        if chunk.kind == "function":  # a function alone is Python again, and it is that function
            (node,) = (
                ast.parse("if 1:\n" + textwrap.indent(chunk.text, " ", lambda line: "inside" not in line)).body[0].body
            )
            assert node.name == chunk.name.rsplit(".", 1)[1]


def check_file(path, module, limit=200):
    source = read_source(path)
    chunks = code_chunks(source, module, limit)
    assert joined(chunks) == source, path
    assert source.encode("utf-8") == path.read_bytes() or b"coding" in path.read_bytes()[:200], path
    wanted = sorted(set(symbols(symtable.symtable(source.removeprefix("\ufeff"), str(path), "exec"), module)))
    assert sorted({chunk.name for chunk in chunks if chunk.kind != "module"}) == wanted, path
    return chunks


def test_the_whole_of_ragkit_is_kept_line_by_line():
    for path in sorted((ROOT / "ragkit").rglob("*.py")):
        check_file(path, path.stem)
        if path.parent.name in ("structured", "graph"):
            assert joined(code_chunks(read_source(path), "m", SHORT)) == read_source(path), path


def test_big_files_of_the_standard_library_are_kept_line_by_line():
    for name in ("argparse", "typing", "turtle", "inspect"):
        check_file(LIBRARY / f"{name}.py", name)


@pytest.mark.slow
def test_all_files_of_the_standard_library_are_kept_line_by_line():
    for path in sorted(LIBRARY.glob("*.py")):
        chunks = check_file(path, path.stem)
        assert joined(code_chunks(read_source(path), path.stem, 20)) == joined(chunks), path


@pytest.mark.parametrize("module", ["ragkit.search.bm25", "ragkit.models.recording", "ragkit.graph.merge"])
def test_a_function_chunk_is_what_inspect_gets_as_its_source(module):
    loaded = importlib.import_module(module)
    chunks = code_chunks(Path(loaded.__file__).read_text(encoding="utf-8"), module)
    seen = 0
    for chunk in chunks:
        if chunk.kind != "function":
            continue
        owner = loaded
        for part in chunk.name.removeprefix(f"{module}.").split("."):
            owner = inspect.getattr_static(owner, part)
        owner = (
            getattr(owner, "fget", None) or getattr(owner, "func", None) or getattr(owner, "__func__", None) or owner
        )
        assert inspect.getsource(inspect.unwrap(owner)).rstrip() in chunk.text
        seen += 1
    assert seen > 5


def test_comment_columns_are_those_of_the_tokenizer():
    path = LIBRARY / "textwrap.py"
    found = comment_columns(source_lines(read_source(path)))
    with tokenize.open(path) as stream:
        wanted = {
            t.start[0]: t.start[1] for t in tokenize.generate_tokens(stream.readline) if t.type == tokenize.COMMENT
        }
    assert found == wanted
    assert comment_columns(["x = (  # open\n"]) == {}


@pytest.mark.parametrize("source", ["def f(:\n", "x = \x00", "if x:\npass\n"])
def test_a_file_that_does_not_parse_is_an_error_with_its_name(source):
    with pytest.raises(ValueError, match=r"source of shop\.bad is no Python"):
        code_chunks(source, "shop.bad")
    with pytest.raises(ValueError, match="max_lines must be at least 1"):
        code_chunks("x = 1", "m", 0)


# --- search


def bm25(passages: list[Passage]):
    return BM25(passages, tokenize=code_tokens)


def test_a_file_that_is_not_indexed_is_reported(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text('"""Shop."""\n')
    (tmp_path / "shop" / "good.py").write_text("def find_kettle():\n    return 1\n")
    (tmp_path / "shop" / "broken.py").write_text("def f(:\n")
    (tmp_path / "shop" / "latin.py").write_bytes("# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"))
    (tmp_path / "shop" / "lies.py").write_bytes(b"name = '\xe9'\n")
    (tmp_path / "shop" / "cr.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    found = package_chunks(tmp_path / "shop")
    assert ids(found.chunks) == ["shop", "shop.cr", "shop.good.find_kettle", "shop.latin"]
    assert [fault.split(":")[0] for fault in found.faults] == ["broken.py", "lies.py"]
    assert found.chunks[1].text == "a = 1\r\nb = 2\r\n"
    assert found.chunks[3].text.endswith("'é'\n")
    with pytest.raises(ValueError, match="folder does not exist"):
        package_chunks(tmp_path / "none")
    assert package_chunks(tmp_path / "shop", skip=["shop"]).chunks  # names of folders below, not of the root
    (tmp_path / "empty").mkdir()
    assert package_chunks(tmp_path / "empty").chunks == []


def test_search_finds_by_the_embedded_text_and_returns_the_stored_one():
    chunks = code_chunks(EXAMPLE, "shop")
    search = CodeSearch(chunks, bm25)
    (hit,) = search("get a page", 1)
    assert hit.id == "shop.fetch"
    assert hit.text == by_name(chunks, "shop.fetch")[0].text
    assert search("", 3) == search("zebra", 3) == CodeSearch([], bm25)("get", 3) == []
    assert len(search("kettle", 99)) <= len(chunks)


def test_names_count_the_parts_of_a_definition_once():
    search = CodeSearch(code_chunks(long_function(), "m") + code_chunks("def brief():\n    long\n", "n"), bm25)
    assert search.names("long", 2) == ["m.long", "n.brief"]
    assert search.names("long", 1) == ["m.long"]
    assert search.names("zebra", 2) == []
    with pytest.raises(ValueError, match="chunks holds the id"):
        CodeSearch(code_chunks("x = 1", "m") * 2, bm25)


# --- the labelled questions


@pytest.fixture(scope="module")
def ragkit_code():
    return package_chunks(ROOT / "ragkit")


def test_every_file_of_ragkit_is_indexed(ragkit_code):
    assert ragkit_code.faults == []
    assert len({chunk.name for chunk in ragkit_code.chunks if chunk.kind == "function"}) > 500


def test_every_label_of_a_code_question_exists(ragkit_code):
    known = {chunk.name for chunk in ragkit_code.chunks}
    missing = {name: q.id for q in load_code_questions() for name in q.names if name not in known}
    assert not missing


def test_code_questions_are_enough_and_balanced():
    questions = load_code_questions()
    assert len(questions) >= 32
    for style in STYLES:
        assert len(select(questions, style)) >= 6
        assert len(select(questions, style, "dev")) >= 3
        assert len(select(questions, style, "test")) >= 3
    assert all(len(q.names) > 1 for q in select(questions, "cross_cutting"))


def test_an_error_message_leads_to_the_definition_that_raises_it(ragkit_code):
    search = CodeSearch(ragkit_code.chunks, bm25)
    questions = select(load_code_questions(), "error_message")
    assert sum(recall_at_k(search.names(q.text, 5), q.relevant, 5) for q in questions) / len(questions) >= 0.85


GOOD = {"id": "q1", "style": "paper", "split": "dev", "text": "Where?", "names": ["ragkit.base.Hit"]}


def toml(row):
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in row.items()]
    return "[[question]]\n" + "\n".join(lines) + "\n"


def test_code_questions_read(tmp_path):
    file = tmp_path / "q.toml"
    file.write_text(toml(GOOD))
    assert load_code_questions(file) == [CodeQuestion("q1", "paper", "dev", "Where?", ("ragkit.base.Hit",))]
    assert load_code_questions(file)[0].relevant == {"ragkit.base.Hit": 1}
    file.write_text("")
    assert load_code_questions(file) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[question", "is no TOML"),
        ("x = 1", "must hold"),
        ("question = [1]", "must hold"),
        (toml({k: v for k, v in GOOD.items() if k != "names"}), "lacks names"),
        (toml({**GOOD, "extra": "x"}), "unknown keys: extra"),
        (toml({**GOOD, "text": " "}), "text must be a string"),
        (toml({**GOOD, "style": "odd"}), "style must be one of"),
        (toml({**GOOD, "split": "train"}), "split must be one of"),
        (toml({**GOOD, "names": []}), "names must be a list of at least one"),
        (toml({**GOOD, "names": ["no dots"]}), "names must be dotted names"),
        (toml({**GOOD, "names": ["a.b", "a.b"]}), "more than once"),
        (toml(GOOD) + toml(GOOD), "more than once"),
    ],
)
def test_a_bad_code_question_is_named(tmp_path, text, message):
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_code_questions(tmp_path / "q.toml")


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="path is no file"):
        load_code_questions(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="style must be"):
        select([], "odd")
    with pytest.raises(ValueError, match="split must be"):
        select([], split="odd")


def test_source_lines_joined_are_the_source():
    text = "a\rb\r\nc\n\nd\x0be\x0c\x85f"
    assert "".join(source_lines(text)) == text
    assert len(source_lines(text)) == len(io.StringIO(text, newline="").readlines())
