"""Build the book: run its cells, make the pages, then try them.

    python book/_tools/build.py [--cold] [--only CHAPTER ...] [--jobs 2] [--browser | --no-browser]

The pages land in ``_build/html``; a chapter built alone with ``--only 02-hybrid`` in
``_build/only/02-hybrid/_build/html``, its links to other chapters unchecked. The exit status is not zero where a cell
raised, Sphinx warned, or a gate found something.

Cells run through jupyter-cache. Its folder is named by a hash of everything that a cell's output can depend on beside
its own page: the package with corpus and recordings, the pinned requirements and the Python version. A build that
uses the cache can therefore not hide a changed package; ``--cold`` runs every cell anyway, as CI does.

What did not change is not made or tried again: Sphinx writes the pages that changed, and a browser opens those that
it has not yet passed as they are. ``--cold`` forgets all of that too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Sequence
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
# Pages that Sphinx makes and no table of contents names.
GENERATED = ("genindex", "py-modindex", "search")
# The command line of jupyter-book, except that Sphinx reads and writes pages side by side: it has no option for that.
JUPYTER_BOOK = """
import sys, jupyter_book.sphinx
from functools import partial
jupyter_book.sphinx.build_sphinx = partial(jupyter_book.sphinx.build_sphinx, jobs=int(sys.argv.pop(1)))
from jupyter_book.cli.main import main
main()
"""


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


def page_stamp(root: Path) -> str:
    """What pages are made of besides their text and configuration, which Sphinx compares by itself: what cells run,
    and the book's own extensions."""
    digest = hashlib.sha256(fingerprint(root).encode())
    for path in sorted((root / "book" / "_ext").rglob("*")):
        if path.is_file() and not SKIPPED & set(path.parts):
            digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


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

    if waiting and (book.parent / "ragkit" / "corpus" / "__main__.py").is_file():
        _embed_once()

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


def _embed_once() -> None:
    """Embed what nearly every page searches before two pages that start together do it twice. It may take all
    processors: no page runs yet. Should it fail, a page will fail too, and say why."""
    threads = str(os.cpu_count() or 1)
    env = {**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "ragkit.corpus", "embed"], env=env, check=False, capture_output=True)
    print(f"{done.stdout.decode().strip() or 'nothing embedded'}: {time.monotonic() - started:.1f} s", flush=True)


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
    # Parsed pages hold outputs, and what the extensions made of them: they go when either changed.
    stamp, made_of = out / "built-from", page_stamp(root)
    html = out / "html"
    if cold or not stamp.is_file() or stamp.read_text(encoding="utf-8") != made_of:
        for folder in (out / ".doctrees", html):
            shutil.rmtree(folder, ignore_errors=True)
        _memory(out).unlink(missing_ok=True)
    _drop_pages(html, {*pages, *GENERATED})

    env = environment(root, jobs)
    with patch.dict(os.environ, env, clear=True):  # the kernels inherit it
        failed = run_cells(book, pages, cache_path, config, jobs)
    if failed:
        print("\n\n".join(failed), file=sys.stderr)
        print(f"\nThe cells of {len(failed)} page(s) failed; no pages were made.", file=sys.stderr)
        return 1

    out.mkdir(parents=True, exist_ok=True)
    if _jupyter_book(root, work, config, toc, cache_path, env, jobs) != 0:
        # A page that warned would not be read again, and the next build would be silent.
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
        print("jupyter-book warned or failed: see above.", file=sys.stderr)
        return 1
    stamp.write_text(made_of, encoding="utf-8")

    notebooks.write(out, book)
    elsewhere = {f"{page}.html" for page in everything} if only else set()
    wanted = browser or (browser is None and not only)
    required = bool(browser) or os.environ.get("RAGKIT_REQUIRE_ALL") == "1"
    problems = _try_pages(out, elsewhere, browser=wanted, required=required)
    for problem in problems:
        print(problem, file=sys.stderr)
    verdict = f"{len(problems)} problem(s)" if problems else "no problem found"
    print(f"{len(pages)} pages in {html}: {verdict}, {time.monotonic() - started:.0f} s")
    return 1 if problems else 0


def _jupyter_book(
    root: Path,
    work: Path,
    config: dict[str, Any],
    toc: dict[str, Any],
    cache_path: Path,
    env: dict[str, str],
    jobs: int,
) -> int:
    """Call jupyter-book on the book, warnings being errors; its exit status."""
    config = {**config, "execute": {**config.get("execute", {}), "cache": str(cache_path)}}
    sphinx = dict(config.get("sphinx", {}))
    # jupyter-book resolves these beside the configuration file, and the one it is given lies in _build.
    sphinx["local_extensions"] = {n: str(root / p) for n, p in (sphinx.get("local_extensions") or {}).items()}
    config["sphinx"] = sphinx
    (work / "_build" / "config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    (work / "_build" / "toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False, allow_unicode=True), encoding="utf-8")
    command = [sys.executable, "-c", JUPYTER_BOOK, str(jobs), "build", str(root / "book")]
    command += ["--config", str(work / "_build" / "config.yml"), "--toc", str(work / "_build" / "toc.yml")]
    command += ["--path-output", str(work), "-W", "--keep-going", "-q"]
    return subprocess.run(command, env=env, check=False).returncode


def _drop_pages(html: Path, pages: Collection[str]) -> None:
    """Delete the pages of an earlier build that the table of contents names no more: Sphinx would let them linger."""
    for path, page in gates.pages_of(html).items():
        if page.name.removesuffix(".html") not in pages:
            path.unlink()


def _memory(out: Path) -> Path:
    """Where the pages that passed are remembered: by the state of each, and of the folder with all of them."""
    return out / "tried.json"


def _try_pages(out: Path, elsewhere: Collection[str], *, browser: bool, required: bool) -> list[str]:
    """The problems of the pages. What passed before as it is now is not tried again."""
    html, memory = out / "html", _memory(out)
    import browser as look

    why = look.unavailable() if browser else "not wanted"
    if why is not None and browser:
        if required:
            return [*gates.check(html, elsewhere), f"browser: {why}"]
        print(f"The pages were NOT tried in a browser: {why}.", file=sys.stderr)
    passed = _remembered(memory) if memory.is_file() else {}
    whole = _hash_of(html, Path(gates.__file__), Path(look.__file__), note=f"{sorted(elsewhere)} {why is None}")
    if passed.get("whole") == whole:
        return []
    problems, states = gates.inspect(html, elsewhere)
    tools = _hash_of(Path(gates.__file__), Path(look.__file__))
    known = passed.get("pages", {}) if passed.get("tools") == tools else {}
    if why is None:
        shown = {path.relative_to(html).as_posix() for path in look.html_pages(html)}
        problems += look.check(html, sorted(name for name in shown if known.get(name) != states.get(name)))
        known = states
    if problems:
        memory.unlink(missing_ok=True)
    else:
        memory.write_text(json.dumps({"whole": whole, "tools": tools, "pages": known}), encoding="utf-8")
    return problems


def _remembered(memory: Path) -> dict[str, Any]:
    try:
        found = json.loads(memory.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _hash_of(*paths: Path, note: str = "") -> str:
    """One hash of files and of folders with all that is in them."""
    digest = hashlib.sha256(note.encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"\0{file.relative_to(path.parent).as_posix()}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


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
