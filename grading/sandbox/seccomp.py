"""A filter of system calls, assembled by hand: what no answer to an exercise needs, refused by the kernel.

It is a second wall inside namespaces (no new user namespace, no tracing, no socket but a local one: some kinds, such as
those to a virtual machine's host, know no network namespace) and, with `strict`, half of the first wall where there are
none. A refused call gives "not permitted", or "no such call" where programs then have another way.

Left out: other machines than x86-64 and 64-bit ARM; `program` gives `None` there.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

from grading.sandbox import system

# name: (x86-64, ARM); None where the machine has no such call
CALLS: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "migrate_pages": (256, 238),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "personality": (135, 92),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    "acct": (163, 89),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    # memory that no process's size shows
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
}
OTHER_PROCESSES = {  # refused where the process that is named is not oneself (0)
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
SETPRIORITY = (141, 140)
CLONE, CLONE3, IOCTL = (56, 220), (435, 435), (16, 29)
SOCKET, SOCKETPAIR, SENDTO = (41, 198), (53, 199), (44, 206)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
STRICT = {  # without a namespace of processes and of files
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_unlink": (241, 181),
    "ioprio_set": (251, 30),
    "truncate": (76, 45),
    "connect": (42, 203),
    "sendmsg": (46, 211),  # a local socket of packets can name whom to send to
    "sendmmsg": (307, 269),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
}
SIGNALS = {  # where the kernel cannot tell our own processes from others
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}
WITHOUT_EFFECT = {  # Landlock has no word on these; copying a file asks for them, so they seem to work
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16
NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW… flag
AF_UNIX = 1
X32 = 0x40000000


def program(strict: bool = False, signals: bool = True) -> bytes | None:
    """The filter's code. `strict`: there are no namespaces; `signals`: sending them may be allowed."""
    if platform.machine() not in MACHINES:
        return None
    column, machine = MACHINES[platform.machine()]
    refused = {name: (numbers, errno.EPERM) for name, numbers in CALLS.items()}
    for name in ("memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open", "io_uring_setup"):
        refused[name] = (CALLS[name], errno.ENOSYS)
    refused["clone3"] = (CLONE3, errno.ENOSYS)  # its flags lie in memory, where no filter can look
    if strict:
        refused |= {name: (numbers, errno.EPERM) for name, numbers in STRICT.items()}
        refused |= {name: (numbers, 0) for name, numbers in WITHOUT_EFFECT.items()}
        refused["socket"] = (SOCKET, errno.EACCES)
        if not signals:
            refused |= {name: (numbers, errno.EPERM) for name, numbers in SIGNALS.items()}
    code = [
        _op(LOAD, MACHINE),
        _op(EQUAL, machine, 1, 0),
        _op(RETURN, KILL),
        _op(LOAD, NUMBER),
    ]
    if column == 0:
        code += [_op(AT_LEAST, X32, 0, 1), _op(RETURN, KILL)]
    for numbers, error in refused.values():
        number = numbers[column]
        if number is not None:
            code += [_op(EQUAL, number, 0, 1), _op(RETURN, REFUSE | error)]
    for numbers_ in OTHER_PROCESSES.values():
        code += _unless(numbers_[column], (0, 0))
    code += _unless(SETPRIORITY[column], (0, 0), (1, 0))
    code += _unless(SOCKETPAIR[column], (0, AF_UNIX))
    code += _unless(SENDTO[column], (5, 0)) if strict else _unless(SOCKET[column], (0, AF_UNIX))
    code += [  # processes and threads, but no namespaces
        _op(EQUAL, CLONE[column], 0, 4),
        _op(LOAD, ARGUMENTS),
        _op(ANY_BIT, NEW_NAMESPACES, 0, 1),
        _op(RETURN, REFUSE | errno.EPERM),
        _op(RETURN, ALLOW),
    ]
    for request in (TIOCSTI, TIOCLINUX):  # typing into somebody's terminal
        code += [
            _op(EQUAL, IOCTL[column], 0, 4),
            _op(LOAD, ARGUMENTS + 8),
            _op(EQUAL, request, 0, 1),
            _op(RETURN, REFUSE | errno.EPERM),
            _op(LOAD, NUMBER),
        ]
    return b"".join([*code, _op(RETURN, ALLOW)])


def install(code: bytes) -> None:
    """Put the filter on this process and all it will start. There is no way back."""
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    system.prctl(system.PR_SET_SECCOMP, system.SECCOMP_MODE_FILTER, ctypes.c_char_p(header))


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _unless(number: int, *wanted: tuple[int, int]) -> list[bytes]:
    """Refuse a call unless the low halves of some arguments are as wanted: (position, value)."""
    code = []
    for position, value in wanted:
        code += [
            _op(LOAD, ARGUMENTS + 8 * position),
            _op(EQUAL, value, 1, 0),
            _op(RETURN, REFUSE | errno.EACCES),
        ]
    code.append(_op(RETURN, ALLOW))
    return [_op(EQUAL, number, 0, len(code)), *code]
