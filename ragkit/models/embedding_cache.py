"""Embeddings kept on disk: a text is embedded once for each version of the model, whoever asks and in whatever order.

The key is the sha256 of the text together with the model's version, so a new model misses everything and an edited
text misses alone (the rule of content-addressed build caches, such as Bazel's action cache). SQLite in write-ahead
mode lets many processes read and write one file, as chapters that build side by side do; the folder must be on a local
disk, since that mode does not work over a network file system. Every row carries a checksum. Left out: eviction. A
file that grew too large can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import warnings
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.base import Embedder

BATCH = 512
"""Texts embedded before they are written, so that an interrupted run keeps what it did."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, content BLOB NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (model, content)
) WITHOUT ROWID
"""


def default_path() -> Path:
    """``embeddings.sqlite`` in ``RAGKIT_CACHE``, else in the platform's folder for a user's caches."""
    folder = os.environ.get("RAGKIT_CACHE", "").strip()
    if folder:
        return Path(folder).expanduser() / "embeddings.sqlite"
    import platformdirs

    return Path(platformdirs.user_cache_dir("ragkit", appauthor=False)) / "embeddings.sqlite"


class EmbeddingCache:
    """An ``Embedder`` that asks ``embed`` only for texts it has not seen under this ``model`` version.

    ``path`` is the file to keep vectors in, made where it is absent; ``model`` names the version of the model, and any
    change of it misses everything. ``hits`` counts texts answered without the model (repeats within one call among
    them), ``misses`` the texts embedded. A damaged file or row is dropped with a warning and computed again. A cached
    vector is bit for bit the one that was computed first.
    """

    def __init__(self, embed: Embedder, path: str | Path, model: str) -> None:
        if not callable(embed):
            raise ValueError(f"embed must be a callable, got {type(embed).__name__}")
        if not isinstance(model, str) or not model:
            raise ValueError(f"model must be a non-empty str that names a version, got {model!r}")
        self.embed, self.path, self.model = embed, Path(path), model
        self.hits = self.misses = 0
        self._lock = threading.Lock()

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """``(n, d)`` float32, one row a text in the order given; ``(0, d)`` for none."""
        from ragkit.models.embed import check_texts

        check_texts(texts)
        if not texts:
            return self.embed([])
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        found = self._read(sorted(set(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        pending = list(missing.items())
        for start in range(0, len(pending), BATCH):
            part = pending[start : start + BATCH]
            rows = np.asarray(self.embed([text for _, text in part]), dtype=np.float32)
            if rows.ndim != 2 or len(rows) != len(part):
                raise ValueError(f"embed must give one row a text, got shape {rows.shape} for {len(part)} texts")
            computed = dict(zip([key for key, _ in part], rows, strict=True))
            self._write(computed)
            found |= computed
        with self._lock:
            self.misses += len(missing)
            self.hits += len(texts) - len(missing)
        return np.stack([found[key] for key in keys])

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that the file holds for these keys, each checked."""
        found: dict[bytes, NDArray[np.float32]] = {}
        damaged = 0
        rows: list[tuple[bytes, bytes, int]] = []
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            question = f"SELECT content, vector, checksum FROM vectors WHERE model = ? AND content IN ({marks})"
            rows += self._do(lambda db, q=question, p=part: db.execute(q, (self.model, *p)).fetchall())
        for key, blob, checksum in rows:
            if not isinstance(blob, bytes) or len(blob) % 4 or not blob or _checksum(key, blob) != checksum:
                damaged += 1
                continue
            found[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
        if damaged:
            warnings.warn(f"{damaged} damaged vectors in {self.path} are computed again", RuntimeWarning, stacklevel=3)
        return found

    def _write(self, rows: dict[bytes, NDArray[np.float32]]) -> None:
        blobs = [(key, row.astype("<f4").tobytes()) for key, row in rows.items()]
        values = [(self.model, key, blob, _checksum(key, blob)) for key, blob in blobs]

        def store(db: sqlite3.Connection) -> None:
            with db:
                db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", values)

        self._do(store)

    def _do(self, action: Any) -> Any:
        """Run ``action`` on a connection of its own (safe across threads and forks); rebuild a damaged file once."""
        try:
            with closing(self._connect()) as db:
                return action(db)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise  # locked, read-only, disk full: the file itself is sound
            self._rebuild(error)
        with closing(self._connect()) as db:
            return action(db)

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, timeout=60)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(_SCHEMA)
            columns = [row[1] for row in db.execute("PRAGMA table_info(vectors)")]
            if columns != ["model", "content", "vector", "checksum"]:
                raise sqlite3.DatabaseError(f"the table has the columns {columns}")
        except BaseException:
            db.close()
            raise
        return db

    def _rebuild(self, error: Exception) -> None:
        """Drop a damaged file. Under a lock, and only if it is still damaged: another process may have been first."""
        from filelock import FileLock

        with FileLock(f"{self.path}.lock"):
            try:
                with closing(self._connect()) as db:
                    sound = db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            except sqlite3.DatabaseError:
                sound = False
            if sound:
                return
            warnings.warn(f"{self.path} is damaged ({error}) and is built again", RuntimeWarning, stacklevel=4)
            for suffix in ("-wal", "-shm", ""):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)


def _checksum(key: bytes, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(key))
