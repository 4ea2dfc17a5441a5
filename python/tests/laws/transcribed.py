"""The window laws of the engine, written once more."""

from burstlab.control import CongestionControl, Event


class Reno(CongestionControl):
    """RFC 5681, in the words of the engine."""

    def on_ack(self, event: Event) -> float:
        return event.cwnd + 1.0 / max(event.cwnd, 1.0)

    def on_loss(self, event: Event) -> float:
        return event.window / 2.0

    def on_timeout(self, event: Event) -> float:
        return event.window / 2.0


class SlowStarter(CongestionControl):
    """The same, slow start included."""

    rules_slow_start = True

    def on_ack(self, event: Event) -> float | tuple[float, float]:
        return super().on_ack(event)


class Nothing(CongestionControl):
    """The actions of the base class."""


class Fast:
    """FAST TCP, in the words of the engine; needs no base class."""

    rules_slow_start = True

    def __init__(self, alpha: float, gamma: float) -> None:
        self.alpha, self.gamma = alpha, gamma

    def on_ack(self, event: Event) -> float | tuple[float, float]:
        if event.round is None:
            return event.cwnd
        window = event.cwnd
        aim = event.round.base_over_rtt * window + self.alpha
        following = min((1.0 - self.gamma) * window + self.gamma * aim, 2.0 * window)
        if following < window or event.round.used:
            window = max(following, 1.0)
        return window, 2.0

    def on_loss(self, event: Event) -> float:
        return event.window / 2.0


class Losses(CongestionControl):
    """The cost of a law that leaves ACKs to the base class."""

    def on_loss(self, event: Event) -> float:
        return event.window / 2.0

    def on_timeout(self, event: Event) -> float:
        return event.window / 2.0
