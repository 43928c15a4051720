"""The local model's 4-bit weights as float32 for ``transformers``, converted once and kept in the cache folder.

``transformers`` reads a GGUF file (``gguf_file=``) and undoes its quantisation, which takes about half a minute; the
result (0.54 GB) is kept under the hash of the file, with checksums, and a folder that fails them is made again. The
conversion leaves two repairs to do. ``transformers`` 5.24 reads the vocabulary but not the ``smollm`` rule that makes
every digit a token of its own (without it 12345 becomes other tokens than the model was trained on), and it refuses to
save what it loaded from such a file. Left out: other models, half precision.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import warnings
from contextlib import redirect_stderr
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ragkit.models import weights
from ragkit.models.embedding_cache import default_path
from ragkit.models.loading import network, quiet
from ragkit.models.local import NAME, SHA256, model_path

FORMAT = 1
"""Raised when what the folder holds changes its shape, so that older ones are left alone."""

FILES = ("config.json", "model.safetensors", "tokenizer.json")


def converted() -> Path:
    """The folder with the converted files, made on the first call on a machine; checked once a process."""
    return _ready(default_path().parent / f"{NAME}-{SHA256[:16]}-{FORMAT}")


@lru_cache(maxsize=2)
def _ready(folder: Path) -> Path:
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):  # of processes that start together one converts and the others wait
        if not _sound(folder):
            if folder.exists():
                warnings.warn(f"{folder} is damaged and is made again", RuntimeWarning, stacklevel=3)
                shutil.rmtree(folder)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as draft:
                _convert(Path(draft) / "model")
                (Path(draft) / "model").replace(folder)  # whole or not at all
    return folder


def _sound(folder: Path) -> bool:
    """Whether every file is there and is the one that was written."""
    try:
        sums = json.loads((folder / "sha256.json").read_text(encoding="utf-8"))
        return all(sums[name] == weights.sha256_of(folder / name) for name in FILES)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _convert(folder: Path) -> None:
    """Read the GGUF file and write the files of an ordinary model folder."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    source = model_path()
    with quiet(), network(allowed=False), redirect_stderr(io.StringIO()):  # its progress bars obey no setting
        read = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).backend_tokenizer
    settings = {key: value for key, value in read.config.to_dict().items() if key != "quantization_config"}
    plain = LlamaForCausalLM(LlamaConfig(**settings))  # a quantised model may not be saved, an ordinary one may
    plain.load_state_dict(read.state_dict())
    with quiet():
        plain.save_pretrained(folder)
    tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    tokenizer.save(str(folder / "tokenizer.json"))
    sums = {name: weights.sha256_of(folder / name) for name in FILES}
    (folder / "sha256.json").write_text(json.dumps(sums, indent=1), encoding="utf-8")


@cache
def tokenizer() -> Any:
    """The model's tokenizer; what looks like a special token in a text is read as ordinary characters."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(converted() / "tokenizer.json"))
    loaded.encode_special_tokens = True  # a passage that spells <|im_end|> must not end a turn
    return loaded


@cache
def model() -> Any:
    """The model in evaluation mode, on the processor; its weights are mapped from the file, not copied."""
    import torch
    from transformers import AutoModelForCausalLM

    with quiet(), network(allowed=False):
        loaded: Any = AutoModelForCausalLM.from_pretrained(converted(), dtype=torch.float32, local_files_only=True)
    return loaded.eval()
