"""Charts in one visual language, as SVG: each is a function from plain numbers to a ``Chart``.

- ``bar_chart.py``: ``bars``
- ``line_chart.py``: ``lines``
- ``point_chart.py``: ``scatter``
- ``node_link.py``: ``network``
- ``heat_map.py``: ``heatmap``
- ``style.py``: colours, markers, the legend, ``Chart``; ``labels.py``: where labels go

Nothing is titled inside the plot: the page gives caption and alternative text. Left out: interaction and animation.
"""

from ragkit.figures.bar_chart import bars
from ragkit.figures.heat_map import heatmap
from ragkit.figures.line_chart import lines
from ragkit.figures.node_link import network
from ragkit.figures.point_chart import scatter
from ragkit.figures.style import COLOURS, DASHES, HATCHES, MARKERS, Chart, is_interval

__all__ = [
    "COLOURS",
    "DASHES",
    "HATCHES",
    "MARKERS",
    "Chart",
    "bars",
    "heatmap",
    "is_interval",
    "lines",
    "network",
    "scatter",
]
