"""Chapter 2: the two searches and their fusion, the baseline of everything else."""

from ragkit.scoreboard.technique import Technique, by_text

CHAPTER = "02-hybrid"

TECHNIQUES = (
    Technique("BM25", CHAPTER, lambda stage: by_text(stage.world.bm25)),
    Technique("dense", CHAPTER, lambda stage: by_text(stage.world.dense)),
    Technique("hybrid", CHAPTER, lambda stage: by_text(stage.world.hybrid)),
)
