"""TCP over one cell: what is left of the speed when everything else has had its share."""

from __future__ import annotations

from typing import Annotated

from burstlab.analytic.arguments import Argument
from burstlab.analytic.declared import declared
from burstlab.analytic.wlan.arguments import Access, FirstWindow, Size, Speeds
from burstlab.analytic.wlan.saturation import bianchi
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, WINDOW, Timing

Backoffs = Annotated[
    str,
    Argument(
        "How the back-offs of segments and ACKs add up",
        words=("added", "shared"),
        note=(
            '"shared": the model of Bianchi with two stations, one with segments, one with ACKs.'
        ),
    ),
]
TRIES = 7
"""Tries of a packet, dot11ShortRetryLimit; it hardly matters between two."""


@declared("Microseconds", window="0 to `window` - 1 of them pass.")
def exchange_time(
    size: Size, timing: Speeds = None, *, access: Access = "basic", window: FirstWindow = WINDOW
) -> float:
    """Mean time that one packet takes on a medium without others: DIFS, back-off, frame, ACK.

    Examples
    --------
    >>> exchange_time(1500), exchange_time(40)
    (1978.0, 916.0)
    """
    times = timing or Timing()
    slots = (window - 1) / 2
    asking = times.rts + times.cts + 2 * SIFS_US if access == "rts" else 0
    return DIFS_US + slots * SLOT_US + asking + times.data(size) + SIFS_US + times.ack


@declared("Application data in Mb/s", window="0 to `window` - 1 of them pass.")
def tcp_goodput(
    segment: Annotated[int, Argument("Application data of a segment", "bytes", at_least=1)] = 1460,
    timing: Speeds = None,
    *,
    access: Access = "basic",
    headers: Annotated[
        int, Argument("IP and TCP headers, and the size of an ACK,", "bytes", at_least=1)
    ] = 40,
    each: Annotated[
        int,
        Argument("Segments that an ACK acknowledges", at_least=1, note="1 with shared back-offs."),
    ] = 1,
    window: FirstWindow = WINDOW,
    backoffs: Backoffs = "added",
) -> float:
    """Largest goodput of TCP over a cell, between one host on the air and its base station.

    Where the back-offs of segments and ACKs are added they follow one another, and nothing meets:
    the usual sum, and less than a simulation gives. Where they are shared both sides always have a
    packet: with an ACK for each segment both win the medium as often, so that the ACKs that wait
    are a random walk and rarely none. That is a little more than a simulation gives.

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
    packet = exchange_time(segment + headers, timing, access=access, window=window)
    ack = exchange_time(headers, timing, access=access, window=window)
    if backoffs == "added":
        return 8 * segment * each / (packet * each + ack)
    if each != 1:
        raise ValueError(f"each = {each}: shared back-offs need an ACK for each segment, give 1")
    times = timing or Timing()
    tau, _ = bianchi(2, window, tries=TRIES)
    alone, both = 2 * tau * (1 - tau), tau * tau
    # Slots and collisions for each packet that gets through; two of those make a segment.
    slots = (1 - tau) ** 2 / alone * SLOT_US
    longest = times.rts if access == "rts" else times.data(max(segment + headers, headers))
    waste = slots + both / alone * (longest + times.eifs)
    own_slots = (window - 1) / 2 * SLOT_US
    return 8 * segment / (packet + ack - 2 * own_slots + 2 * waste)
