"""The explorers in Chromium: their scripts compute what the package computes, and a keyboard is enough to use them.

The inputs that both languages compute with are made here from one seed and written to one JSON file; nothing stored can
go stale. The pages are built by the book's own build, with the theme, from explorers that need no model.
"""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ragkit.explore import cache, cost, fusion, walk
from ragkit.explore.cost import cost_explorer
from ragkit.explore.explorer import Explorer
from ragkit.explore.fusion import fusion_explorer
from ragkit.explore.markup import count, fixed, money, share, signed
from ragkit.explore.walk import walk_explorer
from tests.test_book_build import CELL, HEAD, small_book
from tests.test_book_gates import ROOT, TOOLS, tool
from tests.tools import missing

pytestmark = pytest.mark.browser

SCRIPTS = ROOT / "book" / "_ext" / "assets" / "explorers"
KINDS: dict[str, ModuleType] = {"fusion": fusion, "walk": walk, "cost": cost, "cache": cache}
INPUTS = 20
SEED = 20261130


def chosen(explorer: Explorer, rng: random.Random) -> dict[str, Any]:
    return {control.name: rng.choice(control.values) for control in explorer.controls}


def some_fusion(rng: random.Random) -> Explorer:
    names = [f"doc/p{i}" for i in range(rng.randint(3, 12))] + ["<b>", 'd\'or "7"']
    rankings = {}
    for name in ("BM25", "dense", "R&D")[: rng.randint(2, 3)]:
        ids = rng.sample(names, rng.randint(1, len(names)))
        # few different scores, some below 0: ties and scaling both matter
        rankings[name] = [
            fusion.Hit(an_id, "", rng.choice([-1.5, 0.0, 0.5, 7.25, rng.uniform(0, 20)])) for an_id in ids
        ]
    return fusion_explorer(rankings, rng.sample(names, 2), rows=rng.randint(1, 8))


def some_walk(rng: random.Random) -> Explorer:
    names = [f"node {i} of & <{i}>" for i in range(rng.randint(2, 9))]
    edges = {}
    while len(edges) < len(names) + rng.randint(0, 6):
        a, b = rng.sample(names, 2)
        edges[a, b] = rng.choice([1.0, 2.0, rng.uniform(0.1, 5)])
        if len(edges) == len(names) * (len(names) - 1):
            break
    used = {end for edge in edges for end in edge}
    return walk_explorer(
        edges, rng.choice(sorted(used)), positions={n: (i / 9, i % 3 / 2) for i, n in enumerate(names)}
    )


def some_cost(rng: random.Random) -> Explorer:
    return cost_explorer(
        rng.randint(1000, 10_000_000),
        rng.randint(1, 90_000),
        rng.uniform(0.01, 30),
        write=rng.uniform(1, 2),
        read=rng.uniform(0.01, 0.9),
    )


def some_cache(rng: random.Random) -> Explorer:
    texts = [f"Who's <{i}> & why?" for i in range(8)]
    # a hair below each threshold, near enough to be served and not
    below = [t - hair for t in cache.THRESHOLDS for hair in (5e-10, 5e-9)]
    cosines = [*(rng.uniform(-0.2, 1) for _ in range(30)), *below, 1.0]
    reasons = ["", "", "number", "name", "identifier"]
    pairs = [[rng.randrange(8), rng.randrange(8), c, rng.random() < 0.5, rng.choice(reasons)] for c in cosines]
    explorer = cache.cache_explorer([("a", "b", True)], lambda texts: cache.unit([1.0, 0.0])[None].repeat(2, axis=0))
    return Explorer(
        explorer.kind,
        explorer.title,
        explorer.controls,
        {"texts": texts, "pairs": pairs},
        explorer.compute,
        explorer.summary,
        explorer.view,
        explorer.source,
    )


MAKERS: dict[str, Callable[[random.Random], Explorer]] = {
    "fusion": some_fusion,
    "walk": some_walk,
    "cost": some_cost,
    "cache": some_cache,
}


def shared_inputs() -> list[dict[str, Any]]:
    """For each kind so many random inputs, each at random settings; as JSON holds them."""
    rng = random.Random(SEED)
    made = []
    for kind, maker in MAKERS.items():
        for _ in range(INPUTS):
            explorer = maker(rng)
            made.append({"kind": kind, "data": explorer.data, "state": chosen(explorer, rng)})
    return json.loads(json.dumps(made))


def in_python(one: dict[str, Any]) -> dict[str, Any]:
    module, given = KINDS[one["kind"]], (one["data"], one["state"])
    result = module.compute(*given)
    return {"result": result, "summary": module.summary(*given, result), "view": module.view(*given, result)}


IN_THE_PAGE = """inputs => inputs.map(({kind, data, state}) => {
  const {compute, summary, view} = window.ragkitExplorers.kinds[kind];
  const result = compute(data, state);
  return {result, summary: summary(data, state, result), view: view(data, state, result)};
})"""


def differences(ours: Any, theirs: Any, at: str = "result") -> Iterator[str]:
    """Where two results differ by more than 1e-9, or in kind; the same keys, lengths, texts and truths otherwise."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            yield f"{at}: keys {sorted(ours)} and {sorted(theirs)}"
        for key in ours.keys() & theirs.keys():
            yield from differences(ours[key], theirs[key], f"{at}.{key}")
    elif isinstance(ours, (list, tuple)) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{at}: {len(ours)} and {len(theirs)} entries"
        for i, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from differences(one, other, f"{at}[{i}]")
    elif isinstance(ours, bool) or isinstance(theirs, bool) or not isinstance(ours, (int, float)):
        if ours != theirs or type(ours) is not type(theirs):
            yield f"{at}: {ours!r} and {theirs!r}"
    elif not isinstance(theirs, (int, float)) or abs(ours - theirs) > 1e-9 * max(1.0, abs(ours)):
        yield f"{at}: {ours!r} and {theirs!r}"


def test_the_comparison_sees_what_differs() -> None:
    assert list(differences({"a": [1.0, None]}, {"a": [1.0 + 1e-12, None]})) == []
    assert list(differences({"a": 1.0}, {"a": 1.0 + 1e-7})) != []
    assert list(differences([1.0], [1.0, 2.0])) != []
    assert list(differences(True, 1)) != []
    assert list(differences(None, 0)) != []
    assert list(differences({"a": 1}, {"b": 1})) != []


@pytest.fixture(scope="module")
def browser() -> ModuleType:
    module = tool("browser")
    if (why := module.unavailable()) is not None:
        missing(f"a browser ({why})")
    return module


@pytest.fixture(scope="module")
def chrome(browser: ModuleType) -> Iterator[Any]:
    with browser.launched() as started:
        yield started


def blank(chrome: Any, browser: ModuleType, folder: Path) -> tuple[Any, list[str]]:
    """An empty page, from a file since a page of no origin may remember no theme."""
    (folder / "blank.html").write_text("<!doctype html><title>Empty</title>", encoding="utf-8")
    page, found = browser.opened(chrome, "light", browser.DESK)
    page.goto((folder / "blank.html").as_uri())
    return page, found


@pytest.fixture
def scripts(chrome: Any, browser: ModuleType, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """What the scripts give for inputs in a JSON file, with ``changes`` (file, before, after) to their text."""

    def run(inputs: list[dict[str, Any]], *changes: tuple[str, str, str]) -> list[dict[str, Any]]:
        path = tmp_path / "inputs.json"
        path.write_text(json.dumps(inputs), encoding="utf-8")
        texts = {name: (SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in ("core", *KINDS)}
        for name, before, after in changes:
            assert texts[name].count(before) == 1, f"{name}.js holds {before!r} {texts[name].count(before)} times"
            texts[name] = texts[name].replace(before, after)
        page, found = blank(chrome, browser, tmp_path)
        for text in texts.values():
            page.add_script_tag(content=text)
        given = page.evaluate(IN_THE_PAGE, json.loads(path.read_text(encoding="utf-8")))
        page.context.close()
        assert found == []
        return given

    return run


def drifted(inputs: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Per kind what differs between Python and the scripts: numbers at 1e-9, sentences and markup letter by letter."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for n, (one, other) in enumerate(zip(inputs, theirs, strict=True)):
        ours = in_python(one)
        faults = list(differences(ours["result"], other["result"]))
        faults += [f"{part} differs" for part in ("summary", "view") if ours[part] != other[part]]
        found[one["kind"]] += [f"input {n}: {fault}" for fault in faults]
    return found


def test_the_scripts_give_the_package_s_values_and_markup(scripts: Callable[..., list[dict[str, Any]]]) -> None:
    inputs = shared_inputs()
    assert len(inputs) == INPUTS * len(KINDS)
    assert drifted(inputs, scripts(inputs)) == {kind: [] for kind in KINDS}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("fusion", "[id, i + 1]", "[id, i]"),  # ranks from 0
        ("fusion", "1 / (kappa + place)", "1 / (kappa + 1 + place)"),
        ("fusion", "(1 - weight) * other[i], [", "weight * other[i], ["),
        ("walk", "if (back) moved[seed] += lost;", ""),
        ("walk", "(1 - restart) * arrived", "restart * arrived"),
        ("cost", "(data.read * corpus", "(data.write * corpus"),
        ("cost", "const MILLION = 1000000", "const MILLION = 1000001"),
        ("cache", "TIE = 1e-9", "TIE = 0"),
        ("cache", "!(state.gate && reason)", "!(reason)"),
        ("cache", "TALL = 84", "TALL = 85"),  # not a number of the result, but what is drawn
    ],
)
def test_a_script_that_drifted_is_caught(
    scripts: Callable[..., list[dict[str, Any]]], kind: str, before: str, after: str
) -> None:
    inputs = [one for one in shared_inputs() if one["kind"] == kind]
    found = drifted(inputs, scripts(inputs, (kind, before, after)))
    assert found[kind] != []


def test_numbers_read_the_same_in_both_languages(chrome: Any, browser: ModuleType, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    values = [0, 0.5, 0.125, 0.03125, 2.5, 999.5, 1e6, 12_345.678, 0.00004, 0.0999, -0.0001, -2.5]
    values += [rng.uniform(-1, 1) * 10 ** rng.randint(-6, 7) for _ in range(200)]
    ours = [[fixed(v, 3), count(abs(v)), money(abs(v)), signed(v, 4), share(abs(v), 1e7)] for v in map(float, values)]
    page, _ = blank(chrome, browser, tmp_path)
    page.add_script_tag(path=SCRIPTS / "core.js")
    theirs = page.evaluate(
        """values => values.map(v => {
          const {fixed, count, money, signed, share} = window.ragkitExplorers, a = Math.abs(v);
          return [fixed(v, 3), count(a), money(a), signed(v, 4), share(a, 1e7)];
        })""",
        values,
    )
    page.context.close()
    assert theirs == ours


# The page, as the book builds it

PAGE = (
    HEAD
    + "(one)=\n# 1. Explorers on a page\n\n"
    + CELL
    % (
        "import numpy as np\n"
        "from ragkit.base import Hit\n"
        "from ragkit.explore import cache_explorer, cost_explorer, fusion_explorer, walk_explorer\n"
        'one = [Hit(f"order-log-2021-0{i}/entry-{i}", "", 9.0 - i) for i in range(1, 9)]\n'
        'fusion_explorer({"BM25": one, "dense": one[::-2], "stemmed": one[2:6]}, [one[1].id])'
    )
    + CELL
    % (
        'walk_explorer([("kettle", "maker"), ("maker", "founder of the company"), ("founder of the company", "town"),\n'
        '               ("kettle", "lid"), ("lid", "kettle")], "kettle")'
    )
    + CELL % "cost_explorer()"
    + CELL
    % (
        'pairs = [("How long is the warranty?", "What is the length of the warranty?", True),\n'
        '         ("Where is order 12345?", "Where is order 12346?", False)]\n'
        'cache_explorer(pairs, lambda texts: np.eye(3)[[len(t) % 3 for t in texts]] + 0.5, source="replayed",\n'
        '               answered="hand", date="2026-11-30", note="a note")'
    )
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser: ModuleType) -> Path:
    root = small_book(tmp_path_factory.mktemp("explorers"), PAGE)
    command = [sys.executable, str(TOOLS / "build.py"), "--root", str(root), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "_build" / "html"


@pytest.fixture
def page(chrome: Any, browser: ModuleType, site: Path) -> Iterator[Any]:
    """The page opened from its file, as a reader without a server does."""
    opened, found = browser.opened(chrome, "light", browser.DESK)
    opened.goto((site / "one.html").as_uri(), wait_until="load")
    yield opened
    opened.context.close()
    assert found == []


def test_only_a_page_with_explorers_loads_their_scripts(site: Path) -> None:
    loaded = {
        name: re.findall(r"_static/explorers/(\w+\.\w+)", (site / f"{name}.html").read_text(encoding="utf-8"))
        for name in ("one", "index")
    }
    assert sorted(loaded["one"]) == ["cache.js", "core.js", "cost.js", "explorers.css", "fusion.js", "walk.js"]
    assert next(name for name in loaded["one"] if name.endswith(".js")) == "core.js"
    assert loaded["index"] == []


def test_the_page_passes_every_gate_light_and_dark_and_narrow(site: Path) -> None:
    # in a process of its own, for it starts a browser and this one has its browser already
    command = [sys.executable, str(TOOLS / "browser.py"), str(site), "--pages", "one.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no problem found" in done.stdout
    assert (site / "one.html").stat().st_size < 200_000


def test_what_the_script_shows_first_is_what_stood_there_before_it(
    chrome: Any, browser: ModuleType, site: Path
) -> None:
    read = "[...document.querySelectorAll('.rk-view, .rk-explorer output')].map(e => e.textContent)"
    address, texts = (site / "one.html").as_uri(), []
    for enabled in (False, True):
        context = chrome.new_context(java_script_enabled=enabled)
        context.route("**/*", lambda route: browser._guard(route, []))
        tab = context.new_page()
        tab.goto(address, wait_until="load")
        assert tab.locator(".rk-explorer input, .rk-explorer select").count() == (17 if enabled else 0)
        assert tab.locator(".rk-still").count() == (0 if enabled else 4)
        texts.append(
            tab.evaluate(read) if enabled else tab.locator(".rk-view, .rk-explorer output").all_text_contents()
        )
        context.close()
    assert len(texts[0]) == 8
    assert texts[0] == texts[1]


def test_every_control_works_from_the_keyboard_and_says_its_value(page: Any) -> None:
    assert page.locator(".rk-explorer.rk-live").count() == 4
    for control in page.locator(".rk-explorer input[type=range]").all():
        root = control.locator("xpath=ancestor::div[contains(@class, 'rk-explorer')]")
        said, spoken = root.locator(".rk-view").inner_html(), control.get_attribute("aria-valuetext")
        control.focus()
        at = int(control.input_value())
        page.keyboard.press("ArrowLeft" if at else "ArrowRight")
        assert int(control.input_value()) == (at - 1 if at else 1)
        assert control.get_attribute("aria-valuetext") != spoken
        assert root.locator(".rk-view").inner_html() != said, control.evaluate("e => e.labels[0].textContent")
        assert page.evaluate("document.activeElement.type") == "range"
    for box in page.locator(".rk-explorer input[type=checkbox]").all():
        before = box.is_checked()
        box.focus()
        page.keyboard.press("Space")
        assert box.is_checked() is not before
    assert page.evaluate(
        "[...document.querySelectorAll('.rk-explorer :is(input, select)')].every(e => e.labels.length)"
    )
    assert page.locator(".rk-explorer output[aria-live=polite]").count() == 4


def test_what_a_reader_sets_is_what_the_package_computes(page: Any) -> None:
    root = page.locator("[data-kind=walk]")
    for _ in range(4):
        root.get_by_role("button", name="Step on").press("Enter")
    root.get_by_label("Chance α of restarting").fill("2")  # the third of 0.05, 0.10, 0.15
    root.get_by_label("Seed", exact=True).select_option(label="maker")
    root.get_by_label("Walk the edges both ways").check()
    explorer = walk_explorer(
        [
            ("kettle", "maker"),
            ("maker", "founder of the company"),
            ("founder of the company", "town"),
            ("kettle", "lid"),
            ("lid", "kettle"),
        ],
        "kettle",
    )
    state = explorer.state(step=4, restart=0.15, seed="maker", both=True)
    result = explorer.compute(explorer.data, state)
    assert root.locator("output").inner_text() == explorer.summary(explorer.data, state, result)
    root.get_by_role("button", name="Step back").press("Enter")
    assert "Step 3" in root.locator("output").inner_text()
    shop = page.locator("[data-kind=cost]")
    shop.get_by_label("Context window").select_option(label="32K")
    assert "does not fit" in shop.locator("output").inner_text()
