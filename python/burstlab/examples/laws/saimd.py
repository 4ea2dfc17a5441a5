"""SAIMD (Shihada, Ho and Zhang 2009), a law that judges its own losses."""

from collections import deque

from burstlab.control import CongestionControl, Event


class Saimd(CongestionControl):
    """Cuts the window by its confidence that a loss is congestion.

    The confidence is the place of the recent round trips among all. The rule is of the abstract;
    ``short``, ``long`` (numbers of round trips) and ``sure`` (a time-out is excused up to this
    confidence) are choices.
    """

    def __init__(self, short: int = 8, long: int = 500, sure: float = 0.7) -> None:
        self.recent: deque[float] = deque(maxlen=short)
        self.history: deque[float] = deque(maxlen=long)
        self.sure = sure

    def on_feedback(self, event: Event) -> None:
        if event.rtt is not None:
            self.recent.append(event.rtt)
            self.history.append(event.rtt)

    def confidence(self) -> float:
        if not self.recent:
            return 1.0  # nothing is known yet
        mean = sum(self.recent) / len(self.recent)
        return sum(rtt < mean for rtt in self.history) / len(self.history)

    def on_loss(self, event: Event) -> float:
        return event.window * (1.0 - self.confidence() / 2.0)

    def on_timeout(self, event: Event) -> float:
        return self.on_loss(event)

    def excuses(self, event: Event) -> bool:
        return self.confidence() <= self.sure
