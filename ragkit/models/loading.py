"""Loading a model's files without asking the network for them, and without a progress bar in a page of the book.

Left out: anything about a particular model; ``embed.py``, ``likelihood.py`` and the cross-encoders load through this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def network(allowed: bool) -> Iterator[None]:
    """Keep the model hub's client offline while a local model loads, and leave its settings as they were.

    The client reads ``HF_HUB_OFFLINE`` once, when it is imported, so the constant it keeps is set beside it.
    """
    if allowed:
        yield
        return
    from huggingface_hub import constants

    kept, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = kept
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before


@contextmanager
def quiet() -> Iterator[None]:
    """Load without a progress bar: it would be written into every page that embeds something."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
