"""Readers of public benchmarks in their own formats, all into the shapes of the course's own corpus.

- ``beir.py``: BEIR folders (Thakur et al. 2021)
- ``hotpot.py``: HotpotQA (Yang et al. 2018, distractor setting) and 2WikiMultiHopQA (Ho et al. 2020), one format
- ``musique.py``: MuSiQue (Trivedi et al. 2022)
- ``pooled.py``: collections of titles and texts
- ``records.py``: ``Dataset``; ``files.py``: files read with their names in every complaint

What runs on the course's corpus runs on these. Any file may be gzipped (``.gz``). A file that does not fit is a
``ValueError`` that names the file, the record and the field. Left out: downloading. The passages of the multi-hop sets
are pooled over the file's questions, as in HippoRAG's experiments; the full-wiki collections are not read.
"""

from ragkit.datasets.beir import read_beir
from ragkit.datasets.hotpot import read_2wiki, read_hotpotqa
from ragkit.datasets.musique import read_musique
from ragkit.datasets.pooled import read_passages
from ragkit.datasets.records import Dataset

__all__ = ["Dataset", "read_2wiki", "read_beir", "read_hotpotqa", "read_musique", "read_passages"]
