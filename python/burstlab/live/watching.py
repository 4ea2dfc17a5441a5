"""A process that runs live hosts, watched from outside: how far it is, whether it hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from burstlab.live.system import die_with_parent

#: Lines of the console that are kept.
_LINES = 40

#: How long a run may take to end once it was asked to, in s.
_GRACE_S = 10.0

#: The file that asks a run to end, and the one that has the share of it that is done.
STOP, SHARE = "stop", "share"


class Hung(Exception):
    """Nothing has happened for too long; ``share`` of the run was done."""

    def __init__(self, share: float) -> None:
        super().__init__(share)
        self.share = share


class Watch:
    """The last lines of a console, and how far a run is.

    Parameters
    ----------
    directory
        Where the run writes the share of it that is done.
    progress
        Told that share.
    """

    def __init__(self, directory: Path, progress: Callable[[float], None] | None) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.alive, self.share = time.monotonic(), 0.0
        self._path, self._progress = directory / SHARE, progress

    def listen(self, pipe: IO[bytes]) -> None:
        """Read a console to its end."""
        for raw in pipe:
            self.alive = time.monotonic()
            self.lines.append(raw.decode("utf-8", "replace").rstrip())

    def look(self) -> None:
        """Read how far the run is."""
        try:
            share = min(float(self._path.read_bytes()), 1.0)
        except (OSError, ValueError):
            # The run has not come to its first event.
            return
        if share != self.share:
            self.alive, self.share = time.monotonic(), share
            if self._progress is not None:
                self._progress(share)


def watched(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    patience_s: float,
    progress: Callable[[float], None] | None,
) -> list[str]:
    """Run a process to its end; return the last lines of its console.

    On Ctrl-C it is asked to end, and ended if it does not.

    Parameters
    ----------
    command
        The process.
    directory
        Where it looks whether it is asked to end.
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
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=dict(environment),
        preexec_fn=lambda: die_with_parent(signal.SIGKILL),
    )
    assert process.stdout is not None
    watch = Watch(directory, progress)
    listener = threading.Thread(target=watch.listen, args=(process.stdout,), daemon=True)
    listener.start()
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
        listener.join(_GRACE_S)
    return list(watch.lines)
