"""The pages about the package: every module stands on one of them, and nothing that is gone."""

from __future__ import annotations

import re
from collections import Counter

from tests.test_book_gates import ROOT

PAGES = ROOT / "book" / "reference"


def modules() -> set[str]:
    """The dotted names of the package's public modules; entries and recorded prompts are data of the course."""
    paths = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "ragkit").rglob("*.py")]
    names = {".".join(path.parts) for path in paths if not path.name.startswith("_")}
    return {name for name in names if not re.match(r"ragkit\.(recorded|scoreboard\.entries|corpus\.checks)\.", name)}


def shown() -> Counter[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    return Counter(re.findall(r"^\.\. automodule:: (\S+)$", text, re.MULTILINE))


def test_every_module_stands_on_one_page() -> None:
    assert shown() == Counter(modules())


def test_every_page_is_in_the_overview() -> None:
    linked = re.findall(r"\{doc\}`/reference/(\w+)`", (PAGES / "overview.md").read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "overview")
