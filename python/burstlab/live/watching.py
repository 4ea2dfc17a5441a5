"""A process that runs live hosts, watched from outside: how far it is, whether it hangs."""

from __future__ import annotations

import os
import re
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

_AT = re.compile(r"@(\d\.\d+)$")

#: The file that asks a run to end.
STOP = "stop"


class Hung(Exception):
    """Nothing has happened for too long; ``share`` of the run was done."""

    def __init__(self, share: float) -> None:
        super().__init__(share)
        self.share = share


class Console:
    """The last lines of a console, and what it told of the progress of a run.

    Parameters
    ----------
    progress
        Told the share of the run that is done.
    """

    def __init__(self, progress: Callable[[float], None] | None) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.alive, self.share = time.monotonic(), 0.0
        self._progress = progress

    def listen(self, pipe: IO[bytes]) -> None:
        """Read to the end."""
        for raw in pipe:
            self.alive = time.monotonic()
            line = raw.decode("utf-8", "replace").rstrip()
            found = _AT.search(line)
            if found is None:
                self.lines.append(line)
                continue
            self.share = min(float(found[1]), 1.0)
            if self._progress is not None:
                self._progress(self.share)


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
    console = Console(progress)
    listener = threading.Thread(target=console.listen, args=(process.stdout,), daemon=True)
    listener.start()
    asked_at: float | None = None
    try:
        while process.poll() is None:
            try:
                now = time.monotonic()
                if now - console.alive > patience_s:
                    raise Hung(console.share)
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
    return list(console.lines)
