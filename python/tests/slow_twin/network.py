"""Nodes, fibres and routes of the slow twin: every simple path is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from draws import uniforms

Path = tuple[int, ...]


@dataclass
class Network:
    """Nodes are numbered from 1; a fibre leads in one direction."""

    switches: dict[int, bool]
    #: Propagation delay in ps and wavelengths of each fibre.
    fibres: dict[tuple[int, int], tuple[int, int]]
    by_hops: bool = False
    #: Nodes with hosts, in order, and the seed: what the first turn of a pair is drawn by.
    hosts: list[int] = field(default_factory=list)
    seed: int = 1
    found: dict[tuple[int, int], list[Path]] = field(default_factory=dict)

    def first_turn(self, start: int, end: int, paths: int) -> int:
        """Draw with which of its paths a pair begins, if they take turns."""
        ordinal = len(self.hosts) * self.hosts.index(start) + self.hosts.index(end)
        return int(uniforms("routes/turns", ordinal, self.seed)[0] * paths)

    def delay(self, path: Path) -> int:
        return sum(self.fibres[pair][0] for pair in pairwise(path))

    def onward(self, node: int) -> list[int]:
        return sorted(to for start, to in self.fibres if start == node)

    def simple(self, path: Path, end: int) -> Iterator[Path]:
        """Every path that passes no node twice, and only nodes that switch."""
        if path[-1] == end:
            yield path
        elif len(path) == 1 or self.switches[path[-1]]:
            for node in self.onward(path[-1]):
                if node not in path:
                    yield from self.simple((*path, node), end)

    def rank(self, path: Path) -> tuple[int, int, Path]:
        """Rank by delay, then links, or the reverse; then by the node where they part."""
        links, delay = len(path) - 1, self.delay(path)
        return (links, delay, path) if self.by_hops else (delay, links, path)

    def paths(self, start: int, end: int) -> list[Path]:
        """Every path, the shortest first."""
        if (start, end) not in self.found:
            self.found[start, end] = sorted(self.simple((start,), end), key=self.rank)
        return self.found[start, end]
