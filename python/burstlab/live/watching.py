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

#: The file that asks a run to end, the one that has the share of it that is done, the console, and
#: what a run leaves that has come to its end.
STOP, SHARE, CONSOLE, DONE = "stop", "share", "console", "done.json"


#: A run whose programs compute may do so this many times as long as nothing else may happen.
_COMPUTES = 5

#: A program that uses less of a processor than this share counts as waiting.
_IDLE = 0.05

#: How often it is looked how much processor time a run has used, in s.
_LOOK_S = 1.0

#: The most output of programs, in bytes.
MOST_PRINTED = 1 << 28


class Hung(Exception):
    """Nothing has happened for too long.

    Attributes
    ----------
    share
        The share of the run that was done.
    waited_s
        How long nothing has happened, in s.
    computed_s
        The processor time that was used meanwhile, in s.
    """

    def __init__(self, share: float, waited_s: float, computed_s: float) -> None:
        super().__init__(share)
        self.share, self.waited_s, self.computed_s = share, waited_s, computed_s

    @property
    def computes(self) -> bool:
        """Whether a program computed all the while, and did not wait."""
        return self.computed_s > _IDLE * self.waited_s


class Stopped(KeyboardInterrupt):
    """A signal asked a run to end, and it left no result.

    Attributes
    ----------
    share
        The share of the run that was done.
    waited_s
        How long after the signal the run was over, in s.
    kept
        The folder of what was recorded until then, if anything was kept.
    """

    def __init__(self, share: float, waited_s: float) -> None:
        super().__init__(share)
        self.share, self.waited_s = share, waited_s
        self.kept: Path | None = None

    def __str__(self) -> str:
        """Say what was stopped, and what is left of it."""
        ended = "ended without a result"
        if self.waited_s >= _GRACE_S:
            ended = f"did not end within {_GRACE_S:g} s of the signal, and was killed"
        left = "nothing was kept"
        if self.kept is not None:
            left = f"what was recorded is in {self.kept}"
        return f"the run {ended} after {self.share:.1%} of it; {left}"


class Printed(Exception):
    """A program has printed too much, to the file of this name."""


def processor_s(first: int) -> float:
    """Return the processor time of a process and of all that it has started, in s."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name of a process is in brackets, and may contain brackets.
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            number = int(path.parent.name)
            parents[number] = int(fields[1])
            # Its own, and that of its children that have ended.
            used[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    among = {first}
    found = True
    while found:
        found = {one for one, parent in parents.items() if parent in among} - among
        among |= found
    return sum(used.get(one, 0.0) for one in among)


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
        self._directory = directory
        #: When it was looked last how much processor time was used, and how much that was when
        #: something happened last, and is now.
        self._asked, self._before, self._used = time.monotonic(), 0.0, 0.0

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

    def refuses(self, process: int, patience_s: float) -> None:
        """End a run that takes too long, or prints too much.

        A program that uses processor time is alive: it may compute for a while.
        """
        now = time.monotonic()
        if now - self._asked < min(_LOOK_S, patience_s / 4):
            return
        self._asked = now
        used = processor_s(process)
        waited = now - self.alive
        if waited < 2 * _LOOK_S:
            self._before = used
        # A process that has ended may take its time with it.
        self._used = max(self._used, used)
        hung = Hung(self.share, waited, self._used - self._before)
        if waited > patience_s * (_COMPUTES if hung.computes else 1):
            raise hung
        sizes = {path: path.stat().st_size for path in self._directory.glob("live/*.[eo][ru][rt]")}
        if sum(sizes.values()) > MOST_PRINTED:
            raise Printed(max(sizes, key=lambda path: sizes[path]).name)

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

    On Ctrl-C, or another signal that ends a command, it is asked to end, and ended if it does not.

    Parameters
    ----------
    command
        The process.
    directory
        Where it looks whether it is asked to end, and where its console goes.
    environment
        Its environment.
    patience_s
        How long nothing may happen, in s of the wall clock; five times as long where processor
        time is used meanwhile.
    progress
        Told the share of the run that is done.

    Raises
    ------
    Hung
        If nothing happens for so long; the process was ended then.
    Printed
        If programs print too much; the same.
    Stopped
        If it was asked to end and left no result.
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
        while True:
            try:
                if process.poll() is not None:
                    break
                now = time.monotonic()
                watch.look()
                watch.refuses(process.pid, patience_s)
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
    if asked_at is not None and not (directory / DONE).is_file():
        raise Stopped(watch.share, time.monotonic() - asked_at)
    return watch.lines()
