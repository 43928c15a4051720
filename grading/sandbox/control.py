"""Messages between the grader and its zygote: small JSON objects with file descriptors, one a packet."""

from __future__ import annotations

import array
import json
import socket
from collections.abc import Sequence
from typing import Any

MOST = 1 << 17
MOST_DESCRIPTORS = 250  # the system takes 253


def pair() -> tuple[socket.socket, socket.socket]:
    """The two ends: packets stay whole, so nobody who dies in the middle of one leaves half of it."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(control: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message. Raises `OSError` when the other side has gone."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    control.sendmsg([json.dumps(message).encode()], rights, socket.MSG_NOSIGNAL)


def receive(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message and its descriptors, which are not inherited; `None` when the other side has gone."""
    space = socket.CMSG_SPACE(MOST_DESCRIPTORS * 4)
    try:
        data, rights, _, _ = control.recvmsg(MOST, space, socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return None, []
    numbers = array.array("i")
    for level, kind, body in rights:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(body[: len(body) - len(body) % numbers.itemsize])
    return (json.loads(data) if data else None), list(numbers)
