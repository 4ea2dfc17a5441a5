"""Several runs on each side of a comparison, with their joint verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from burstlab import _core
from burstlab.errors import ControlError
from burstlab.loading import Document
from burstlab.running.engine import memory_allowed, scenario_error
from burstlab.simulation import replicate, resolve
from burstlab.statistics import mean_ci95, paired_ratio

#: Counters, by name, over all flows.
COUNTED = (
    "goodput_bps",
    "packets_sent",
    "retransmissions",
    "timeouts",
    "false_timeouts",
    "true_timeouts",
    "spurious_timeouts",
    "fast_retransmits",
    "early_repairs",
)

#: Counts of runs that are remembered.
_KEPT = 8192

Counts = Mapping[str, float]


def counted(summary: Mapping[str, Any]) -> dict[str, float]:
    """Add up the flows of a run.

    Parameters
    ----------
    summary
        Of the run.
    """
    return {name: sum(flow[name] for flow in summary["flows"]) for name in COUNTED}


class Sampler:
    """Runs replications, and remembers their counters."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._once = lru_cache(maxsize=_KEPT)(self._run)
        self._running: list[_core.Monitor] = []

    def close(self) -> None:
        """End the workers, and their runs."""
        for monitor in list(self._running):
            monitor.cancel()
        self._pool.shutdown(cancel_futures=True)

    def resolved(self, scenario: Document) -> tuple[str, int, int | None]:
        """Check a scenario once for all its replications.

        Parameters
        ----------
        scenario
            With the values of all controls.
        """
        found = resolve(scenario)
        return json.dumps(found), int(found["run"]["seed"]), memory_allowed(found)

    def counts(
        self, sides: Sequence[tuple[str, int, int | None]], numbers: Sequence[int]
    ) -> list[list[Counts]]:
        """Return what replications counted, of each side.

        Parameters
        ----------
        sides
            As `resolved` answers them.
        numbers
            Replications, from 0.
        """
        asked = [[self._pool.submit(self._once, *side, n) for n in numbers] for side in sides]
        return [[one.result() for one in side] for side in asked]

    def _run(self, text: str, seed: int, allowed: int | None, number: int) -> Counts:
        monitor = _core.Monitor(allowed)
        self._running.append(monitor)
        try:
            found, end = replicate(text, seed, number, monitor, [])
        except _core.InvalidScenario as error:
            raise scenario_error(error) from None
        except _core.ClassError as error:
            raise ControlError(*error.args) from None
        finally:
            self._running.remove(monitor)
        if end is not None:
            raise end
        return counted(found.summary)


def together(plain: Sequence[Counts], burst: Sequence[Counts]) -> dict[str, Any]:
    """Return means with 95 % intervals of both sides, and the gain from one to the other.

    Parameters
    ----------
    plain, burst
        Counts of the same replications, at least two.
    """
    sides = []
    for runs in (plain, burst):
        goodput = mean_ci95([one["goodput_bps"] for one in runs])
        means = {name: sum(one[name] for one in runs) / len(runs) for name in COUNTED}
        sides.append({**means, "goodput_ci95": goodput.ci95 or 0.0})
    goodputs = [[one["goodput_bps"] for one in runs] for runs in (burst, plain)]
    alive = any(goodputs[1])
    ratio = paired_ratio(*goodputs) if alive else None
    return {
        "runs": len(plain),
        "sides": sides,
        "gain": ratio.mean - 1.0 if ratio else None,
        "interval": ratio.ci95 if ratio else None,
    }
