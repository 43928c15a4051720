"""One table for the whole course: every technique on every class of question, with intervals, cost and who answered.

Each chapter has a module in ``entries/`` that names its techniques and says how each is built from the corpus and its
recordings. `measure` runs one over the questions that it is meant for, or reads what a run of the same package found
before; nothing is typed in. The last chapter reads the whole table and trains its router on the development half of it.

    from ragkit import scoreboard

    scoreboard.rows("02-hybrid")                    the chapter's rows, one a class, for a table
    scoreboard.measure("HyDE", "hand").interval()   one technique
    scoreboard.scores()                             everything

- ``technique.py``  what an entry says: `Technique`, `Stage` (the corpus, its searches, metered recordings)
- ``score.py``      `Score`: one value a question, calls, tokens and milliseconds; intervals, gains
- ``measuring.py``  `measure`, `scores`, `rows`
- ``keeping.py``    what was measured is kept until the package changes
- ``entries/``      one module a chapter, with ``TECHNIQUES``

Left out: techniques without weights here (Self-RAG, Search-R1), and everything whose questions are not the corpus's.
"""

from ragkit.scoreboard.measuring import measure, rows, scores, techniques
from ragkit.scoreboard.score import Score
from ragkit.scoreboard.technique import K, Stage, Technique, by_text

__all__ = ["K", "Score", "Stage", "Technique", "by_text", "measure", "rows", "scores", "techniques"]
