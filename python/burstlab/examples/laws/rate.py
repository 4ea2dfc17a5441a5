"""A small control by rate, after the idea of BBR (Cardwell et al. 2016), for Linux's sender."""

from burstlab.control import CongestionControl, Event


class Rate(CongestionControl):
    """Sends as fast as data have lately arrived, and now and then a quarter faster to see.

    The rate is the largest of the last ten round trips. The window is only a bound: twice the data
    in flight at this rate. The law ignores losses.
    """

    rules_slow_start = True

    def __init__(self, rounds: int = 10, beginning: float = 2.9) -> None:
        self.rounds, self.beginning = rounds, beginning
        self.rates: list[float] = []  # the largest of each round trip, in bit/s
        self.newest = 0.0
        self.count = 0
        self.filling = True

    def on_ack(self, event: Event) -> float:
        if event.delivery_rate is not None and not event.app_limited:
            self.newest = max(self.newest, event.delivery_rate)
        if event.round is not None:
            self.end_round()
        under_way = self.rate() * (event.base_rtt or 0.0) / (8 * event.payload)
        return max(event.cwnd + event.acked if self.filling else 2 * under_way, 4.0)

    def end_round(self) -> None:
        self.count += 1
        before = max(self.rates[-3:], default=0.0)
        if len(self.rates) >= 3 and self.newest < 1.25 * before:
            self.filling = False  # faster brings no more
        self.rates = [*self.rates[1 - self.rounds :], self.newest]
        self.newest = 0.0

    def rate(self) -> float:
        return max([*self.rates, self.newest])

    def pacing_rate(self, event: Event) -> float | None:
        if not self.rate():
            return None  # nothing is known yet
        cycle = {0: 1.25, 1: 0.75}.get(self.count % 8, 1.0)
        return self.rate() * (self.beginning if self.filling else cycle)

    def on_loss(self, event: Event) -> float:
        return event.window
