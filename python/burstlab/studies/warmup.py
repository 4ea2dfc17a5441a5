"""Where the warm-up of a run ends: MSER-5 on a series sampled in pilot runs.

White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69
(1997); White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
simulation", Winter Simulation Conference 2000.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstlab import _core
from burstlab.errors import InputError, PlanError
from burstlab.studies.fields import Fields
from burstlab.tables import from_engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Observations in a batch: the 5 of MSER-5.
BATCH = 5

#: Observations of a pilot run where the plan names no interval: 100 batches.
OBSERVATIONS = 500

#: Series, and the table that each is made of.
SERIES = {"delivered": "packets", "active": "samples"}


@dataclass(frozen=True)
class Warmup:
    """How the warm-up is found.

    Attributes
    ----------
    series
        ``"delivered"``: data delivered to hosts in each interval, in bit/s, from the table
        ``packets``. ``"active"``: unfinished connections, from the table ``samples``.
    interval
        Length of an interval of ``delivered``, with its unit; empty for a five-hundredth of the
        run.
    pilots
        Replications whose series are averaged.
    """

    series: str = "delivered"
    interval: str = ""
    pilots: int = 5

    @classmethod
    def read(cls, given: Any, path: str) -> Warmup:
        """Read ``"mser"`` or a table of the fields."""
        if isinstance(given, str):
            given = {"rule": given}
        fields = Fields(given, path)
        fields.choice("rule", ("mser",))
        series = fields.choice("series", SERIES)
        pilots = fields.whole("pilots", least=1, most=10_000, default=cls.pilots)
        interval = fields.take("interval", str, "")
        if interval:
            found = _core.quantity(interval)
            if found is None or found[1] != "s" or found[0] <= 0.0:
                fix = "write a time such as 100 ms"
                raise PlanError(fields.at("interval"), interval, "not a time above zero", fix)
            if series != "delivered":
                fix = "leave it out, and set run.sample in the scenario"
                raise PlanError(fields.at("interval"), interval, f"{series} has none", fix)
        fields.done()
        return cls(series, interval, pilots)

    def to_document(self) -> dict[str, Any]:
        """Return the fields as a plan has them."""
        document: dict[str, Any] = {"rule": "mser", "series": self.series, "pilots": self.pilots}
        return {**document, "interval": self.interval} if self.interval else document


@dataclass(frozen=True)
class Truncation:
    """Where a series becomes steady.

    Attributes
    ----------
    kept_from
        The first observation that is kept.
    found
        Whether that is in the first half; else the series is too short to tell.
    """

    kept_from: int
    found: bool


def mser5(series: Sequence[float] | NDArray[Any]) -> Truncation:
    """Find the truncation of a series by MSER-5.

    Batches of five observations are averaged. Of all truncations the one is taken that leaves the
    smallest sum of squares around the mean of what is left, over the square of its length: the
    narrowest interval, were they independent. The last five batches are no truncation of their own.
    """
    import numpy as np

    count = len(series) // BATCH
    if count < 2 * BATCH:
        raise InputError(
            f"MSER-5 needs at least {2 * BATCH * BATCH} observations, and has {len(series)}\n"
            "  fix: run longer, or sample more often"
        )
    batches = np.asarray(series[: count * BATCH], dtype=float).reshape(count, BATCH).mean(axis=1)
    statistic = [
        float(((left := batches[cut:]) - left.mean()).__pow__(2).sum()) / len(left) ** 2
        for cut in range(count - BATCH)
    ]
    best = int(np.argmin(statistic))
    return Truncation(best * BATCH, found=best <= count // 2)


@dataclass(frozen=True)
class Found:
    """The warm-up of one scenario.

    Attributes
    ----------
    time_s
        Its end; half of the run where the series is not steady by then.
    found
        Whether it is.
    """

    time_s: float
    found: bool


def find(text: str, seed: int, rule: Warmup, monitor: _core.Monitor) -> Found:
    """Run the pilots of a resolved scenario, without a warm-up, and return where theirs ends.

    Parameters
    ----------
    text
        The scenario, as JSON.
    seed
        Its seed; the pilots are the first replications.
    rule
        How it is found.
    monitor
        May cancel the pilots.
    """
    import numpy as np

    document = json.loads(text)
    document["run"]["warmup"] = "0 s"
    document["run"].pop("drain", None)
    plain = json.dumps(document)
    trace = [SERIES[rule.series]] if rule.series == "delivered" else []
    found: list[NDArray[np.float64]] = []
    step_s = 0.0
    for number in range(rule.pilots):
        output = _core.simulate(plain, seed, number, trace, monitor)
        step_s, series = _SAMPLED[rule.series](output, document, rule)
        found.append(series)
    length = min(map(len, found))
    cut = mser5(np.mean([series[:length] for series in found], axis=0))
    half_s = length * step_s / 2
    return (
        Found(min(cut.kept_from * step_s, half_s), cut.found) if cut.found else Found(half_s, False)
    )


def _delivered(
    output: _core.Output, document: dict[str, Any], rule: Warmup
) -> tuple[float, NDArray[np.float64]]:
    import numpy as np

    simulated_s = float(json.loads(output.summary)["simulated_s"])
    step_s = simulated_s / OBSERVATIONS
    if rule.interval:
        step_s = _core.seconds(rule.interval)
    count = math.floor(simulated_s / step_s + 1e-9)
    bits = np.zeros(max(count, 1))
    for name, columns in output.tables():
        if name != "packets":
            continue
        rows = from_engine(columns, 0)
        kind, fate = (rows[column] for column in ("kind", "fate"))
        wanted = (kind == "data") & (fate == "delivered")
        times = rows["delivered_ps"][wanted].astype(float) * 1e-12
        places = np.minimum((times / step_s).astype(int), len(bits))
        sizes = rows["size_bytes"][wanted]
        bits += np.bincount(places, 8.0 * sizes, len(bits) + 1)[: len(bits)]
    return step_s, bits / step_s


def _active(
    output: _core.Output, document: dict[str, Any], rule: Warmup
) -> tuple[float, NDArray[np.float64]]:
    import numpy as np

    chunks = [from_engine(columns, 0) for name, columns in output.tables() if name == "samples"]
    if not chunks:
        raise PlanError(
            "warmup.series",
            "active",
            "there are no samples of active connections",
            "set run.sample in the scenario of a mesh with [[demand]], or use series = delivered",
        )
    times = np.concatenate([rows["t_ps"] for rows in chunks])
    active = np.concatenate([rows["active"] for rows in chunks])
    instants, places = np.unique(times, return_inverse=True)
    step_s = _core.seconds(document["run"]["sample"])
    return step_s, np.bincount(places, active.astype(float), len(instants)).astype(float)


_SAMPLED = {"delivered": _delivered, "active": _active}
