"""The batches that the ``[[batches]]`` of a scenario send, as the engine draws them.

>>> from burstlab import batches
>>> drawn = batches.draw("scenario.toml", 1000, between=("E1", "E2"))  # doctest: +SKIP
>>> drawn.gaps_s.mean(), drawn.sizes.mean()  # doctest: +SKIP
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burstlab import _core
from burstlab.errors import InputError, ScenarioError
from burstlab.loading import ScenarioLike
from burstlab.simulation import resolve

__all__ = ["Drawn", "draw"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Batches of one pair of nodes, in order of time.

    Attributes
    ----------
    times_ps
        Arrival time of each batch, in ps.
    sizes
        Bytes of each.
    start_s
        When the source starts, in s.
    """

    times_ps: NDArray[np.uint64]
    sizes: NDArray[np.uint32]
    start_s: float

    @property
    def gaps_s(self) -> NDArray[np.float64]:
        """The time from each to the next, in s; the first counts from the start of the source."""
        return np.diff(self.times_ps.astype(np.float64) * 1e-12, prepend=self.start_s)

    def bytes_per(self, bin_s: float) -> NDArray[np.float64]:
        """Bytes that come in each bin of time from the start on; a last part of a bin is left out.

        Parameters
        ----------
        bin_s
            Length of a bin, in s.
        """
        if not bin_s > 0.0:
            raise InputError(
                f"bin_s = {bin_s} is no length of time\n  fix: give a positive number of s"
            )
        bins = ((self.times_ps * 1e-12 - self.start_s) // bin_s).astype(np.int64)
        return np.bincount(bins, weights=self.sizes)[:-1].astype(np.float64)


def draw(
    scenario: ScenarioLike,
    count: int,
    *,
    between: tuple[str, str],
    entry: int = 0,
    seed: int | None = None,
    replication: int = 0,
) -> Drawn:
    """Draw the first batches that an entry of ``[[batches]]`` sends from one node to another.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file.
    count
        How many; there are fewer where the source stops before.
    between
        Names of the two edge nodes.
    entry
        Which entry of ``[[batches]]``, from 0.
    seed, replication
        Of the run; by default the seed of the scenario.

    Returns
    -------
    Drawn
        The batches that a run with this seed and replication has.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or has no such batches.
    """
    if count < 1:
        raise InputError(f"count = {count} is no number of batches\n  fix: give at least 1")
    document = resolve(scenario)
    number = document["run"]["seed"] if seed is None else seed
    try:
        times, sizes = _core.batches(
            json.dumps(document), entry, *between, (number, replication), count
        )
    except ValueError as error:
        fix = "name an entry of [[batches]] and two edge nodes between which it sends"
        raise ScenarioError("batches", f"{entry}, {between}", str(error), fix) from None
    start = _core.seconds(document["batches"][entry]["start"])
    return Drawn(times, sizes, start)
