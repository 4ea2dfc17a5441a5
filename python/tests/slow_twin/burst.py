"""A burst of the slow twin, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from slow_twin.network import Path
from slow_twin.port import Interval


@dataclass(eq=False)
class Taken:
    """A reservation of a burst on a fibre, or its refusal."""

    fibre: tuple[int, int]
    wavelength: int | None
    departs: int
    end: int
    interval: Interval | None


@dataclass(eq=False)
class Burst:
    number: int
    start: int
    egress: int
    group: int
    size: int
    #: Packets of one size each; background bursts have none.
    packets: int
    packet: int
    #: How long it is, as its header says, and as far as it was not cut.
    hold: int
    left: int
    route: Path = ()
    planned: int = 0
    #: Position in `route` of the node that schedules it next, and when its first bit is there.
    at: int = 0
    arrives: int = 0
    wavelength: int | None = None
    #: Delay lines that it passes on its path.
    delayed: int = 0
    #: Whether its last node had a wavelength for it, but no converter.
    lacks: bool = False
    copy: bool = False
    attempts: int = 0
    #: When it leaves, where it asks before.
    leaves: int = 0
    taken: list[Taken] = field(default_factory=list)
    #: The fibres of attempts before this one, and those it was refused, with their place.
    noted: list[tuple[int, Taken]] = field(default_factory=list)
    fate: str = "in-flight"
    cause: str = "none"
    node: int = 0
    lost: int | None = None
    departed: int | None = None
    arrived: int | None = None

    @property
    def here(self) -> int:
        return self.route[self.at]

    @property
    def next(self) -> int:
        return self.route[self.at + 1]

    def note_refusal(self):
        """It asked for a fibre in vain."""
        end = self.arrives + self.left
        self.noted.append((self.at, Taken((self.here, self.next), None, self.arrives, end, None)))

    def note_attempt(self):
        """It is sent again: what it held is of the past."""
        self.noted += enumerate(self.taken)

    def hops(self) -> list[tuple[int, Taken]]:
        """Return each fibre it was given or refused, with its place on the path."""
        return [*self.noted, *enumerate(self.taken)]
