"""Burst length estimation (Yu, Qiao and Liu 2004, section IV.A), as `tcp.detector = "ble"` is."""

from burstlab.control import FALSE, GENUINE, Detector, Event


class Ble(Detector):
    """Guesses from its losses how many of its segments a burst can hold.

    Parameters
    ----------
    burst_min
        A time-out is false only while the estimated burst is longer than this many segments.
    decide_first
        Whether the estimate takes account of a time-out only after it was judged.
    """

    def __init__(self, burst_min: float = 3, decide_first: bool = False) -> None:
        self.burst_min, self.decide_first = burst_min, decide_first
        self.burst_window = 0.0
        self.losses = self.timeouts = 0

    def on_loss(self, event: Event) -> None:
        """A loss that left enough of the window to arrive was at most half of it."""
        half = event.window / 2.0
        self.burst_window = min(self.burst_window, half) if self.losses else half
        self.losses += 1

    def on_timeout(self, event: Event) -> str:
        """All of the window was in the burst, if it was one."""
        window, before = event.window, self._judge(event.window)
        if self.losses == 0:
            self.burst_window = window
        elif self.timeouts == 0:
            self.burst_window = min(self.burst_window, window)
        else:
            self.burst_window = max(self.burst_window, window)
        first = self.losses == 0
        self.losses += 1
        self.timeouts += 1
        return before if self.decide_first and not first else self._judge(window)

    def _judge(self, window: float) -> str:
        one_burst = window <= self.burst_window and self.burst_window > self.burst_min
        return FALSE if one_burst else GENUINE
