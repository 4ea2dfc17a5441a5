"""A process that runs live hosts, watched from outside: how far it is, whether it hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from burstlab.live.system import die_with_parent, without_random_places

#: Lines of the console that are kept, of so many bytes at its end.
_LINES, _TAIL = 40, 65_536

#: How long a run may take to end once it was asked to, in s.
_GRACE_S = 10.0

#: The file that asks a run to end, the one that has the share of it that is done, and the console.
STOP, SHARE, CONSOLE = "stop", "share", "console"


class Hung(Exception):
    """Nothing has happened for too long; ``share`` of the run was done."""

    def __init__(self, share: float) -> None:
        super().__init__(share)
        self.share = share


class Watch:
    """How far a run is, and what its console says.

    Parameters
    ----------
    directory
        Where the run writes the share of it that is done, and where its console goes.
    progress
        Told that share.
    """

    def __init__(self, directory: Path, progress: Callable[[float], None] | None) -> None:
        self.alive, self.share = time.monotonic(), 0.0
        self._path, self._progress = directory / SHARE, progress
        self._console, self._length = directory / CONSOLE, 0

    def look(self) -> None:
        """Read how far the run is."""
        length = self._console.stat().st_size
        if length != self._length:
            self.alive, self._length = time.monotonic(), length
        try:
            share = min(float(self._path.read_bytes()), 1.0)
        except (OSError, ValueError):
            # The run has not come to its first event.
            return
        if share != self.share:
            self.alive, self.share = time.monotonic(), share
            if self._progress is not None:
                self._progress(share)

    def lines(self) -> list[str]:
        """Return the last lines of the console."""
        with self._console.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            text = file.read().decode("utf-8", "replace")
        return [line.rstrip() for line in text.splitlines()[-_LINES:]]


def watched(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    patience_s: float,
    progress: Callable[[float], None] | None,
) -> list[str]:
    """Run a process to its end; return the last lines of its console.

    Its console is a file, which takes all at once: a pipe is full until somebody has read it, and
    what a kernel has to keep until then it would bring at another event in each run.

    On Ctrl-C it is asked to end, and ended if it does not.

    Parameters
    ----------
    command
        The process.
    directory
        Where it looks whether it is asked to end, and where its console goes.
    environment
        Its environment.
    patience_s
        How long nothing may happen, in s of the wall clock.
    progress
        Told the share of the run that is done.

    Raises
    ------
    Hung
        If nothing happens for so long; the process was ended then.
    """

    def prepare() -> None:
        die_with_parent(signal.SIGKILL)
        without_random_places()

    with (directory / CONSOLE).open("wb") as console:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(environment),
            preexec_fn=prepare,
        )
    watch = Watch(directory, progress)
    asked_at: float | None = None
    try:
        while process.poll() is None:
            try:
                now = time.monotonic()
                watch.look()
                if now - watch.alive > patience_s:
                    raise Hung(watch.share)
                if asked_at is not None and now - asked_at > _GRACE_S:
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.1)
            except KeyboardInterrupt:
                if asked_at is not None:
                    raise
                asked_at = time.monotonic()
                (directory / STOP).touch()
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    return watch.lines()
