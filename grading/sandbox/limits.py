"""Limits that the system itself keeps for a student's processes.

Memory is bounded a process here; the sum over all processes is watched by `watch`.
"""

from __future__ import annotations

import os
import resource

from grading.running.plan import Limits

OURS = 2  # the zygote and the keeper, where the student's process shares a user with them


def apply(limits: Limits, processes: int | None) -> None:
    """Set the limits of this process and of those it starts, hard ones included, so that nothing can raise them.

    `processes` bounds all of the user's in the user namespace at once; `None` leaves that alone.
    """
    processor = int(limits.total_seconds * 2) + 10  # ends a loop whose judge has gone
    caps = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CPU: processor,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 1 << 20,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if processes is not None:
        caps[resource.RLIMIT_NPROC] = processes
    for kind, most in caps.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def threads_of(user: int) -> int:
    """How many processes and threads a user has: where there is no user namespace, the limit counts these too."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it ended meanwhile
    return count
