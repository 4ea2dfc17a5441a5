"""Files that other programs read: captures, traces, logs, diagrams and tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from burstlab.errors import InputError, unknown
from burstlab.export import tables
from burstlab.storage.directories import TABLES, note, ready_file, vacant
from burstlab.storage.files import sync, whole
from burstlab.storage.parquet import writing

if TYPE_CHECKING:
    from burstlab.results import Result

#: Formats, and the name of the file, or directory, that each is written to by default.
FORMATS = {
    "pcapng": "{place}.pcapng",
    "perfetto": "perfetto.json",
    "qlog": "flow{flow}.qlog",
    "xplot": "flow{flow}.xpl",
    "flowmon": "flowmon.xml",
    "csv": "csv",
}

#: Formats that show what a place sees, and those that show one flow.
_OF_A_PLACE, _OF_A_FLOW = ("pcapng",), ("qlog", "xplot")


def export(
    result: Result,
    format: str,
    out: str | os.PathLike[str],
    *,
    at: str | None = None,
    flow: int | None = None,
    replication: int | None = None,
    force: bool = False,
) -> list[Path]:
    """Write a result in a format of other programs.

    Parameters
    ----------
    result
        A run that recorded the tables that the format needs: ``packets`` for ``pcapng``,
        ``qlog``, ``xplot`` and ``flowmon``, ``bursts`` for ``perfetto``. ``cwnd`` and ``ledger``
        add events to ``qlog`` and ``perfetto``.
    format
        ``"pcapng"``: a capture for Wireshark, tshark and tcptrace. ``"perfetto"``: a trace for
        ui.perfetto.dev and chrome://tracing. ``"qlog"``: a log of one sender for qvis.
        ``"xplot"``: a time-sequence diagram of one flow for xplot. ``"flowmon"``: counts and delays
        of each flow as ns-3's flow monitor writes them. ``"csv"``: every table.
    out
        The file; of ``csv`` the directory.
    at
        Of ``pcapng``: ``"sender"`` (the default), ``"receiver"``, ``"ingress"``, ``"egress"``, or
        a core node by its number or name, ``"node:3"``, which needs ``bursts`` too.
    flow
        The only flow to write; by default all, of ``qlog`` and ``xplot`` the first.
    replication
        Its number; by default the first.
    force
        Replace an existing file or, for ``csv``, a directory that holds tables. Without it they
        are refused.

    Returns
    -------
    list of Path
        The files that were written.
    """
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if at is not None and format not in _OF_A_PLACE:
        raise InputError(f"--at is of captures, not of {format}\n  fix: leave it out")
    if flow is not None and format == "csv":
        raise InputError("--flow does not apply: tables have all flows\n  fix: leave out --flow")
    number = _replication(result, replication)
    path = Path(out)
    if format == "csv":
        vacant(path, TABLES)
    else:
        ready_file(path)
    if not force:
        tables.refuse(tables.there(path) if format == "csv" else _file(path))
    if format == "csv":
        written = tables.write(result, path, force=force)
    else:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole(path) as part:
                _writer(format)(result, part, at, flow, number)
                sync(part)
        written = [path]
    if result.directory is not None:
        note(result.directory, written)
    return written


def _file(path: Path) -> list[Path]:
    return [path] if path.is_file() else []


def default_name(format: str, at: str | None, flow: int | None) -> str:
    """Return the name of the file of a format, where none is given."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    place = (at or "sender").replace(":", "-")
    if flow is not None and format not in _OF_A_FLOW:
        return FORMATS[format].format(place=f"{place}-{flow}")
    return FORMATS[format].format(place=place, flow=flow or 0)


_Write = Callable[["Result", Path, "str | None", "int | None", int], list[Path]]


def _writer(format: str) -> _Write:
    from burstlab.export import flowmon, packets, perfetto, qlog, xplot

    return {
        "pcapng": packets.write,
        "perfetto": perfetto.write,
        "qlog": qlog.write,
        "xplot": xplot.write,
        "flowmon": flowmon.write,
    }[format]


def _replication(result: Result, wanted: int | None) -> int:
    numbers = [one.summary["replication"] for one in result.replications]
    if not numbers:
        raise InputError("this result has no replication\n  fix: run it again, to its end")
    if wanted is None:
        return numbers[0]
    if wanted not in numbers:
        shown = ", ".join(map(str, numbers))
        raise InputError(f"--replication {wanted}: there is none\n  fix: one of {shown}")
    return wanted
