"""The cell of the self-test: what it does is harmless, and none of it should work."""

from __future__ import annotations

import json
from typing import Any

CELL = """
import ctypes, glob, json, os, resource, signal, socket, threading, _thread

told = json.loads({told!r})
reading, variable, processes, tracing = told["names"]
found = []


def attempt(name, works):
    try:
        if works() and name not in found:
            found.append(name)
    except BaseException:
        pass


def holds(path):
    with open(path, "rb") as file:
        return told["word"].encode() in file.read(1 << 20)


def opens(path):
    with open(path, "rb") as file:
        return len(file.read(1)) == 1


def connect(family, address):
    with socket.socket(family) as probe:
        probe.settimeout(2)
        probe.connect(address)


def write():
    with open(told["write"], "w") as file:
        file.write("x")


def traces(pid):
    child = os.fork()
    if child == 0:
        seize = ctypes.CDLL(None).ptrace(0x4206, pid, None, None)
        os._exit(0 if seize == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def reads_memory(pid):
    with open("/proc/%d/mem" % pid, "rb"):
        return True


def multiplies():
    hold = threading.Event()
    threading.stack_size(1 << 16)
    count = 0
    try:
        for _ in range(told["most"]):
            _thread.start_new_thread(hold.wait, ())
            count += 1
    finally:
        hold.set()
    return count == told["most"]


attempt("", lambda: connect(socket.AF_INET, ("127.0.0.1", told["port"])))
attempt("", lambda: connect(socket.AF_UNIX, told["local"]))
for path in told["files"]:
    attempt(reading, lambda: opens(path))
attempt("", write)
attempt(variable, lambda: told["variable"] in os.environ)
for path in ["/proc/self/environ", "/proc/1/environ", *glob.glob("/proc/[0-9]*/environ")]:
    attempt(variable, lambda: holds(path))
for pid in {{told["process"], os.getppid()}} - {{0, 1}}:
    attempt(tracing, lambda: traces(pid))
    attempt(tracing, lambda: reads_memory(pid))
attempt(processes, multiplies)
attempt("", lambda: os.kill(told["process"], signal.SIGTERM))
print(json.dumps(found))
"""


def probe(told: dict[str, Any]) -> str:
    """The text of the cell, with what it is told written into it."""
    return CELL.format(told=json.dumps(told))
