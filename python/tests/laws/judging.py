"""Classes that are law and detector: detectors of the engine, written once more in a law."""

from burstlab.control import CongestionControl, Event


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
