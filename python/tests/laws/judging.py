"""Classes that are law and detector: detectors of the engine, written once more in a law."""

import math
from collections import deque

from burstlab.control import FALSE, GENUINE, CongestionControl, Detector, Event


class Bnak(CongestionControl):
    """As ``detector = "bnak"``: repairs at once if the lost burst holds all that may be lost."""

    def on_burst_lost(self, event: Event) -> bool:
        first, end = event.suspects
        return first < end and set(range(first, end)) <= set(event.segments)


class Back(CongestionControl):
    """As ``detector = "back"`` with both edges: one burst has left with all, and none arrived."""

    def __init__(self) -> None:
        self.left: dict[int, int] = {}
        self.arrived: set[int] = set()
        self.sent: set[int] = set()

    def on_burst_left(self, event: Event) -> None:
        assert event.burst is not None
        for seq in event.segments:
            self.left[seq] = event.burst
            self.arrived.discard(seq)  # it was sent again

    def on_burst_arrived(self, event: Event) -> None:
        self.arrived.update(event.segments)

    def excuses(self, event: Event) -> bool:
        suspects = range(*event.suspects)
        bursts = {self.left.get(seq) for seq in suspects}
        return len(bursts) == 1 and None not in bursts and self.arrived.isdisjoint(suspects)


class Forgiving(CongestionControl):
    """Excuses each loss after the first, which the law counts."""

    def __init__(self) -> None:
        self.losses = 0
        self.blocks = self.rounds = self.acks = 0

    def on_feedback(self, event: Event) -> None:
        self.acks += 1
        self.blocks += len(event.sack)
        self.rounds += event.round is not None

    def on_loss(self, event: Event) -> float:
        self.losses += 1
        return event.window / 2

    def excuses(self, event: Event) -> bool:
        assert self.acks and self.rounds and self.blocks
        return self.losses > 1


class Bcl(CongestionControl):
    """TCP-BCL: other steps after a loss whose first missing segment a burst NAK named."""

    def __init__(self, alpha: float = 1.0, beta: float = 0.875) -> None:
        self.contended = (alpha, beta)
        self.steps = (1.0, 0.5)
        self.named: set[int] = set()

    def on_feedback(self, event: Event) -> None:
        self.named = {seq for seq in self.named if seq >= event.first}

    def on_burst_lost(self, event: Event) -> bool:
        self.named.update(seq for seq in event.segments if seq >= event.first)
        first, end = event.suspects
        return first < end and set(range(first, end)) <= set(event.segments)

    def on_ack(self, event: Event) -> float:
        return event.cwnd + self.steps[0] / max(event.cwnd, 1.0)

    def on_loss(self, event: Event) -> float:
        self.steps = self.contended if event.first in self.named else (1.0, 0.5)
        return event.window * self.steps[1]

    def on_timeout(self, event: Event) -> float:
        return self.on_loss(event)

    def on_excused(self, event: Event) -> float:
        self.steps = self.contended
        return event.window * self.steps[1]

    def excuses(self, event: Event) -> bool:
        return event.first in self.named


class Em(Detector):
    """EM-TCP: clusters the numbers of bursts between failures."""

    def __init__(self, recent: int = 100, sure: float = 0.5) -> None:
        self.sure = sure
        self.left: list[int] = []
        self.failed = 0
        self.between: deque[int] = deque(maxlen=recent)
        self.named: set[int] = set()

    def on_burst_left(self, event: Event) -> None:
        assert event.burst is not None
        self.left.append(event.burst)
        self.named.difference_update(event.segments)  # they were sent again

    def on_burst_lost(self, event: Event) -> bool:
        assert event.burst is not None
        place = self.left.index(event.burst) + 1
        self.between.append(place - self.failed - 1)
        self.failed = place
        contention = self.is_contention(self.between[-1])
        if contention:
            self.named.update(seq for seq in event.segments if seq >= event.first)
        first, end = event.suspects
        return contention and first < end and set(range(first, end)) <= set(event.segments)

    def is_contention(self, newest: float) -> bool:
        low, high = min(self.between), max(self.between)
        spread = max((high - low) / 4, 0.5)
        classes = [(0.5, float(low), spread), (0.5, float(high), spread)]
        for _ in range(10):
            weights = [posterior(classes, at) for at in self.between]
            classes = [
                fitted([1 - weight for weight in weights], self.between) or classes[0],
                fitted(weights, self.between) or classes[1],
            ]
        (_, low, narrow), (_, high, wide) = classes
        return high - low <= narrow + wide or posterior(classes, newest) >= self.sure

    def on_ack(self, event: Event) -> None:
        self.named = {seq for seq in self.named if seq >= event.first}

    def on_timeout(self, event: Event) -> str:
        return FALSE if event.suspects[0] in self.named else GENUINE


def posterior(classes: list[tuple[float, float, float]], at: float) -> float:
    """The probability that a number is of the second class."""
    first, second = (
        share / spread * math.exp(-0.5 * ((at - mean) / spread) ** 2)
        for share, mean, spread in classes
    )
    if first + second > 0:
        return second / (first + second)
    return float(at > (classes[0][1] + classes[1][1]) / 2)


def fitted(weights: list[float], found: deque[int]) -> tuple[float, float, float] | None:
    """A class by the weights of the numbers: its share, mean and deviation."""
    total = sum(weights)
    if not total:
        return None
    mean = sum(weight * at for weight, at in zip(weights, found, strict=True)) / total
    squares = sum(weight * at * at for weight, at in zip(weights, found, strict=True)) / total
    return total / len(found), mean, max(math.sqrt(max(squares - mean * mean, 0.0)), 0.5)
