"""What retries leave of the errors of frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, probability, whole
from burstlab.analytic.wlan.timing import DIFS_US, SIFS_US, SLOT_US, STAGES, WINDOW, Timing

TRIES = 7
"""Tries of a frame without RTS: dot11ShortRetryLimit."""
LONG_TRIES = 4
"""Tries of a frame that an RTS precedes: dot11LongRetryLimit."""


def residual_loss(error: ArrayLike, tries: int = TRIES) -> FloatArray:
    """Share of packets that never arrive, without RTS: each of the tries loses the data frame.

    A try whose ACK is lost fails too, but its packet has arrived: errors of ACKs do not count.

    Parameters
    ----------
    error
        Chance that a data frame is not received, 0 < error < 1, independent from frame to frame.
    tries
        Tries of a packet, at least 1.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of `error`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> f"{residual_loss(0.518):.4f}"
    '0.0100'
    """
    return (probability("error", error) ** whole("tries", tries, 1))[()]


def frame_error(residual: ArrayLike, tries: int = TRIES) -> FloatArray:
    """Error of frames that leaves this residual loss: the inverse of `residual_loss`.

    Parameters
    ----------
    residual
        Share of packets that never arrive, 0 < residual < 1.
    tries
        Tries of a packet, at least 1.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of `residual`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> [f"{frame_error(q):.3f}" for q in (1e-4, 1e-3, 1e-2, 1e-1)]
    ['0.268', '0.373', '0.518', '0.720']
    """
    return (probability("residual", residual) ** (1 / whole("tries", tries, 1)))[()]


def residual_loss_rts(
    error: ArrayLike, long_tries: int = LONG_TRIES, short_tries: int = TRIES
) -> FloatArray:
    """Share of packets that never arrive where an RTS precedes each data frame.

    RTS, CTS and data frame are each lost with the same chance. A packet is given up after
    `short_tries` RTS in a row without a CTS, or after `long_tries` data frames without an ACK.

    Parameters
    ----------
    error
        Chance that a frame is not received, 0 < error < 1.
    long_tries
        Tries of the data frame, at least 1.
    short_tries
        Tries of an RTS in a row, at least 1.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of `error`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    IEEE Std 802.11-1999, 9.2.5.3.

    Examples
    --------
    >>> f"{residual_loss_rts(0.3):.4f}"
    '0.0205'
    """
    lost = probability("error", error)
    refused = np.asarray(failed_try(lost)) ** whole("short_tries", short_tries, 1)
    left = np.ones_like(lost)
    for _ in range(whole("long_tries", long_tries, 1)):
        left = refused + (1 - refused) * lost * left
    return left[()]


def failed_try(error: ArrayLike) -> FloatArray:
    """Chance that a try fails for its sender: the frame or its answer is not received.

    Parameters
    ----------
    error
        Chance that a frame is not received, 0 < error < 1; answers are frames too.

    Returns
    -------
    numpy.ndarray
        Probability, in the shape of `error`.

    Raises
    ------
    ValueError
        If `error` is out of range.
    """
    return (1 - (1 - probability("error", error)) ** 2)[()]


def service_time(
    error: ArrayLike, size: int = 1500, timing: Timing | None = None, tries: int = TRIES
) -> FloatArray:
    """Mean time that a packet keeps its sender busy without RTS: each try, with its back-off.

    Parameters
    ----------
    error
        Chance that a frame, data or ACK, is not received, 0 < error < 1.
    size
        Bytes of the packet, at least 1.
    timing
        Speeds and preamble; 802.11b at 11 Mb/s with answers at 1 Mb/s if absent.
    tries
        Tries of a packet, at least 1.

    Returns
    -------
    numpy.ndarray
        Microseconds, in the shape of `error`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> f"{(service_time(0.5) - 1978) / 1000:.1f} ms more than a try"
    '12.2 ms more than a try'
    """
    times, failure = timing or Timing(), np.asarray(failed_try(error))
    total = np.zeros_like(failure)
    for stage in range(whole("tries", tries, 1)):
        slots = (WINDOW * 2 ** min(stage, STAGES) - 1) / 2
        # A sender that hears nothing waits as long as an ACK at 1 Mb/s would take.
        waits = SIFS_US + failure * times.frame(14, 1) + (1 - failure) * times.ack
        total = total + failure**stage * (DIFS_US + slots * SLOT_US + times.data(size) + waits)
    return total[()]
