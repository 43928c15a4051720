"""What every technique does to text first: words, stems, sentences, word pieces, prompts, answers, hashes.

- ``words.py``: ``tokenize`` with Lucene's rules, and codes kept whole; ``word_spans``
- ``stemming.py``: Porter's stem of a word
- ``splitting.py``: sentences, by rules that one can read
- ``pieces.py``: MiniLM's word pieces, the course's unit of length and price
- ``templates.py``: filling a prompt without reading what is inserted
- ``normal.py``: the normal form of an answer, and the hash of a text

Left out: word segmentation for Thai, Lao and Khmer, language detection, and a trained sentence model.
"""

from ragkit.text.normal import content_hash, normalize_answer
from ragkit.text.pieces import count_tokens, token_spans
from ragkit.text.splitting import sentence_spans, sentences
from ragkit.text.stemming import stem
from ragkit.text.templates import fill
from ragkit.text.words import LUCENE_STOP_WORDS, tokenize, word_spans

__all__ = [
    "LUCENE_STOP_WORDS",
    "content_hash",
    "count_tokens",
    "fill",
    "normalize_answer",
    "sentence_spans",
    "sentences",
    "stem",
    "token_spans",
    "tokenize",
    "word_spans",
]
