"""What a cached prefix saves: the time to read a long document once, and again under another question.

The technique is prefix caching: the keys and values of a prompt's first tokens are kept, and a later prompt that
begins with the same tokens computes only the rest (vLLM's automatic prefix caching, SGLang's RadixAttention; here
llama.cpp's own). A document of about 1,500 tokens comes first and the question last, since one changed token spoils
everything behind it; a last row shows that, with the question first. Left out: what hosted providers charge, which
``ragkit.systems`` works out, and the quality of the answers.

    python benchmarks/prefix_cache.py --questions 5
"""

from __future__ import annotations

import argparse
import statistics

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ragkit.models import Completion, Local

QUESTIONS = [
    "Which product does the document name first?",
    "How long is the warranty?",
    "Who may open the casing?",
    "What is sent with a return?",
    "On which days does the service desk answer?",
    "Which part wears out first?",
    "When does the warranty begin?",
    "What does the second section say?",
]


def document(tokens: int) -> str:
    """An invented manual of about ``tokens`` tokens, no two sections alike."""
    sections: list[str] = []
    for number in range(1, max(2, tokens // 42) + 1):
        sections.append(
            f"Section {number}. Part {number * 7 % 97} of the kettle is checked after {number * 11 % 53 + 1} weeks of "
            f"use; where it has lost more than {number % 9 + 1} grams it is sent in with form {number * 13 % 71}."
        )
    return "\n".join(sections)


def read(llm: Local, prompt: str, reuse: bool) -> Completion:
    """One call that writes a single token, so that its time is the time to read the prompt."""
    return llm.generate(prompt, max_tokens=1, top=None, reuse_prefix=reuse)


def measure(llm: Local, text: str, questions: list[str]) -> dict[str, list[Completion]]:
    """The calls of each row: prefix read afresh, prefix reused, and the question put before the document."""
    rows: dict[str, list[Completion]] = {"document first, read afresh": [], "document first, prefix reused": []}
    for question in track(questions, "reading afresh", console=Console(stderr=True)):
        rows["document first, read afresh"].append(read(llm, f"{text}\n\n{question}", reuse=False))
    read(llm, text, reuse=True)  # fills the cache; the first reader of a prefix pays for it
    for question in questions:
        rows["document first, prefix reused"].append(read(llm, f"{text}\n\n{question}", reuse=True))
    rows["question first, prefix lost"] = [
        read(llm, f"{question}\n\n{text}", reuse=True)
        for question in track(questions, "question first", console=Console(stderr=True))
    ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Time to read a prompt with and without a cached prefix.")
    parser.add_argument("--tokens", type=int, default=1500, help="length of the shared prefix, about")
    parser.add_argument("--questions", type=int, default=5, choices=range(1, len(QUESTIONS) + 1))
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    if options.tokens < 1:
        parser.error("--tokens must be at least 1")
    llm = Local(threads=options.threads)
    read(llm, "Hello.", reuse=False)  # loads the weights
    rows = measure(llm, document(options.tokens), QUESTIONS[: options.questions])
    base = statistics.median(call.prompt_ms or 0.0 for call in rows["document first, read afresh"])
    table = Table(title=f"Reading a prompt with {llm.name}: medians of {options.questions} questions (135M, run)")
    for heading in ("prompt", "tokens", "reused", "ms to read", "times faster"):
        table.add_column(heading, justify="left" if heading == "prompt" else "right")
    for name, calls in rows.items():
        tokens = statistics.median(call.prompt_tokens for call in calls)
        cached = statistics.median(call.cached_tokens for call in calls)
        ms = statistics.median(call.prompt_ms or 0.0 for call in calls)
        table.add_row(name, f"{tokens:,.0f}", f"{cached:,.0f}", f"{ms:,.0f}", f"{base / ms:.1f}" if ms else "-")
    Console().print(table)


if __name__ == "__main__":
    main()
