"""Congestion controls and detectors of false time-outs, written in Python.

A class in a file of its own becomes the window law of a scenario, or its detector:

.. code-block:: toml

    [tcp]
    window_law = "python"
    window_law_class = { file = "laws/scalable.py", class = "Scalable" }

Each connection has an instance of its own. An `Event` reports what happened, and the class answers.
It must depend on these events alone: no clock, no random numbers, and nothing shared between
connections, whose order in time is not defined. The page docs/howto/python-control.md has an
example and the cost.
"""

from __future__ import annotations

from burstlab._core import Event, Round

__all__ = ["FALSE", "GENUINE", "CongestionControl", "Detector", "Event", "Round"]

#: The answer of a detector to a time-out that means congestion.
GENUINE = "genuine"

#: The answer of a detector to a time-out after one lost burst.
FALSE = "false"


class CongestionControl:
    """A window law; without overrides, that of RFC 5681.

    Loss recovery, slow start, the time-out and its detector are set by the scenario. With
    ``variant = "linux"`` they are those of Linux 6.12, whose sender also calls `on_mark`,
    `pacing_rate`, `next_timer` and `on_timer`, if a class has them. That sender does not ask the
    class while it repairs losses, nor at a time-out that a detector takes for false. Other parts of
    it change the window too; the event has the window in force.

    A method returns a number of segments, or congestion window and threshold as a pair
    ``(cwnd, ssthresh)``. They are used as they are (cwnd at least 1, ssthresh at least 2).

    With ``detector = "law"`` the class is law and detector: the engine also calls `on_feedback`,
    `excuses`, `on_excused`, and for the reports that ``class_notices`` names `on_burst_left`,
    `on_burst_arrived` and `on_burst_lost`.

    Attributes
    ----------
    rules_slow_start
        Whether `on_ack` is called below the threshold too, in place of slow start.
    """

    rules_slow_start = False

    def on_ack(self, event: Event) -> float | tuple[float, float]:
        """Return the congestion window, in segments, after an ACK of new data.

        Below the threshold slow start decides, unless `rules_slow_start`.
        """
        if event.cwnd < event.ssthresh:
            return event.cwnd + 1.0
        return event.cwnd + 1.0 / max(event.cwnd, 1.0)

    def on_loss(self, event: Event) -> float | tuple[float, float]:
        """Return the window after a loss that duplicate ACKs found; before it is ``event.window``.

        It becomes window and threshold, rounded as ``ssthresh_basis`` and ``window_halving`` say.
        With the variant ``"tahoe"`` it is the threshold alone.
        """
        return event.window / 2.0

    def on_timeout(self, event: Event) -> float | tuple[float, float]:
        """Return the window after the timer fired; before it is ``event.window``.

        It becomes the threshold, and the sender begins again with one segment. It has no effect
        where RFC 5681 keeps the threshold: with ``ssthresh_basis = "flight"`` and
        ``event.repeated``.
        """
        return event.window / 2.0

    # The following methods are called only with ``detector = "law"``.

    def on_feedback(self, event: Event) -> object:
        """Take notice of an ACK, of new data or not, after its effects; the answer is ignored.

        Unlike `on_ack` it is called in slow start and in recovery too, and has ``event.sack``.
        """

    def excuses(self, event: Event) -> bool:
        """Return whether a loss is excused, as that of a burst in contention.

        Called at each time-out, and with ``variant = "linux"`` at each reduction that no mark
        caused. A loss in a window below ``detector_window_min`` costs in any case.
        """
        return False

    def on_excused(self, event: Event) -> float | tuple[float, float]:
        """Return the window after an excused time-out, or a repair that a burst NAK started.

        Before it is ``event.window``. Not called with ``variant = "linux"``: the window stays.
        """
        return event.window / 2.0

    def on_burst_left(self, event: Event) -> object:
        """Take notice of a burst ACK of the ingress; the answer is ignored.

        The burst ``event.burst`` with ``event.segments`` of this connection has left.
        """

    def on_burst_arrived(self, event: Event) -> object:
        """Take notice of a burst ACK of the egress: the burst has arrived."""

    def on_burst_lost(self, event: Event) -> bool:
        """Return whether a burst NAK starts the repair at once; the loss is excused.

        It may do so only if a segment of ``event.segments`` is at least ``event.first``.
        """
        return False

    # Only the Linux sender calls the following methods (``variant = "linux"``).

    def on_mark(self, event: Event) -> float | tuple[float, float]:
        """Return the window after a mark, once a window; before it is ``event.window``."""
        return self.on_loss(event)

    def pacing_rate(self, event: Event) -> float | None:
        """Return the rate of data without headers in bit/s, above 0; None: no pacing.

        Called after each ACK (the first is the ACK of the SYN), time-out and timer.
        """
        return None

    def next_timer(self, event: Event) -> float | None:
        """Return in how many seconds `on_timer` is to be called, 1e-6 to 1e6; None: not at all.

        Asked whenever `pacing_rate` is; each answer takes the place of the last.
        """
        return None

    def on_timer(self, event: Event) -> float | tuple[float, float] | None:
        """Return the congestion window from now on, in segments; None: as it is.

        While losses are repaired any answer leaves it as it is.
        """
        return None


class Detector:
    """A detector of false time-outs: it judges each time-out, and is notified of ACKs and losses.

    A time-out below ``detector_window_min`` is genuine, whatever it answers. The reaction to a
    false time-out does not depend on the detector: half the window, all outstanding segments
    retransmitted, no back-off. With ``variant = "linux"`` it judges each reduction of the window
    that no mark caused.
    """

    def on_ack(self, event: Event) -> object:
        """Take notice of an ACK of new data; the returned value is ignored."""

    def on_loss(self, event: Event) -> object:
        """Take notice of a loss that duplicate ACKs reported in a window of ``event.window``."""

    def on_timeout(self, event: Event) -> str:
        """Judge a time-out: return `GENUINE` or `FALSE`."""
        return GENUINE

    # The following methods are called as ``class_notices`` says.

    def on_burst_left(self, event: Event) -> object:
        """Take notice of a burst ACK of the ingress; the answer is ignored."""

    def on_burst_arrived(self, event: Event) -> object:
        """Take notice of a burst ACK of the egress; the answer is ignored."""

    def on_burst_lost(self, event: Event) -> bool:
        """Return whether a burst NAK starts the repair at once; the loss is excused."""
        return False
