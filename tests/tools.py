"""What several test files share: tools of the machine that may be missing, and a command without a network.

On a reader's machine a test whose tool is missing is skipped, visibly. Under CI the same skip would hide a gate, so
``RAGKIT_REQUIRE_ALL=1`` turns it into a failure.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest


def missing(what: str) -> None:
    """Skip the running test because ``what`` is not on this machine, or fail it where everything is required."""
    if os.environ.get("RAGKIT_REQUIRE_ALL") == "1":
        pytest.fail(f"{what} is missing, and RAGKIT_REQUIRE_ALL=1 says that it must not be")
    pytest.skip(f"{what} is missing on this machine")


def without_network(command: list[str]) -> list[str]:
    """The command line that runs ``command`` on this file system with no network but loopback."""
    return ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--", *command]


@functools.cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed and this user may make namespaces with it."""
    if not shutil.which("bwrap"):
        return False
    return subprocess.run(without_network(["true"]), capture_output=True, check=False).returncode == 0


def need_bubblewrap() -> None:
    if not bubblewrap_works():
        missing("a working bubblewrap")


def chromium() -> str:
    """Path of Chromium; skips or fails where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    missing("Chromium")
    raise AssertionError("unreachable")
