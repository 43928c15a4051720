"""Passages linked by the titles they mention: personalized PageRank on a hyperlink graph that nobody had to annotate.

A title names what its page is about, so a passage that says "directed by Vera Falk" leads to the page "Vera Falk
(director)" just as a hyperlink would. Asai et al., *Learning to Retrieve Reasoning Paths over Wikipedia Graph* (ICLR
2020, section 3.1) answer multi-hop questions along Wikipedia's links; here the links are read off the text. The walk
is that of HippoRAG (Gutiérrez et al., NeurIPS 2024): restart 0.5, seeds weighted by *node specificity*, 1 / (number of
passages that mention the name). As in HippoRAG 2 (Gutiérrez et al., ICML 2025) passages are nodes and the question's
own first search seeds them beside its names, so a question without a name still has somewhere to start.

Left out: the model that extracts triples (what a passage says of an unnamed page is not seen), the synonym edges,
aliases and pronouns, Asai's trained path scorer, and sentence ends, so a name may be read across a full stop. A
mention must begin with a capital, as names do in English prose; pass ``capitals=False`` where they do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

from ragkit.base import Hit, Passage, Retriever, check_k, check_unique, top_k
from ragkit.graph.pagerank import pagerank, transition
from ragkit.text import LUCENE_STOP_WORDS, tokenize


def title_names(title: str) -> list[str]:
    """The names that a title gives its page: as it stands, and without a bracketed qualifier at its end.

    >>> title_names("Vera Falk (director)"), title_names("The Who"), title_names("It (film)"), title_names("?")
    (['vera falk director', 'vera falk'], ['the who'], ['it film'], [])
    """
    forms = [title, re.sub(r"\s*\([^()]*\)\s*$", "", title)]
    keys = dict.fromkeys(tuple(word for word, _ in _words(form)) for form in forms)
    # A name of nothing but stop words ("It", "They") stands in every other sentence.
    return [" ".join(key) for key in keys if not LUCENE_STOP_WORDS.issuperset(key)]


def _words(text: str) -> list[tuple[str, bool]]:
    return [word for run in text.split() for word in _run_words(run)]


@lru_cache(maxsize=1 << 16)
def _run_words(run: str) -> tuple[tuple[str, bool], ...]:
    """The terms of a run of characters without accents, each with whether the run begins as a name does.

    >>> _run_words("Saxe-Weimar's"), _run_words("(über"), _run_words("東京")
    ((('saxe', True), ('weimar', True)), (('uber', False),), (('東', True), ('京', True)))
    """
    if not run.isascii():  # the accents of Latin, Greek and Cyrillic; the vowel signs of other scripts stay
        run = "".join(c for c in unicodedata.normalize("NFKD", run) if not "\u0300" <= c <= "\u036f")
    first = next((c for c in run if c.isalnum()), "")
    return tuple((term, not first.islower()) for term in tokenize(run))


class MentionGraph:
    """The index, and a ``Retriever`` over ``passages`` that starts from ``first``, a search over the same passages.

    ``names`` maps a name, its words lower-cased, to the ids of the passages whose title it is; ``mentioned`` maps it
    to the number of passages whose text mentions it; ``links`` maps (passage, titled passage) to a weight: 1, shared
    out where several passages have the title. A passage has no link to passages of its own title. Untitled passages
    mention and are not mentioned.

    The walk restarts with ``restart``. ``name_share`` of the restarts go to the passages that the question names, by
    node specificity; the others to the first ``depth`` hits of ``first``, by 1 / rank, whatever its scores mean. If
    the question names nothing, or ``first`` finds nothing, the other side has it all. ``directed=False`` walks links
    both ways. ``capitals=False`` takes a lower-case word for a name too, in passages and questions.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        first: Retriever,
        restart: float = 0.5,
        depth: int = 10,
        name_share: float = 0.5,
        directed: bool = True,
        capitals: bool = True,
    ) -> None:
        if not 0.0 < restart <= 1.0:
            raise ValueError(f"restart must be in (0, 1], got {restart}")
        if not 0.0 <= name_share <= 1.0:
            raise ValueError(f"name_share must be in [0, 1], got {name_share}")
        check_k(depth)
        check_unique([p.id for p in passages], "passages")
        self.passages = list(passages)
        self.first, self.restart, self.depth, self.name_share = first, restart, depth, name_share
        self.capitals = capitals
        self._text = {p.id: p.text for p in self.passages}
        self.names: dict[str, list[str]] = defaultdict(list)
        for passage in self.passages:
            for name in title_names(passage.title):
                self.names[name].append(passage.id)
        self.names = dict(self.names)
        lengths: dict[str, set[int]] = defaultdict(set)  # of the names that begin with a word
        for name in self.names:
            words = name.split(" ")
            lengths[words[0]].add(len(words))
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}
        self.links: dict[tuple[str, str], float] = {}
        self.mentioned: Counter[str] = Counter()
        for passage in self.passages:
            self._link(passage)
        self.graph = transition(self.links, directed, [p.id for p in self.passages])

    def _link(self, passage: Passage) -> None:
        for name in self.find(passage.text):
            self.mentioned[name] += 1
            titled = self.names[name]
            if passage.id not in titled:
                for other in titled:
                    pair = (passage.id, other)
                    self.links[pair] = max(self.links.get(pair, 0.0), 1.0 / len(titled))

    def find(self, text: str) -> list[str]:
        """The names in a text, each once, in the order of the text; at each place the longest, and no overlaps."""
        words = _words(text)
        found: dict[str, None] = {}
        i = 0
        while i < len(words):
            word, capital = words[i]
            step = 1
            for length in self._lengths.get(word, ()) if capital or not self.capitals else ():
                name = " ".join(term for term, _ in words[i : i + length])
                if name in self.names:
                    found[name] = None
                    step = length
                    break
            i += step
        return list(found)

    def seeds(self, query: str, hits: Sequence[Hit]) -> dict[str, float]:
        """Passage id -> share of the restarts, summing to 1; ``hits`` are what the first search found. May be empty."""
        named: dict[str, float] = defaultdict(float)
        for name in self.find(query):
            for an_id in self.names[name]:
                named[an_id] += 1.0 / (len(self.names[name]) * max(1, self.mentioned[name]))
        if unknown := [hit.id for hit in hits if hit.id not in self._text]:
            raise ValueError(f"hits holds {unknown[0]!r}, which is no passage's id")
        ranked = {hit.id: 1.0 / rank for rank, hit in enumerate(hits[: self.depth], start=1)}
        sides = [(self.name_share, named), (1.0 - self.name_share, ranked)]
        return _mixed([(share, weights) for share, weights in sides if share > 0 and weights])

    def __call__(self, query: str, k: int) -> list[Hit]:
        """The best ``k`` passages, ties by position; behind those that the walk reaches, the first search's others.

        These score 0. ``[]`` for a question that names no passage and for which the first search finds nothing.
        """
        check_k(k)
        hits = self.first(query, max(k, self.depth))
        found: dict[str, float] = {}
        if seeds := self.seeds(query, hits):
            scores = pagerank(self.graph, self.graph.seeds(seeds), self.restart).scores
            found = {self.passages[i].id: float(scores[i]) for i in top_k(scores, k) if scores[i] > 0}
        found |= {hit.id: 0.0 for hit in hits if hit.id not in found}
        return [Hit(an_id, self._text[an_id], score) for an_id, score in list(found.items())[:k]]


def _mixed(sides: Sequence[tuple[float, dict[str, float]]]) -> dict[str, float]:
    """Each side brought to its share, then all to a sum of 1.

    >>> _mixed([(0.5, {"a": 3.0, "b": 1.0}), (0.5, {"a": 2.0})])
    {'a': 0.875, 'b': 0.125}
    """
    mixed: dict[str, float] = defaultdict(float)
    for share, weights in sides:
        total = sum(weights.values())
        for an_id, weight in weights.items():
            mixed[an_id] += share * weight / total
    whole = sum(mixed.values())
    return {an_id: weight / whole for an_id, weight in mixed.items()}
