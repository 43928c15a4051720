"""What the pages show with: tables with their provenance, passages with the gold ones marked, and checked claims.

No paper stands behind this package. Three rules of the book do. A number says how it came to be: *computed* by the
build, *replayed* from a dated record, or *cited*. A number in a sentence is asserted before it is printed. A table can
be read by a screen reader, on a phone and in a terminal. Left out: sorting, paging and any other interaction.

- ``tables.py``: ``table``; ``cells.py``: values as text; ``provenance.py``: where numbers come from
- ``hits.py``: ``passages``
- ``claims.py``: ``claim``

The charts are drawn by ``ragkit.figures`` and offered here too.
"""

from ragkit.figures import Chart, bars, heatmap, lines, network, scatter
from ragkit.show.claims import claim
from ragkit.show.hits import Passages, passages
from ragkit.show.provenance import ANSWERERS
from ragkit.show.tables import Table, table

__all__ = [
    "ANSWERERS",
    "Chart",
    "Passages",
    "Table",
    "bars",
    "claim",
    "heatmap",
    "lines",
    "network",
    "passages",
    "scatter",
    "table",
]
