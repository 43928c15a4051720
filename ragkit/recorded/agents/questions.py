"""The questions of the chapter on agents, and where each can be answered.

Fifty-two of eight kinds; by hand every third of them is answered. Those on code and those that need a sum are this
chapter's own, the others the corpus's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ragkit import corpus
from ragkit.corpus.code import load_code_questions
from ragkit.recorded import sql as database_chapter

CLASSES = ("single_fact", "multi_hop", "table_form", "relational")
PER_CLASS = 7
"""Of each of these classes the last seven of the test half are asked: the first ones stand in other chapters."""
NOWHERE = 5
"""Questions that nothing at hand answers: the last five of the test half."""
EVERY = 3
"""By hand each third question is answered, the first included."""

SOURCES = {
    "documents": "the company: its products, stores, people, rules and letters",
    "outside": "the world outside the company: newspapers, towns, other firms",
    "code": "the Python code of the package ragkit",
    "database": "figures to count, add up or compare: prices, stores, staffing, orders",
}
"""Where a question can be sent, and the line that says what for."""
HOME = {
    "single_fact": ("documents",),
    "multi_hop": ("documents",),
    "table_form": ("documents", "database"),
    "relational": ("documents", "database"),
    "outside": ("outside",),
    "nowhere": (),
    "code": ("code",),
    "arithmetic": ("database",),
}
"""Kind of question -> sources that can answer it."""

_SUMS = (
    ("What would 24 red Aster kettles cost at the list price?", "SELECT 24 * price FROM products WHERE code='AK-170R'"),
    (
        "What is the list price of the wireless earbuds EARBUDS-AIR2 after a discount of 15%?",
        "SELECT 0.85 * price FROM products WHERE code = 'EARBUDS-AIR2'",
    ),
    (
        "What do one blue Aster kettle and two pairs of the wireless earbuds EARBUDS-AIR2 cost together?",
        "SELECT SUM(CASE code WHEN 'AK-170B' THEN price WHEN 'EARBUDS-AIR2' THEN 2 * price END) FROM products",
    ),
    (
        "By how many square metres do the floors of our stores Castle Gate and Elm Street differ?",
        "SELECT MAX(floor_area) - MIN(floor_area) FROM stores WHERE name IN ('Castle Gate', 'Elm Street')",
    ),
    (
        "How many people were on the rota of Elm Street on average over the first six months of 2024?",
        "SELECT AVG(on_rota) FROM staffing NATURAL JOIN stores WHERE name = 'Elm Street' AND month <= '2024-06'",
    ),
    (
        "What percentage of our twelve stores opens on Sundays?",
        "SELECT 100.0 * COUNT(sunday_from) / COUNT(*) FROM stores",
    ),
)
"""Questions that need a sum, and the query that gives their answer; written without a look at the rows."""


@dataclass(frozen=True)
class Case:
    """A question for the loops: ``answers`` that count, or ``names`` of code; neither where nothing can be known.

    ``relevant`` are the passages, of the documents or of the outside collection, that its answer is drawn from.
    """

    id: str
    kind: str
    text: str
    answers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()


@cache
def cases() -> tuple[Case, ...]:
    """All questions, kind by kind."""
    world = corpus.load()
    last_ones = [q for cls in CLASSES for q in world.select(cls, "test")[-PER_CLASS:]]
    found = [
        Case(q.id, q.cls, q.text, q.answers, relevant=tuple(id for id, gain in q.relevant.items() if gain > 0))
        for q in last_ones
    ]
    outside = world.outside_answers
    unknown = world.select("no_answer", "test")
    known = [(q, outside[q.id]) for q in unknown if q.id in outside]
    found += [Case(q.id, "outside", q.text, o.answers, relevant=tuple(o.passages)) for q, o in known]
    found += [Case(q.id, "nowhere", q.text) for q in [q for q in unknown if q.id not in outside][-NOWHERE:]]
    of_style = {q.style: q for q in load_code_questions() if q.split == "test"}
    found += [Case(q.id, "code", q.text, names=q.names) for q in of_style.values()]
    for number, (text, query) in enumerate(_SUMS, start=1):
        ((value,),) = database_chapter.database().run(query).rows
        found.append(Case(f"arithmetic-{number}", "arithmetic", text, (f"{value:.6g}",)))
    return tuple(found)


def by_hand() -> tuple[Case, ...]:
    """The questions that are answered by hand too."""
    return cases()[::EVERY]
