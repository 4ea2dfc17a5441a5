"""Files that are whole at any instant, and outlive the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Have a file written under a hidden name, which takes the place of the file when it is whole.

    Parameters
    ----------
    path
        The file.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def put(path: Path, data: bytes) -> None:
    """Write a file in place of the one of that name; at any instant one of the two is whole.

    Parameters
    ----------
    path
        The file; it is written under a hidden name beside it, and then renamed.
    data
        What it holds.
    """
    with whole(path) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync(path.parent)


def sync(path: Path) -> None:
    """See to it that a file, or the names in a directory, outlive the machine."""
    if os.name != "posix":
        return  # elsewhere a directory cannot be asked
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
