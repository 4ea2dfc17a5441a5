"""Replay traces of another simulator and compare packet by packet.

`cases` reads an index and turns each case into a scenario, `rows` reads recorded rows and rebuilds
ours, `compare` finds the first difference, `replay` does it all for a directory. `linux` is about
recorded connections of a kernel, whose ACKs are replayed to a sender alone; `path` runs such a
connection as a scenario, and `live` makes it anew with the kernel itself.
"""

from burstlab.oracle.linux import LinuxCase, LinuxOutcome, is_linux, replay_linux
from burstlab.oracle.live import live_linux
from burstlab.oracle.path import path_linux
from burstlab.oracle.replay import Outcome, Report, replay

__all__ = [
    "LinuxCase",
    "LinuxOutcome",
    "Outcome",
    "Report",
    "is_linux",
    "live_linux",
    "path_linux",
    "replay",
    "replay_linux",
]
