"""Entities, relations and claims from one passage, as GraphRAG extracts them (Edge et al., 2024, section 2.2).

The model writes tuple records, ``(entity<|>name<|>type<|>description)``, joined by ``##`` and closed by
``<|COMPLETE|>``; "gleaning" asks again for what it missed. The wording is ours; the record format and the loop
are those of the authors' code, but for one slip: completions of a gleaning round are joined with an explicit ``##``,
since otherwise the last record of one and the first of the next are glued and lost. ``records`` reads the result.

Left out: examples in the prompt (a large model needs none, a small one copies them) and coreference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragkit.base import LLM, Passage
from ragkit.graph.records import RECORD, Claim, Entity, Extraction, Fault, Relation, parse
from ragkit.text import fill

__all__ = [
    "Claim",
    "Entity",
    "Extraction",
    "Fault",
    "Relation",
    "completion",
    "continue_prompt",
    "extract",
    "extract_all",
    "extraction_prompt",
    "loop_prompt",
    "parse",
]

TYPES = ("person", "organisation", "place", "product", "event", "document", "concept")

PROMPT = """\
List the things that the passage names and how they are related. Use only what the passage says.

One record for each thing:
(entity<|>name<|>type<|>what the passage says about it)
One record for each related pair:
(relation<|>source name<|>target name<|>how they are related<|>strength from 1 to 10)
${claims}
Types: ${types}.
Put ## between records and <|COMPLETE|> after the last. Write nothing else.

Passage:
${passage}
"""
CLAIM_LINES = """\
One record for each statement of fact about a thing:
(claim<|>subject name<|>object name or NONE<|>kind<|>TRUE, FALSE or SUSPECTED<|>start date<|>end date<|>statement)
"""
CONTINUE = "Some things or relations in the passage were left out. Add the missing records, in the same format."
LOOP = "Are there things or relations in the passage that still have no record? Answer Y or N."


def extraction_prompt(passage_text: str, claims: bool = False, types: Sequence[str] = TYPES) -> str:
    """The prompt for one passage; with ``claims`` it also asks for statements of fact."""
    return fill(PROMPT, claims=CLAIM_LINES if claims else "", types=", ".join(types), passage=passage_text)


def continue_prompt(prompt: str, completion: str) -> str:
    """The gleaning prompt: the first prompt, what was answered so far, and the request for more."""
    return f"{prompt}\n{completion}\n\n{CONTINUE}\n"


def loop_prompt(prompt: str, completion: str) -> str:
    """The question whether another gleaning is worth a call; only the answer "Y" is taken as a yes."""
    return f"{prompt}\n{completion}\n\n{LOOP}\n"


def completion(passage_text: str, llm: LLM, max_gleanings: int = 0, claims: bool = False) -> str:
    """Ask, then glean up to ``max_gleanings`` times; the pieces joined by the record separator.

    After the last gleaning nothing can follow, so the Y/N call is skipped there: one gleaning costs two calls
    in all, two gleanings at most four. GraphRAG's default is one gleaning; here none, one call a passage.
    """
    if max_gleanings < 0:
        raise ValueError(f"max_gleanings must be at least 0, got {max_gleanings}")
    prompt = extraction_prompt(passage_text, claims)
    pieces = [llm(prompt)]
    for left in range(max_gleanings - 1, -1, -1):
        so_far = _join(pieces)
        pieces.append(llm(continue_prompt(prompt, so_far)))
        if left and llm(loop_prompt(prompt, _join(pieces))).strip() != "Y":
            break
    return _join(pieces)


def _join(pieces: Sequence[str]) -> str:
    return f"\n{RECORD}\n".join(pieces)


def extract(passage_text: str, llm: LLM, max_gleanings: int = 0, claims: bool = False) -> Extraction:
    """Extract from one passage. A blank passage gives an empty extraction and costs no call."""
    if not passage_text.strip():
        return Extraction()
    return parse(completion(passage_text, llm, max_gleanings, claims))


def extract_all(
    passages: Iterable[Passage], llm: LLM, max_gleanings: int = 0, claims: bool = False
) -> dict[str, Extraction]:
    """Passage id -> its extraction, from the passage's full text (title and text), in order."""
    return {p.id: extract(p.full_text, llm, max_gleanings, claims) for p in passages}
