"""Checkpoints of a run: a file per replication, from which an ended run continues."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from burstlab import _core
from burstlab.errors import InputError
from burstlab.storage.directories import CHECKPOINTS, ready_directory
from burstlab.storage.files import Lock, put, refuse_endless
from burstlab.storage.parquet import writing

EVERY = "60 s"

_FLAG = "--checkpoint"

_EVERY_FIX = "write a time such as 60 s"

#: Held while a run keeps its checkpoints; the directory of its result may be the same one.
_LOCK = ".checkpoints.lock"

_NAME = re.compile(r"replication-\d+\.ckpt")


class Checkpoints:
    """The directory of the checkpoints of a run.

    Parameters
    ----------
    directory
        Where the files ``replication-N.ckpt`` are; it is made if it is not there.
    every
        Wall time from one checkpoint to the next, with its unit.
    resume
        Continue from the files in the directory; without it the directory must hold no checkpoints.
    announce
        Called, at Ctrl-C, with the message that the last checkpoint is being written.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        every: str = EVERY,
        resume: bool = False,
        announce: Callable[[str], object] | None = None,
    ) -> None:
        self.every_s = _positive(every)
        self.resume = resume
        self._announce = announce
        self.directory = ready_directory(directory, CHECKPOINTS, _FLAG)
        with writing(self.directory, _FLAG):
            self._lock = Lock(self.directory, "another run keeps its checkpoints there", name=_LOCK)
        found = any(_NAME.fullmatch(path.name) for path in self.directory.iterdir())
        if found and not resume:
            self.close()
            raise InputError(
                f"{self.directory} holds the checkpoints of a run\n"
                "  fix: resume it (--resume, resume=True), or use another directory"
            )

    def __enter__(self) -> Checkpoints:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other runs keep theirs there."""
        self._lock.close()

    def check(self, scenario: str | _core.Scenario, seed: int, numbers: Sequence[int]) -> None:
        """Refuse files that are of another run, before any replication is run."""
        for number in numbers:
            keeper = self.keeper(number)
            if (data := keeper.kept()) is not None:
                try:
                    _core.check_checkpoint(scenario, seed, number, data)
                except _core.BadCheckpoint as error:
                    raise keeper.refusal(error) from None

    def ends_soon(self) -> None:
        """Announce that the state is being stored, which takes seconds if it is large."""
        if self._announce is not None:
            self._announce(
                f"interrupted; {self.directory} gets what was run until now "
                "(Ctrl-C again: it keeps what it has)"
            )

    def keeper(self, number: int) -> Keeper:
        """Return who keeps replication ``number``."""
        return Keeper(self.directory / f"replication-{number}.ckpt")


class Keeper:
    """Keeps the latest checkpoint of a replication in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def kept(self) -> bytes | None:
        """Return the latest checkpoint, if there is one."""
        try:
            refuse_endless(self._path)
            return self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(
                f"{self._path}: cannot be read ({error.strerror})\n  fix: make it readable"
            ) from None

    def keep(self, data: bytes) -> None:
        """Put a checkpoint in the place of the one before; at any instant one of them is whole."""
        with writing(self._path, _FLAG, "resume (--resume): the checkpoint before is kept"):
            put(self._path, data)

    def refusal(self, error: _core.BadCheckpoint) -> InputError:
        """Return the error that names the file, its fault and the fix."""
        problem, fix = error.args
        return InputError(f"{self._path}: {problem}\n  fix: {fix}")


def _positive(every: str) -> float:
    try:
        every_s = _core.seconds(every)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise InputError(f"checkpoint-every: {problem}\n  fix: {fix or _EVERY_FIX}") from None
    if every_s <= 0.0:
        raise InputError(f"checkpoint-every = {every}: it is 0\n  fix: {_EVERY_FIX}")
    return every_s
