"""TCP over one cell: what is left of the speed when everything else has had its share."""

from __future__ import annotations

from burstlab.analytic.arguments import choice, whole
from burstlab.analytic.wlan.saturation import ACCESSES
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, WINDOW, Timing


def exchange_time(
    size: int, timing: Timing | None = None, *, access: str = "basic", window: int = WINDOW
) -> float:
    """Mean time that one packet takes on a medium without others: DIFS, back-off, frame, ACK.

    Parameters
    ----------
    size
        Bytes of the packet, at least 1.
    timing
        Speeds and preamble; 802.11b at 11 Mb/s with answers at 1 Mb/s if absent.
    access
        "basic", or "rts".
    window
        Slots of the back-off, at least 1: 0 to `window` - 1 of them pass.

    Returns
    -------
    float
        Microseconds.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> exchange_time(1500), exchange_time(40)
    (1978.0, 916.0)
    """
    choice("access", access, ACCESSES)
    times = timing or Timing()
    slots = (whole("window", window, 1) - 1) / 2
    asking = times.rts + times.cts + 2 * SIFS_US if access == "rts" else 0
    return DIFS_US + slots * SLOT_US + asking + times.data(size) + SIFS_US + times.ack


def tcp_goodput(
    segment: int = 1460,
    timing: Timing | None = None,
    *,
    access: str = "basic",
    headers: int = 40,
    each: int = 1,
    window: int = WINDOW,
) -> float:
    """Largest goodput of TCP over a cell: each ACK follows its segments, and all back-offs add up.

    Base station and station in truth count their slots at the same time, and collide now and then:
    that takes some 5 % off the time, so that a simulation gives a little more.

    Parameters
    ----------
    segment
        Application data of a segment in bytes, at least 1.
    timing, access, window
        As of `exchange_time`.
    headers
        Bytes of IP and TCP headers, and the size of an ACK, at least 1.
    each
        Segments that an ACK acknowledges, at least 1.

    Returns
    -------
    float
        Application data in Mb/s.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> f"{tcp_goodput():.2f} {tcp_goodput(access='rts'):.2f}"
    '4.04 2.75'
    >>> two = Timing(basic_mbps=2)
    >>> f"{tcp_goodput(timing=two):.2f} {tcp_goodput(timing=two, access='rts'):.2f}"
    '4.20 3.02'
    """
    data, count = whole("segment", segment, 1), whole("each", each, 1)
    own = whole("headers", headers, 1)
    packet = exchange_time(data + own, timing, access=access, window=window)
    ack = exchange_time(own, timing, access=access, window=window)
    return 8 * data * count / (packet * count + ack)
