"""Build the book: run its cells, make the pages, then try them.

    python book/_tools/build.py [--cold] [--only CHAPTER ...] [--jobs 2] [--browser | --no-browser]

The pages land in ``_build/html``; a chapter built alone with ``--only 02-hybrid`` in
``_build/only/02-hybrid/_build/html``, its links to other chapters unchecked. The exit status is not zero where a cell
raised, Sphinx warned, or a gate found something.

Cells run through jupyter-cache. Its folder is named by a hash of everything that a cell's output can depend on beside
its own page: the package with corpus and recordings, the pinned requirements and the Python version. A build that
uses the cache can therefore not hide a changed package; ``--cold`` runs every cell anyway, as CI does.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

sys.path.insert(0, str(Path(__file__).parent))
import gates
import notebooks

ROOT = Path(__file__).resolve().parents[2]
# A kernel warns on every start that loopback is not encrypted.
QUIET = ["--IPKernelApp.log_level=40"]
SKIPPED = {"__pycache__", ".ipynb_checkpoints"}


def fingerprint(root: Path) -> str:
    """A short hash of what cells run besides their own text: the package (code, corpus, recordings), the grader, the
    requirements and the Python version."""
    digest = hashlib.sha256(f"{platform.python_implementation()} {platform.python_version()}".encode())
    code = (path for folder in ("ragkit", "grading") for path in sorted((root / folder).rglob("*")))
    files = [*sorted(root.glob("requirements*.txt")), *code]
    for path in files:
        if path.is_file() and not SKIPPED & set(path.parts):
            digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def environment(root: Path, jobs: int) -> dict[str, str]:
    """What the kernels see. A hosted model in the reader's environment must not answer for a page."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("RAGKIT_") or k == "RAGKIT_REQUIRE_ALL"}
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    env |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    env |= {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONHASHSEED": "0"}
    # More threads of the language model than free processors slow it down a hundredfold.
    env |= {"RAGKIT_CACHE": str(root / "_build" / "embeddings"), "RAGKIT_THREADS": threads}
    # A page has no kernel: an explorer shows what a script can bring to life, and no ipywidgets.
    env |= {"RAGKIT_BOOK": "1"}
    # Jupyter warns about its own paths otherwise, and a warning fails the build.
    env |= {"JUPYTER_PLATFORM_DIRS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    return env


def toc_pages(toc: dict[str, Any]) -> list[str]:
    """The page names of a table of contents, the root first.

    >>> toc_pages({"root": "index", "parts": [{"chapters": [{"file": "a", "sections": [{"file": "b"}]}]}]})
    ['index', 'a', 'b']
    """

    def below(entries: Iterable[dict[str, Any]]) -> list[str]:
        return [page for entry in entries for page in (entry["file"], *below(entry.get("sections", [])))]

    return [toc["root"], *(page for group in [*toc.get("parts", []), toc] for page in below(group.get("chapters", [])))]


def source_of(book: Path, page: str) -> Path:
    """The file of a page; ``FileNotFoundError`` where the table of contents names one that is not there."""
    for suffix in ("", ".md", ".ipynb"):
        if (path := book / f"{page}{suffix}").is_file():
            return path
    raise FileNotFoundError(f"_toc.yml names {page}, but {book} holds no such page")


def run_cells(book: Path, pages: Iterable[str], cache_path: Path, config: dict[str, Any], jobs: int) -> list[str]:
    """Run the pages that the cache does not hold, ``jobs`` at a time, and return one message a failed page.

    jupyter-book would run them one after another. The notebook is read and stored exactly as myst-nb does, so that
    Sphinx finds it afterwards.
    """
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn
    from jupyter_cache.executors.utils import single_nb_execution
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    md_config = MdParserConfig(enable_extensions=set(config.get("parse", {}).get("myst_enable_extensions", [])))
    cache = get_cache(str(cache_path))
    waiting: list[tuple[str, Path, Any]] = []
    for page in pages:
        path = source_of(book, page)
        text = path.read_text(encoding="utf-8")
        reader = create_nb_reader(str(path), md_config, NbParserConfig(), text)
        if reader is None:
            continue
        notebook = reader.read(text)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            waiting.append((page, path, notebook))

    def run(job: tuple[str, Path, Any]) -> tuple[Path, Any]:
        page, path, notebook = job
        timeout = config.get("execute", {}).get("timeout", 900)
        result = single_nb_execution(
            notebook, cwd=str(path.parent), timeout=timeout, allow_errors=False, extra_arguments=QUIET
        )
        print(f"ran {page} in {result.time:.1f} s{'' if result.err is None else ': FAILED'}", flush=True)
        return path, result

    failed = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for path, result in pool.map(run, waiting):
            if result.err is not None:
                failed.append(f"{path.name}: {_plain(str(result.err)).strip()}")
                continue
            bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return failed


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def build(root: Path, cold: bool = False, only: Sequence[str] = (), jobs: int = 2, browser: bool | None = None) -> int:
    """Build and try the book under ``root``; returns the exit status. ``browser=None`` uses one where there is one."""
    started = time.monotonic()
    book = root / "book"
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    everything = toc_pages(toc)
    if only:
        toc, config = _one_chapter(everything, [_page_named(everything, name) for name in only], config)
    # jupyter-book puts its _build in here. A chapter built alone shares nothing that two authors could fight over.
    work = root / "_build" / "only" / toc["root"] if only else root
    out = work / "_build"
    pages = toc_pages(toc)
    for page in pages:
        source_of(book, page)

    key = fingerprint(root)
    cache_path = out / "cells" / key
    if cold:
        shutil.rmtree(cache_path, ignore_errors=True)
    _forget_old_caches(cache_path)
    # Sphinx writes again whatever is missing, so a page that left the table of contents cannot linger. Its parsed
    # pages hold outputs: they go when the package changed.
    shutil.rmtree(out / "html", ignore_errors=True)
    stamp = out / "built-from"
    if cold or not stamp.is_file() or stamp.read_text(encoding="utf-8") != key:
        shutil.rmtree(out / ".doctrees", ignore_errors=True)

    env = environment(root, jobs)
    with patch.dict(os.environ, env, clear=True):  # the kernels inherit it
        failed = run_cells(book, pages, cache_path, config, jobs)
    if failed:
        print("\n\n".join(failed), file=sys.stderr)
        print(f"\nThe cells of {len(failed)} page(s) failed; no pages were made.", file=sys.stderr)
        return 1

    html = out / "html"
    out.mkdir(parents=True, exist_ok=True)
    if _jupyter_book(root, work, config, toc, cache_path, env) != 0:
        # A page that warned would not be read again, and the next build would be silent.
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
        print("jupyter-book warned or failed: see above.", file=sys.stderr)
        return 1
    stamp.write_text(key, encoding="utf-8")

    notebooks.write(out, book)
    elsewhere = {f"{page}.html" for page in everything} if only else set()
    problems = gates.check(html, elsewhere=elsewhere)
    if browser or (browser is None and not only):
        problems += _browser_gate(html, required=bool(browser) or os.environ.get("RAGKIT_REQUIRE_ALL") == "1")
    for problem in problems:
        print(problem, file=sys.stderr)
    verdict = f"{len(problems)} problem(s)" if problems else "no problem found"
    print(f"{len(pages)} pages in {html}: {verdict}, {time.monotonic() - started:.0f} s")
    return 1 if problems else 0


def _jupyter_book(
    root: Path, work: Path, config: dict[str, Any], toc: dict[str, Any], cache_path: Path, env: dict[str, str]
) -> int:
    """Call jupyter-book on the book, warnings being errors; its exit status."""
    config = {**config, "execute": {**config.get("execute", {}), "cache": str(cache_path)}}
    sphinx = dict(config.get("sphinx", {}))
    # jupyter-book resolves these beside the configuration file, and the one it is given lies in _build.
    sphinx["local_extensions"] = {n: str(root / p) for n, p in (sphinx.get("local_extensions") or {}).items()}
    config["sphinx"] = sphinx
    (work / "_build" / "config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    (work / "_build" / "toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(root / "book")]
    command += ["--config", str(work / "_build" / "config.yml"), "--toc", str(work / "_build" / "toc.yml")]
    command += ["--path-output", str(work), "-W", "--keep-going", "-q"]
    return subprocess.run(command, env=env, check=False).returncode


def _page_named(pages: Sequence[str], name: str) -> str:
    """A page by its name, its number or its file: ``02-hybrid``, ``02`` or ``book/02-hybrid.md``.

    >>> _page_named(["index", "02-hybrid"], "02"), _page_named(["index", "02-hybrid"], "book/02-hybrid.md")
    ('02-hybrid', '02-hybrid')
    """
    stem = Path(name).stem
    found = [page for page in pages if page == stem or page.startswith(f"{stem}-")]
    return found[0] if len(found) == 1 else stem


def _one_chapter(
    everything: Sequence[str], wanted: Sequence[str], config: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table of contents of the wanted pages and of what they refer to; links to the other chapters stay unchecked."""
    around = [page for page in ("symbols", "references") if page in everything and page not in wanted]
    toc = {"format": "jb-book", "root": wanted[0], "chapters": [{"file": p} for p in [*wanted[1:], *around]]}
    sphinx = dict(config.get("sphinx", {}))
    sphinx["config"] = {
        **sphinx.get("config", {}),
        "suppress_warnings": ["myst.xref_missing", "ref.ref", "ref.doc", "ref.numref"],
    }
    return toc, {**config, "sphinx": sphinx}


def _forget_old_caches(current: Path, days: int = 7) -> None:
    """Drop the cells of states of the package that nobody built for a week; a younger one may be in use."""
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    for path in current.parent.iterdir():
        if path.stat().st_mtime < time.time() - days * 86_400:
            shutil.rmtree(path, ignore_errors=True)


def _browser_gate(html: Path, required: bool) -> list[str]:
    import browser

    if (why := browser.unavailable()) is not None:
        if required:
            return [f"browser: {why}"]
        print(f"The pages were NOT tried in a browser: {why}.", file=sys.stderr)
        return []
    return browser.check(html)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cold", action="store_true", help="run every cell, whatever the cache holds")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="CHAPTER", help="build these pages alone, e.g. 02-hybrid"
    )
    parser.add_argument("--jobs", type=int, default=2, help="pages whose cells run at the same time (default 2)")
    parser.add_argument("--root", type=Path, default=ROOT, help="folder of _config.yml, _toc.yml and book/")
    parser.add_argument(
        "--browser", action=argparse.BooleanOptionalAction, help="insist on the browser gate, or leave it out"
    )
    args = parser.parse_args(argv)
    if args.jobs < 1:
        parser.error("--jobs must be at least 1")
    return build(args.root.resolve(), args.cold, args.only, args.jobs, args.browser)


if __name__ == "__main__":
    raise SystemExit(main())
