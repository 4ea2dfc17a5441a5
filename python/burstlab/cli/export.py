"""``burstlab export``: files for other programs."""

from __future__ import annotations

from pathlib import Path

from burstlab.cli.flags import Switch, Whole
from burstlab.cli.printing import say


def export(
    directory: str,
    /,
    *,
    format: str = "pcapng",
    at: str | None = None,
    flow: Whole = None,
    replication: Whole = None,
    out: str | None = None,
    force: Switch = False,
) -> int:
    """Write a result in a format of other programs.

    Parameters
    ----------
    directory
        A result: the directory of burstlab run --out.
    format
        pcapng (Wireshark, tshark, tcptrace), perfetto (ui.perfetto.dev), qlog (qvis), xplot,
        flowmon (ns-3's flow monitor) or csv.
    at
        For pcapng, the place where packets are captured: sender (the default), receiver, ingress,
        egress, or a core node by its number or name, as in node:3.
    flow
        The only flow to write (default: all; for qlog and xplot flow 0).
    replication
        Number of the replication (default: the first).
    out
        The file, for csv the directory (default: in the directory of the result).
    force
        Replace existing files; without it they are refused.
    """
    from burstlab.export import default_name
    from burstlab.export import export as write
    from burstlab.results import read

    result = read(directory)
    path = Path(out) if out is not None else Path(directory) / default_name(format, at, flow)
    files = write(result, format, path, at=at, flow=flow, replication=replication, force=force)
    for written in files:
        say(str(written))
    return 0
