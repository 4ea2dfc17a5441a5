"""The programs of live hosts: how they are started, when they end, and with which status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.live import system
from burstlab.live.network import Host

#: How long a program may take to end once it was asked to, in s.
GRACE_S = 1.0


def program_of(command: Sequence[str]) -> list[str]:
    """Return a command as it is run: ``python`` is the one that runs Burstlab."""
    first, *rest = (str(word) for word in command)
    return [sys.executable if first == "python" else first, *rest]


class Program:
    """The program of a host.

    Parameters
    ----------
    host
        Where it runs.
    given
        The table of the host in the scenario, with every default.
    directory
        Where its output goes, as ``ADDRESS.out`` and ``ADDRESS.err``.
    """

    def __init__(self, host: Host, given: Mapping[str, Any], directory: Path) -> None:
        self.host = host
        self.command = program_of(given["command"])
        self.server = bool(given.get("server", False))
        self.start_ps = round(_core.seconds(str(given["start"])) * 1e12)
        self._environment = dict(one.split("=", 1) for one in given.get("environment", ()))
        self._output = directory / host.address
        self._process: subprocess.Popen[bytes] | None = None
        self.pidfd = -1
        self.problem: str | None = None
        self.started_ps: int | None = None
        self.ended_ps: int | None = None
        self.status: int | None = None
        self.stopped = False

    def start(self, now_ps: int, leave: Callable[[], None]) -> None:
        """Start it; ``leave`` is called in the new process, which then is in its namespace."""
        self.started_ps = now_ps

        def prepare() -> None:
            leave()
            system.enter_network(self.host.namespace)

        outputs = [self._output.with_name(f"{self._output.name}.{kind}") for kind in ("out", "err")]
        with outputs[0].open("wb") as out, outputs[1].open("wb") as err:
            try:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**os.environ, **self._environment},
                    start_new_session=True,
                    preexec_fn=prepare,
                )
            except (OSError, subprocess.SubprocessError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                self.problem = f"cannot be started ({reason})"
                self.ended_ps = now_ps
                return
        self.pidfd = os.pidfd_open(self._process.pid)

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self.ended_ps is None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or could not be started."""
        return self.ended_ps is not None

    def reap(self, now_ps: int) -> None:
        """Store the exit status of a program that has ended."""
        if self._process is None:
            return
        self.status = self._process.wait()
        self.ended_ps = now_ps
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def stop(self, now_ps: int) -> None:
        """End it and its children; they have some time to finish first."""
        if self._process is None or not self.runs:
            return
        self.stopped = True
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.reap(now_ps)

    def outcome(self) -> dict[str, Any]:
        """Return its outcome, as in ``programs.json``."""
        seconds = [None if at is None else at / 1e12 for at in (self.started_ps, self.ended_ps)]
        return {
            "address": self.host.address,
            "command": self.command,
            "server": self.server,
            "started_s": seconds[0],
            "ended_s": seconds[1],
            "status": self.status if self.status is None or self.status >= 0 else None,
            "signal": -self.status if self.status is not None and self.status < 0 else None,
            "stopped": self.stopped,
            "problem": self.problem,
        }
