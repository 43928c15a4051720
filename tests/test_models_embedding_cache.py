"""The embedding cache: never a wrong vector, whatever changed, broke, or wrote at the same time."""

from __future__ import annotations

import hashlib
import multiprocessing
import sqlite3
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragkit.models import EmbeddingCache
from ragkit.models import embedding_cache as module
from ragkit.models.embedding_cache import default_path


class Fake:
    """An embedder whose vector is a hash of the text, and that remembers what it was asked."""

    def __init__(self, salt: str = "", width: int = 4) -> None:
        self.asked: list[str] = []
        self.salt, self.width = salt, width

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = [hashlib.sha256((self.salt + t).encode("utf-8", "surrogatepass")).digest() for t in texts]
        raw = np.array([list(row[: self.width]) for row in rows], dtype=np.float32).reshape(-1, self.width) + 1
        return raw / np.linalg.norm(raw, axis=1, keepdims=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.text(max_size=3), max_size=6), max_size=5))
def test_the_cache_gives_what_the_model_gives_and_asks_it_once_for_each_text(calls: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fake = Fake()
        cache = EmbeddingCache(fake, Path(folder) / "c.sqlite", "v1")
        for texts in calls:
            got = cache(texts)
            np.testing.assert_array_equal(got, Fake()(texts))
            assert got.dtype == np.float32
            assert got.shape == (len(texts), 4)
        everything = [text for texts in calls for text in texts]
        assert sorted(fake.asked) == sorted(set(everything))
        assert (cache.misses, cache.hits) == (len(set(everything)), len(everything) - len(set(everything)))


def test_another_object_on_the_same_file_needs_no_model(tmp_path: Path) -> None:
    EmbeddingCache(Fake(), tmp_path / "c.sqlite", "v1")(["a", "b"])
    again = EmbeddingCache(lambda texts: pytest.fail(f"asked for {texts}"), tmp_path / "c.sqlite", "v1")
    np.testing.assert_array_equal(again(["b", "a", "b"]), Fake()(["b", "a", "b"]))
    assert (again.hits, again.misses) == (3, 0)


def test_a_changed_model_version_misses_everything_and_the_old_one_still_hits(tmp_path: Path) -> None:
    old, new = Fake("old"), Fake("new")
    EmbeddingCache(old, tmp_path / "c.sqlite", "v1")(["a", "b"])
    cache = EmbeddingCache(new, tmp_path / "c.sqlite", "v2")
    np.testing.assert_array_equal(cache(["a", "b"]), Fake("new")(["a", "b"]))
    assert (cache.hits, cache.misses) == (0, 2)
    back = EmbeddingCache(Fake("never"), tmp_path / "c.sqlite", "v1")
    np.testing.assert_array_equal(back(["a"]), Fake("old")(["a"]))


def test_texts_that_differ_in_one_character_are_different(tmp_path: Path) -> None:
    cache = EmbeddingCache(Fake(), tmp_path / "c.sqlite", "v1")
    cache(["Order 12345"])
    cache(["Order 12346", "order 12345", "Order 12345 ", "Order 12345\n"])
    assert (cache.hits, cache.misses) == (0, 5)


@pytest.mark.parametrize("damage", ["not sqlite", "cut short", "scribbled over", "another table"])
def test_a_damaged_file_is_rebuilt_with_a_warning_and_never_wrong(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "c.sqlite"
    texts = [f"text {i}" for i in range(400)]
    EmbeddingCache(Fake(width=16), path, "v1")(texts)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    whole = path.read_bytes()
    match damage:
        case "not sqlite":
            path.write_bytes(b"these are no vectors" * 100)
        case "cut short":
            path.write_bytes(whole[: len(whole) // 2])
        case "scribbled over":
            path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        case "another table":
            path.unlink()
            with sqlite3.connect(path) as db:
                db.execute("CREATE TABLE vectors (a, b)")
            db.close()
    cache = EmbeddingCache(Fake(width=16), path, "v1")
    with pytest.warns(RuntimeWarning, match="is damaged"):
        got = cache(texts)
    np.testing.assert_array_equal(got, Fake(width=16)(texts))
    assert cache.misses == 400
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(cache(texts), got)
    assert cache.hits == 400


def test_a_vector_changed_on_disk_is_found_out_and_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    EmbeddingCache(Fake(), path, "v1")(["a", "b"])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET vector = zeroblob(16) WHERE content = ?", (hashlib.sha256(b"a").digest(),))
    db.close()
    cache = EmbeddingCache(Fake(), path, "v1")
    with pytest.warns(RuntimeWarning, match="1 damaged vectors"):
        np.testing.assert_array_equal(cache(["a", "b"]), Fake()(["a", "b"]))
    assert (cache.hits, cache.misses) == (1, 1)
    np.testing.assert_array_equal(cache(["a"]), Fake()(["a"]))


def write_shared(path: str, start: int) -> int:
    cache = EmbeddingCache(Fake(), path, "v1")
    for i in range(start, start + 15):
        texts = [f"text {i}", f"text {i + 1}"]
        np.testing.assert_array_equal(cache(texts), Fake()(texts))
    return cache.misses


@pytest.mark.parametrize("damaged", [False, True])
def test_several_processes_share_one_file(tmp_path: Path, damaged: bool) -> None:
    path = tmp_path / "c.sqlite"
    if damaged:
        path.write_bytes(b"no cache" * 1000)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        misses = pool.starmap(write_shared, [(str(path), start) for start in (0, 0, 10)])
    assert sum(misses) >= 26
    cache = EmbeddingCache(lambda texts: pytest.fail(f"lost {texts}"), path, "v1")
    texts = [f"text {i}" for i in range(26)]
    if not damaged:  # a rebuild may drop what another process wrote a moment before; it is then computed again
        np.testing.assert_array_equal(cache(texts), Fake()(texts))
    else:
        np.testing.assert_array_equal(EmbeddingCache(Fake(), path, "v1")(texts), Fake()(texts))


def test_a_process_that_comes_late_to_a_damaged_file_keeps_the_rebuilt_one(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    first = EmbeddingCache(Fake(), path, "v1")
    first(["a"])
    late = EmbeddingCache(lambda texts: pytest.fail("the rebuilt file was dropped"), path, "v1")
    late._rebuild(sqlite3.DatabaseError("seen before the first process mended it"))
    np.testing.assert_array_equal(late(["a"]), Fake()(["a"]))


def test_a_long_job_keeps_what_it_did_before_it_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 2)

    def breaks(texts: list[str]) -> NDArray[np.float32]:
        if "c" in texts:
            raise KeyboardInterrupt
        return Fake()(texts)

    with pytest.raises(KeyboardInterrupt):
        EmbeddingCache(breaks, tmp_path / "c.sqlite", "v1")(["a", "b", "c"])
    cache = EmbeddingCache(Fake(), tmp_path / "c.sqlite", "v1")
    cache(["a", "b", "c"])
    assert (cache.hits, cache.misses) == (2, 1)


def test_more_texts_than_sqlite_takes_in_one_question(tmp_path: Path) -> None:
    texts = [str(i) for i in range(1200)]
    cache = EmbeddingCache(Fake(), tmp_path / "c.sqlite", "v1")
    np.testing.assert_array_equal(cache(texts), cache(texts))
    assert cache.hits == 1200


@pytest.mark.parametrize("bad", ["text", None, [1]])
def test_texts_are_checked_before_they_are_hashed(tmp_path: Path, bad: Any) -> None:
    with pytest.raises(ValueError, match="texts"):
        EmbeddingCache(Fake(), tmp_path / "c.sqlite", "v1")(bad)


def test_bad_arguments_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="model must be"):
        EmbeddingCache(Fake(), tmp_path / "c", "")
    with pytest.raises(ValueError, match="embed must be"):
        EmbeddingCache(None, tmp_path / "c", "v")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one row a text"):
        EmbeddingCache(lambda texts: np.zeros((1, 3), np.float32), tmp_path / "c", "v")(["a", "b"])


def test_the_folder_comes_from_the_environment_else_from_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "deep" / "er"))
    assert default_path() == tmp_path / "deep" / "er" / "embeddings.sqlite"
    EmbeddingCache(Fake(), default_path(), "v1")(["a"])
    assert default_path().exists()
    monkeypatch.delenv("RAGKIT_CACHE")
    assert default_path().parent.name == "ragkit"
