"""Scalable TCP (Kelly 2003): a window recovers from a loss in a time that is not its size."""

from burstlab.control import CongestionControl, Event


class Scalable(CongestionControl):
    """Grows by a share of each ACK, gives up an eighth at a loss.

    Parameters
    ----------
    a, b
        The window grows by ``a`` segments an ACK, and a loss takes ``b`` of it (Kelly 2003,
        section 3).
    legacy
        Up to this many segments it is the law of RFC 5681, as Kelly has it for fairness.
    """

    def __init__(self, a: float = 0.01, b: float = 0.125, legacy: float = 16.0) -> None:
        self.a, self.b, self.legacy = a, b, legacy

    def on_ack(self, event: Event) -> float:
        """A segment more in every 1 / a ACKs."""
        if event.cwnd <= self.legacy:
            return event.cwnd + 1.0 / max(event.cwnd, 1.0)
        return event.cwnd + self.a

    def on_loss(self, event: Event) -> float:
        """An eighth less, and not a half."""
        return event.window * (0.5 if event.window <= self.legacy else 1.0 - self.b)
