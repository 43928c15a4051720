"""Removes a folder that a student's process filled, however deep it is nested and whatever its modes say.

`shutil.rmtree` goes down by recursion and gives up a thousand levels deep. Here what lies two levels down is moved up
instead, so no path grows long.
"""

from __future__ import annotations

import contextlib
import os
import stat


def remove(folder: str) -> None:
    """Remove a folder and all below it. What cannot be removed is left."""
    count = 0
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        todo = [os.path.join(folder, name) for name in os.listdir(folder)]
        while todo:
            path = todo.pop()
            with contextlib.suppress(OSError):
                if not stat.S_ISDIR(os.lstat(path).st_mode):
                    os.unlink(path)
                    continue
                os.chmod(path, stat.S_IRWXU)
                with os.scandir(path) as entries:
                    inside = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
                for lower, is_folder in inside:
                    if is_folder:
                        count += 1
                        higher = os.path.join(folder, f".removing-{os.getpid()}-{count}")
                        os.chmod(lower, stat.S_IRWXU)
                        os.rename(lower, higher)
                        todo.append(higher)
                    else:
                        os.unlink(lower)
                os.rmdir(path)
        os.rmdir(folder)
