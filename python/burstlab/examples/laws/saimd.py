"""SAIMD (Shihada, Ho and Zhang 2009), a law that judges its own losses."""

from collections import deque
from statistics import fmean

from burstlab.control import CongestionControl, Event


class Saimd(CongestionControl):
    """Cuts the window by its confidence that a loss is congestion.

    The confidence is the place of the recent round trips among all (the abstract's rule). The
    arguments, two numbers of round trips and a bound of a time-out's excuse, are choices.
    """

    def __init__(self, short: int = 8, long: int = 500, sure: float = 0.7) -> None:
        self.short, self.sure = short, sure
        self.history: deque[float] = deque(maxlen=long)

    def on_feedback(self, event: Event) -> None:
        if event.rtt is not None:
            self.history.append(event.rtt)

    def confidence(self) -> float:
        if not self.history:
            return 1.0  # nothing is known yet
        mean = fmean(list(self.history)[-self.short :])
        return sum(rtt < mean for rtt in self.history) / len(self.history)

    def on_loss(self, event: Event) -> float:
        return event.window * (1.0 - self.confidence() / 2.0)

    def on_timeout(self, event: Event) -> float:
        return self.on_loss(event)

    def on_excused(self, event: Event) -> float:
        return self.on_loss(event)

    def excuses(self, event: Event) -> bool:
        return self.confidence() <= self.sure
