"""The job that runs where the live hosts are: in the user-mode kernel, or in network namespaces.

It is called with a directory that has ``job.json``: the resolved scenario, its seed, the tables to
trace, and where output goes. The output is written there too: ``tables.pickle``, the calls of the
engine's sink one after the other, ``connections.csv``, ``programs.json``, and at the end
``done.json``.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from burstlab import _core
from burstlab.errors import InputError
from burstlab.live import system
from burstlab.live.devices import Devices, pairs_of
from burstlab.live.network import Host
from burstlab.live.programs import Program
from burstlab.live.samples import Samples
from burstlab.live.watching import SHARE, STOP

#: A run in virtual time begins at a multiple of this on the clock of its kernel, so that ticks and
#: timers stand in the same phase in every run: 512 x 64 ticks of 1 ms.
PHASE_NS = 32_768_000_000

#: Progress is reported at this many points of a run.
_STEPS = 400


class Stream:
    """A sink of the engine that writes down how it is called.

    Parameters
    ----------
    file
        Takes the calls.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def rows(self, *call: Any) -> None:
        """Take the next rows of a table."""
        pickle.dump(("rows", call), self._file)

    def early(self, *call: Any) -> None:
        """Take rows whose turn comes later."""
        pickle.dump(("early", call), self._file)

    def late(self, *call: Any) -> None:
        """Take what rows that came early lacked."""
        pickle.dump(("late", call), self._file)


def run(directory: Path) -> dict[str, Any]:
    """Run the job of a directory; return what ``done.json`` has."""
    job = json.loads((directory / "job.json").read_text(encoding="utf-8"))
    resolved: Mapping[str, Any] = json.loads(job["scenario"])
    real, out = bool(job["real"]), Path(job["output"])
    hosts = [Host(number, given) for number, given in enumerate(resolved["live"])]
    programs = [
        Program(host, given, out)
        for host, given in zip(hosts, resolved["live"], strict=True)
        if given.get("command") is not None
    ]
    duration_ps = round(_core.seconds(resolved["run"]["duration"]) * 1e12)
    with (
        (out / "connections.csv").open("w", encoding="ascii") as rows,
        (directory / "tables.pickle").open("wb") as tables,
        (directory / SHARE).open("wb", buffering=0) as share,
    ):
        reported = [0]

        def progress(now_ps: int) -> None:
            if now_ps * _STEPS >= reported[0] * duration_ps:
                reported[0] = now_ps * _STEPS // duration_ps + 1
                # Not on the console: the machine reports to the kernel when it has taken a line,
                # which is at another event in each run.
                os.pwrite(share.fileno(), f"{now_ps / duration_ps:.4f}".encode(), 0)
                os.fsync(share.fileno())
                rows.flush()
                os.fsync(rows.fileno())
                tables.flush()
                os.fsync(tables.fileno())
            if (directory / STOP).exists():
                devices.end_asked = True

        samples = Samples(rows)
        devices = Devices(
            hosts,
            programs,
            pairs_of(resolved),
            samples,
            progress=progress,
            leave=lambda: system.die_with_parent(signal.SIGKILL),
            real=real,
        )

        if not real:
            # Otherwise the kernel would write this data to the disk in the middle of the run.
            os.sync()
            _sleep_to_phase()
        system.without_slack()
        monitor = _core.Monitor(None)
        sink = Stream(tables)
        text = job["scenario"]
        devices.begin()
        output = _core.simulate(text, job["seed"], 0, job["trace"], monitor, sink, devices)
        ended_ps = round(json.loads(output.summary)["simulated_s"] * 1e12)
        devices.stop(ended_ps)
        outcomes = [one.outcome() for one in programs]
        (out / "programs.json").write_text(json.dumps(outcomes, indent=2), encoding="utf-8")
    return {
        "summary": output.summary,
        "stuck": output.stuck,
        "fault": output.fault,
        "interrupted": devices.end_asked,
        "lateness_ps": sorted(devices.late_ps),
        "begun_ns": devices.begun_ns,
        "unroutable": devices.unroutable,
        "carried_ps": devices.carried_ps,
    }


def _sleep_to_phase() -> None:
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    alarm = system.Alarm()
    alarm.set((now // PHASE_NS + 1) * PHASE_NS)
    poll = select.poll()
    poll.register(alarm.fd, select.POLLIN)
    poll.poll()


def perform(directory: Path) -> None:
    """Run the job of a directory, and write its outcome, whatever it is."""
    try:
        done = run(directory)
    except InputError as error:
        done = {"refused": str(error)}
    except _core.EngineFault as error:
        done = {"fault": [str(one) for one in error.args]}
    except BaseException as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        trace = "".join(traceback.format_exception(error))
        done = {"failed": str(error) or type(error).__name__, "trace": trace}
        if full:
            fix = "free some, or give another --out"
            done = {"refused": f"{directory}: there is no space left on its disk\n  fix: {fix}"}
    text = json.dumps(done)
    pending = directory / ".done.json"
    pending.write_text(text, encoding="utf-8")
    pending.replace(directory / "done.json")


def in_kernel(directory: Path) -> None:
    """Do so as the first process of a kernel, and end that."""
    for source, target, kind in (
        ("proc", "/proc", "proc"),
        ("sys", "/sys", "sysfs"),
        ("dev", "/dev", "devtmpfs"),
        ("shm", "/dev/shm", "tmpfs"),
    ):
        if target == "/dev/shm":
            Path(target).mkdir(parents=True, exist_ok=True)
        try:
            system.mount(source, target, kind)
        except OSError as error:
            # The kernel may have mounted its devices itself.
            if error.errno != errno.EBUSY:
                raise
    # In network namespaces after the first, a kernel allows the laws that are allowed there.
    settings = Path("/proc/sys/net/ipv4")
    every = (settings / "tcp_available_congestion_control").read_text(encoding="ascii")
    (settings / "tcp_allowed_congestion_control").write_text(every, encoding="ascii")
    perform(directory)
    system.power_off()


def in_machine(directory: Path) -> None:
    """Do so on the machine, as the first process of a process namespace, which ends with it."""
    system.die_with_parent(signal.SIGKILL)
    system.unshare(system.CLONE_NEWPID | system.CLONE_NEWNS)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) and 1)
    system.die_with_parent(signal.SIGKILL)
    system.mount("none", "/", None, system.MS_REC_PRIVATE)
    system.mount("proc", "/proc", "proc")
    perform(directory)


if __name__ == "__main__":
    (in_kernel if sys.argv[1] == "kernel" else in_machine)(Path(sys.argv[2]))
