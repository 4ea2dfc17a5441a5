"""Names of metrics and parameters in reports and figures, by their paths."""

from __future__ import annotations

import re

#: The last word of a path, where words alone do not make a name of it.
_NAMES = {
    "goodput_bps": "goodput",
    "throughput_bps": "throughput",
    "rtt_s": "round trip",
    "retransmissions": "segments sent again",
    "timeouts": "time-outs",
    "false_timeouts": "false time-outs",
    "true_timeouts": "true time-outs",
    "spurious_timeouts": "spurious time-outs",
    "fast_retransmits": "fast retransmits",
    "bursts_lost": "bursts lost",
    "bursts_sent": "bursts sent",
    "burst_loss_ratio": "burst loss",
    "byte_loss_ratio": "byte loss",
    "packets_per_burst": "packets a burst",
    "events_per_packet": "events a packet",
    "received_mean_s": "mean completion time",
    "received_p50_s": "median completion time",
    "received_p99_s": "99th percentile of completion times",
}

_UNITS = re.compile(r"_(bps|bytes|ps|s)$")

#: How a metric is taken over the flows.
_OVER = {"mean": "mean", "sum": "total", "min": "least", "max": "largest"}


def called(path: str) -> str:
    """Return a name for a path: ``flows.mean.goodput_bps`` is *mean goodput*.

    A path without a dot is a name that somebody gave, and stays as it is.

    Parameters
    ----------
    path
        Of a metric, or of a field of a scenario.
    """
    head, _, last = path.rpartition(".")
    if not head:
        return path
    name = _NAMES.get(last) or _UNITS.sub("", last).replace("_", " ")
    parts = head.split(".")
    if parts[0] == "flows" and len(parts) == 2:
        return f"{_OVER[parts[1]]} {name}" if parts[1] in _OVER else f"{name} of {parts[1]}"
    if parts == ["counters"] or not head:
        return name
    where = " ".join(part.replace("_", " ") for part in parts if part not in ("network", "of"))
    return f"{where} {name}" if where else name
