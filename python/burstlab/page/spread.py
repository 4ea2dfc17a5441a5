"""The number of bursts over which a window of a path is spread: it decides the cost of a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from burstlab import _core
from burstlab.documents.parameters import tcp_of


def remark(resolved: Mapping[str, Any]) -> str:
    """Say how a full window of the first flow leaves in bursts, where assembly is by timer.

    Parameters
    ----------
    resolved
        A scenario of a path with its defaults.
    """
    edge = resolved["edge"]
    if edge["assembly"] != "timer" or not resolved.get("flows"):
        return ""
    tcp = tcp_of(resolved, resolved["flows"][0])
    window = int(tcp["window"])
    size_b = _number(tcp["segment_size"])
    each_s = size_b * 8 / _number(resolved["access"]["rate"])
    timer_s = _core.seconds(edge["timer"])
    # The first packet opens the burst, so that the window needs one interval less.
    took_s = (window - 1) * each_s
    parts = math.floor(took_s / timer_s) + 1 if timer_s > 0 else window
    full = f"A full window of {window} segments" if window > 1 else "A window of one segment"
    sent = (
        f"{full} takes {took_s * 1e3:.3g} ms on the access link. "
        f"The assembly time is {timer_s * 1e3:.3g} ms, so the window leaves in"
    )
    if parts == 1 or window == 1:
        return f"{sent} one burst."
    return (
        f"{sent} {min(parts, window)} bursts. If one of them is lost, the others still cause "
        "duplicate ACKs. After a time-out burst ACKs and burst NAKs then report several bursts, "
        "and the sender takes it for a true time-out."
    )


def paired(resolved: Mapping[str, Any]) -> str:
    """Say what two runs of a pair, one without a detector and one with it, have in common.

    Parameters
    ----------
    resolved
        A scenario of a path with its defaults.
    """
    loss = resolved["loss"]["data"]
    if loss["process"] == "none":
        return "no burst is lost in them"
    if loss["process"] == "outages" or loss.get("mean_good") is not None:
        return "both runs of a pair lose bursts at the same times"
    return "both runs of a pair lose the same bursts"


def _number(quantity: str) -> float:
    found = _core.quantity(quantity)
    assert found is not None
    return found[0]
