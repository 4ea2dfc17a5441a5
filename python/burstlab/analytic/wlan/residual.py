"""The errors of frames that are left after retries."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.wlan.arguments import Error, Size, Speeds, Tries
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, STAGES, WINDOW, Timing

TRIES = 7
"""Tries of a frame without RTS: dot11ShortRetryLimit."""
LONG_TRIES = 4
"""Tries of a frame that an RTS precedes: dot11LongRetryLimit."""


@declared("Probability", error="Data frames alone, independent from frame to frame.")
def residual_loss(error: Error, tries: Tries = TRIES) -> FloatArray:
    """Share of packets that never arrive, without RTS: each of the tries loses the data frame.

    A try whose ACK is lost fails too, but its packet has arrived: errors of ACKs do not count.

    Examples
    --------
    >>> f"{residual_loss(0.518):.4f}"
    '0.0100'
    """
    (lost,) = arrays(error)
    return lost**tries


@declared("Probability")
def frame_error(
    residual: Annotated[
        ArrayLike, Argument("Share of packets that never arrive", above=0, below=1)
    ],
    tries: Tries = TRIES,
) -> FloatArray:
    """Error of frames that leaves this residual loss: the inverse of `residual_loss`.

    Examples
    --------
    >>> [f"{frame_error(q):.3f}" for q in (1e-4, 1e-3, 1e-2, 1e-1)]
    ['0.268', '0.373', '0.518', '0.720']
    """
    (share,) = arrays(residual)
    return share ** (1 / tries)


@declared("Probability", "IEEE Std 802.11-1999, 9.2.5.3")
def residual_loss_rts(
    error: Error,
    long_tries: Annotated[int, Argument("Tries of the data frame", at_least=1)] = LONG_TRIES,
    short_tries: Annotated[int, Argument("Tries of an RTS in a row", at_least=1)] = TRIES,
) -> FloatArray:
    """Share of packets that never arrive where an RTS precedes each data frame.

    RTS, CTS and data frame are each lost with the same chance. A packet is given up after
    `short_tries` RTS in a row without a CTS, or after `long_tries` data frames without an ACK.

    Examples
    --------
    >>> f"{residual_loss_rts(0.3):.4f}"
    '0.0205'
    """
    (lost,) = arrays(error)
    refused = np.asarray(failed_try(lost)) ** short_tries
    left = np.ones_like(lost)
    for _ in range(long_tries):
        left = refused + (1 - refused) * lost * left
    return left


@declared("Probability", error="Answers are frames too.")
def failed_try(error: Error) -> FloatArray:
    """Chance that a try fails for its sender: the frame or its answer is not received."""
    (lost,) = arrays(error)
    # 1 - (1 - e)², which loses all digits of a small e.
    return lost * (2 - lost)


@declared("Microseconds", error="Data or ACK.")
def service_time(
    error: Error, size: Size = 1500, timing: Speeds = None, tries: Tries = TRIES
) -> FloatArray:
    """Mean time that a packet keeps its sender busy without RTS: each try, with its back-off.

    Examples
    --------
    >>> f"{(service_time(0.5) - 1978) / 1000:.1f} ms more than a try"
    '12.2 ms more than a try'
    """
    times, failure = timing or Timing(), np.asarray(failed_try(error))
    total = np.zeros_like(failure)
    for stage in range(tries):
        slots = (WINDOW * 2 ** min(stage, STAGES) - 1) / 2
        # A sender that hears nothing waits as long as an ACK at 1 Mb/s would take.
        waits = SIFS_US + failure * times.frame(14, 1) + (1 - failure) * times.ack
        total = total + failure**stage * (DIFS_US + slots * SLOT_US + times.data(size) + waits)
    return total
