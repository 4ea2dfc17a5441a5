"""Replay traces of another simulator and compare packet by packet.

`cases` reads an index and turns each case into a scenario, `rows` reads recorded rows and rebuilds
ours, `compare` finds the first difference, `replay` does it all for a directory.
"""

from burstlab.oracle.replay import Outcome, Report, replay

__all__ = ["Outcome", "Report", "replay"]
