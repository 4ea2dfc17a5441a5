"""Files that go into a directory together: all of them are there, or those of before.

They lie in a hidden directory until all are complete. Then ``.complete`` is written there, and from
then on the new files count: each takes its place, and whoever comes next does the rest where the
process ends in the middle of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from burstlab.errors import InputError
from burstlab.storage.files import put, sync

#: The hidden directory.
NAME = ".aside"

_COMPLETE = ".complete"


def place(directory: Path) -> Path:
    """Return the hidden directory of a directory."""
    return directory / NAME


def begin(directory: Path) -> Path:
    """Make the hidden directory of a directory."""
    made = place(directory)
    made.mkdir()
    return made


def is_complete(directory: Path) -> bool:
    """Whether files are complete there that are not all in their places."""
    return (place(directory) / _COMPLETE).exists()


def sweep(directory: Path) -> None:
    """Remove files that are not complete."""
    if not is_complete(directory):
        shutil.rmtree(place(directory), ignore_errors=True)


def move_in(directory: Path, old: Iterable[str], last: Iterable[str]) -> None:
    """Put the files of the hidden directory in their places.

    Parameters
    ----------
    directory
        Where they go.
    old
        Names of files that go, where none of that name comes.
    last
        Names of files that say what the directory holds: they are the last to come.
    """
    sync(place(directory))
    new = {path.name for path in place(directory).iterdir()}
    text = json.dumps({"old": sorted(set(old) - new), "last": sorted(last)})
    put(place(directory) / _COMPLETE, f"{text}\n".encode())
    finish(directory)


def finish(directory: Path) -> None:
    """Put complete files in their places, from wherever this ended."""
    if not is_complete(directory):
        return
    here = place(directory)
    try:
        noted = json.loads((here / _COMPLETE).read_text(encoding="utf-8"))
        old, last = ([str(one) for one in noted[name]] for name in ("old", "last"))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{here / _COMPLETE}: damaged ({error})\n  fix: remove the directory {here}"
        ) from None
    names = sorted(
        (path.name for path in here.iterdir() if path.name != _COMPLETE),
        key=lambda name: (name in last, name),
    )
    for name in old:
        # A name in the directory itself, whatever the file says.
        if Path(name).name == name and (directory / name).is_file():
            (directory / name).unlink()
    for name in names:
        _remove_directory(directory / name)
        (here / name).replace(directory / name)
    sync(directory)
    (here / _COMPLETE).unlink()
    here.rmdir()
    sync(directory)


def _remove_directory(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
