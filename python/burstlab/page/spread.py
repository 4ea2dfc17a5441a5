"""Over how many bursts a window of a path is spread, which decides what a lost burst does."""

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
    sent = f"A full window of {window} segments takes {took_s * 1e3:.3g} ms on the access link"
    if parts == 1:
        return f"{sent}, less than the assembly time: it leaves in one burst."
    more = min(parts, window)
    return (
        f"{sent} and the assembly time is {timer_s * 1e3:.3g} ms: it leaves in {more} bursts. "
        "When one dies the others bring duplicate ACKs, and of what is outstanding burst ACKs and "
        "burst NAKs see several bursts, which they take for a true time-out."
    )


def _number(quantity: str) -> float:
    found = _core.quantity(quantity)
    assert found is not None
    return found[0]
