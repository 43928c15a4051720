"""Beam search over chains of thought: several IRCoT chains at once, each with its own paragraphs.

One wrong sentence sends every later search of a single chain the wrong way. A beam keeps the ``width`` best chains: at
each round every open chain searches with its own last sentence, gets up to ``branch`` candidate next sentences, and the
best of all are kept. The score of a chain is the mean over its sentences of their score, by default the mean
log-probability of the tokens (length normalisation as in Wu et al. 2016, section 7, with exponent 1). A chain that
states an answer leaves the beam and keeps its score. With width 1 and one branch this is `ragkit.loops.ircot.ircot`.

The authors of IRCoT (Trivedi et al. 2023) run a best-first search over states with one successor each, that is a single
chain; the beam is our extension of it. Left out: voting among answers, and a trained value model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ragkit.base import LLM, Hit, Retriever, check_k
from ragkit.loops.context import Show, cumulate, hit_text, same_text
from ragkit.loops.ircot import Chain, add_sentence, gather, ircot_prompt
from ragkit.loops.sentence import cut_to_first_sentence, mean_log_probability
from ragkit.loops.trace import Trace, check_bound
from ragkit.models.shapes import Completion

Propose: TypeAlias = Callable[[str, int], list[tuple[str, float]]]
"""``(prompt, n)`` in, at most ``n`` candidate continuations with their scores (higher is better) out."""


class Generates(Protocol):
    """A model that gives token probabilities: `ragkit.models.Local` is one."""

    def generate(self, prompt: str, **options: Any) -> Completion:
        """One call with everything the engine reports."""
        ...


def single(llm: LLM) -> Propose:
    """One candidate of score 0: any plain model as a `Propose`."""
    return lambda prompt, n: [(llm(prompt), 0.0)][:n]


def sampled(model: Generates, temperature: float = 0.8, max_tokens: int = 64) -> Propose:
    """``n`` candidates from a local model: the greedy one, then samples with the seeds 1, 2, ...; scored by their
    first sentence's mean log-probability. Deterministic, since the seeds are fixed."""

    def propose(prompt: str, n: int) -> list[tuple[str, float]]:
        found = []
        for seed in range(n):
            heat = temperature if seed else 0.0
            completion = model.generate(prompt, top=1, temperature=heat, seed=seed, max_tokens=max_tokens)
            sentence = cut_to_first_sentence(completion)
            found.append((sentence.text, mean_log_probability(sentence.tokens)))
        return found

    return propose


def mean_score(chain: Chain) -> float:
    """The score of a chain a sentence, 0 for an empty one: chains of different length compare."""
    return chain.score / len(chain.sentences) if chain.sentences else 0.0


@dataclass(frozen=True)
class BeamResult:
    """The answer of the best chain, all chains best first (answered ones before others), and the log."""

    answer: str
    chains: tuple[Chain, ...]
    trace: Trace


def beam_search(
    question: str,
    *,
    retriever: Retriever,
    propose: Propose,
    width: int = 3,
    branch: int = 2,
    k: int = 4,
    max_sentences: int = 10,
    max_paragraphs: int = 15,
    examples: str = "",
    show: Show = hit_text,
) -> BeamResult:
    """Extend the ``width`` best chains by up to ``branch`` sentences each, until ``width`` have ended or at the bound.

    Costs at most ``width`` searches and ``width * branch`` generations a round. Candidates with the same text count
    once, the best-scored one. Ties keep the order of the beam, then of the candidates. A blank question, and a
    `Propose` that proposes nothing, give no chain with an answer.
    """
    check_k(k)
    check_bound("width", width, 20)
    check_bound("branch", branch, 20)
    check_bound("max_sentences", max_sentences)
    check_bound("max_paragraphs", max_paragraphs)
    trace = Trace(limit=3 * width * branch * max_sentences + 1)
    beam = [Chain()] if question.strip() else []
    ended: list[Chain] = []
    for _ in range(max_sentences):
        grown: list[Chain] = []
        for chain in beam:
            chain = gather(question, chain, retriever, k, max_paragraphs, trace)
            for text, score in _distinct(propose(ircot_prompt(question, chain, examples, show), branch)[:branch]):
                longer = add_sentence(chain, text, score)
                shown = longer.sentences[-1] if longer.sentences else ""
                trace.add("generate", shown, score=mean_score(longer), note=longer.stopped)
                (ended if longer.stopped else grown).append(longer)
        beam = sorted(grown, key=mean_score, reverse=True)[:width]
        if not beam or sum(chain.answer is not None for chain in ended) >= width:
            break
    chains = sorted([*ended, *beam], key=lambda chain: (chain.answer is None, -mean_score(chain)))
    return BeamResult((chains[0].answer or "") if chains else "", tuple(chains), trace)


def _distinct(candidates: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Candidates with different texts, each with its best score, in order of first appearance."""
    best: dict[str, tuple[str, float]] = {}
    for text, score in candidates:
        key = same_text(text)
        if key not in best or score > best[key][1]:
            best[key] = (text, score)
    return list(best.values())


def pooled_paragraphs(chains: Sequence[Chain]) -> list[Hit]:
    """The paragraphs of several chains, each once, in the order of the chains (best first)."""
    held: list[Hit] = []
    for chain in chains:
        held = cumulate(held, chain.paragraphs, len(held) + len(chain.paragraphs))
    return held
