"""Reference implementations for the course *Advanced RAG: a course you can run*.

One technique a file. Floors only look down: ``text``, ``chunk``, ``metrics``, ``datasets``, ``models`` and
``corpus`` at the bottom, then ``search``, then ``query`` and ``index``, then ``graph``, then ``systems``.
"""

from ragkit.base import LLM, ChatLLM, Embedder, Hit, Message, Passage, Retriever

__all__ = ["LLM", "ChatLLM", "Embedder", "Hit", "Message", "Passage", "Retriever"]
__version__ = "0.1.0"
