"""The wavelengths of a fibre of the slow twin: lists of every interval that was ever reserved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(eq=False)
class Interval:
    """A reservation of a burst, from `start` up to `end`, which is no longer part of it."""

    start: int
    end: int
    burst: int
    #: When the first bit of the burst leaves; switching, or a header, comes before.
    departs: int


@dataclass
class Port:
    """Wavelengths numbered from 0."""

    count: int
    held: list[list[Interval]] = field(default_factory=list)

    def __post_init__(self):
        self.held = [[] for _ in range(self.count)]

    def horizon(self, wavelength: int) -> int:
        return max((one.end for one in self.held[wavelength]), default=0)

    def meets(self, wavelength: int, start: int, end: int) -> list[Interval]:
        """Return the reservations that overlap a burst."""
        return [one for one in self.held[wavelength] if one.start < end and start < one.end]

    def before(self, wavelength: int, start: int) -> int:
        ends = [one.end for one in self.held[wavelength] if one.end <= start]
        return max(ends, default=0)

    def after(self, wavelength: int, end: int) -> float:
        starts = [one.start for one in self.held[wavelength] if one.start >= end]
        return min(starts, default=math.inf)

    def is_free(self, rule: str, wavelength: int, start: int, end: int) -> bool:
        """First fit and the horizon know of no void: all behind the last reservation is free."""
        if rule in ("first-fit", "horizon"):
            return self.horizon(wavelength) <= start
        return not self.meets(wavelength, start, end)

    def choose(self, rule: str, among: list[int], start: int, end: int) -> int | None:
        """Return the wavelength that a scheduler takes; equals go to the lowest index."""
        free = [one for one in among if self.is_free(rule, one, start, end)]
        if not free:
            return None

        def badness(wavelength: int) -> tuple[float, ...]:
            before = start - self.before(wavelength, start)
            after = self.after(wavelength, end) - end
            if rule == "horizon":
                return (-self.horizon(wavelength),)
            if rule == "lauc-vf":
                return (before,)
            if rule == "min-ev":
                return (after,)
            if rule == "best-fit":
                return (before + after, before)
            return ()

        return min(free, key=lambda wavelength: (badness(wavelength), wavelength))

    def earliest(self, rule: str, start: int, length: int) -> int:
        """Return the first instant from `start` at which some wavelength is free for all of it."""
        everything = [one.end for held in self.held for one in held]
        for instant in sorted({start, *(end for end in everything if end > start)}):
            if any(self.is_free(rule, one, instant, instant + length) for one in range(self.count)):
                return instant
        raise AssertionError("behind the last reservation everything is free")

    def reserve(self, wavelength: int, interval: Interval) -> Interval:
        assert not self.meets(wavelength, interval.start, interval.end), "no two bursts overlap"
        self.held[wavelength].append(interval)
        return interval

    def give_back(self, interval: Interval):
        for held in self.held:
            if interval in held:
                held.remove(interval)
