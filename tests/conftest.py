"""Fixtures for every test file."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of benchmark files; tests that need it skip where it is absent."""
    named = os.environ.get("RAGKIT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[1].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no benchmark data at {folder} (set RAGKIT_DATA)")
    return folder
