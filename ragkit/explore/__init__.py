"""Floor 4, what a reader turns: figures with controls, on a page without a kernel and in a live notebook.

- ``fusion.py``: ``fusion_explorer``, rankings fused by rank and by score
- ``walk.py``: ``walk_explorer``, Personalized PageRank step by step
- ``cost.py``: ``cost_explorer``, long context or retrieval
- ``cache.py``: ``cache_explorer``, the threshold of a semantic cache
- ``explorer.py``: ``Explorer``, ``Control``; ``markup.py``: text, tables and shapes

Each computes with the functions of the package. On a page of the book a script repeats the computation, the file of the
same name in ``book/_ext/assets/explorers/``; a test holds the two together. Left out: any state that outlives the page.
"""

from ragkit.explore.cache import cache_explorer
from ragkit.explore.cost import cost_explorer
from ragkit.explore.explorer import Control, Explorer
from ragkit.explore.fusion import fusion_explorer
from ragkit.explore.walk import walk_explorer

__all__ = ["Control", "Explorer", "cache_explorer", "cost_explorer", "fusion_explorer", "walk_explorer"]
