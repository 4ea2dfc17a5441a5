"""TCP over one cell: what is left of the speed when everything else has had its share."""

from __future__ import annotations

from burstlab.analytic.arguments import choice, whole
from burstlab.analytic.wlan.saturation import ACCESSES, bianchi
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, WINDOW, Timing

BACKOFFS: tuple[str, ...] = ("added", "shared")
TRIES = 7
"""Tries of a packet, dot11ShortRetryLimit; it hardly matters between two."""


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
    backoffs: str = "added",
) -> float:
    """Largest goodput of TCP over a cell, between one host on the air and its base station.

    Where the back-offs of segments and ACKs are added they follow one another, and nothing meets:
    the usual sum, and less than a simulation gives. Where they are shared both sides always have a
    packet: with an ACK for each segment both win the medium as often, so that the ACKs that wait
    are a random walk and rarely none. That is a little more than a simulation gives.

    Parameters
    ----------
    segment
        Application data of a segment in bytes, at least 1.
    timing, access, window
        As of `exchange_time`.
    headers
        Bytes of IP and TCP headers, and the size of an ACK, at least 1.
    each
        Segments that an ACK acknowledges, at least 1; 1 with shared back-offs.
    backoffs
        "added", or "shared": the model of Bianchi with two stations, one with segments, one with
        ACKs.

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
    >>> f"{tcp_goodput(backoffs='shared'):.2f}"
    '4.32'
    """
    choice("backoffs", backoffs, BACKOFFS)
    data, count = whole("segment", segment, 1), whole("each", each, 1)
    own = whole("headers", headers, 1)
    packet = exchange_time(data + own, timing, access=access, window=window)
    ack = exchange_time(own, timing, access=access, window=window)
    if backoffs == "added":
        return 8 * data * count / (packet * count + ack)
    if count != 1:
        raise ValueError(f"each = {count}: shared back-offs need an ACK for each segment, give 1")
    times = timing or Timing()
    tau, _ = bianchi(2, window, tries=TRIES)
    alone, both = 2 * tau * (1 - tau), tau * tau
    # Slots and collisions for each packet that gets through; two of those make a segment.
    slots = (1 - tau) ** 2 / alone * SLOT_US
    longest = times.rts if access == "rts" else times.data(max(data + own, own))
    waste = slots + both / alone * (longest + times.eifs)
    own_slots = (window - 1) / 2 * SLOT_US
    return 8 * data / (packet + ack - 2 * own_slots + 2 * waste)
