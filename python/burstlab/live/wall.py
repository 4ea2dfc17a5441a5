"""A run by the clock of the machine: namespaces of the running kernel, as root."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from burstlab.errors import InputError
from burstlab.live.network import TUN
from burstlab.live.watching import watched

#: Capabilities that a run by the wall clock needs (capabilities(7)), with their numbers: for
#: namespaces and mounts, and for network devices.
_CAPABILITIES = {"CAP_SYS_ADMIN": 21, "CAP_NET_ADMIN": 12}


def _allowed() -> int:
    """Return the capabilities of this process, a bit each."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").split("\n"):
        name, _, value = line.partition(":")
        if name == "CapEff":
            return int(value, 16)
    return -1


def refuse() -> None:
    """Say what the machine lacks for live hosts by the wall clock.

    Raises
    ------
    InputError
        If it lacks something.
    """
    if not sys.platform.startswith("linux"):
        raise InputError("live hosts need Linux\n  fix: run it on a Linux machine")
    if os.geteuid() != 0:
        raise InputError(
            "--clock wall creates namespaces and devices, which only root may do\n"
            "  fix: run it as root, or burstlab kernel build, which needs no root"
        )
    for name, bit in _CAPABILITIES.items():
        if not _allowed() >> bit & 1:
            raise InputError(
                f"--clock wall needs the capability {name}, which this process lacks\n"
                f"  fix: allow it (of a container: --cap-add {name.removeprefix('CAP_')}), or "
                "leave --clock wall out, which needs none"
            )
    if not TUN.exists():
        raise InputError(
            f"{TUN}: there is no such device\n  fix: load the module tun (modprobe tun)"
        )


def run(directory: Path, patience_s: float, progress: Callable[[float], None] | None) -> list[str]:
    """Run the job of a directory; return the last lines of its console.

    All its processes are in a process namespace of their own, which ends with the first of them.

    Parameters
    ----------
    directory
        Where the job is.
    patience_s
        How long nothing may happen, in s.
    progress
        Told the share of the run that is done.

    Raises
    ------
    watching.Hung
        If nothing happens for so long.
    """
    path = os.pathsep.join(str(Path(one).resolve()) for one in sys.path if one)
    command = [sys.executable, "-m", "burstlab.live.inside", "machine", str(directory)]
    environment = {**os.environ, "PYTHONPATH": path}
    return watched(command, directory, environment, patience_s, progress)
