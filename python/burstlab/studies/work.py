"""The work of a worker: runs of resolved scenarios, of which only the wanted numbers come back.

Workers may be threads of this process or processes anywhere, so they exchange plain data.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from burstlab import _core
from burstlab.errors import ControlError, InputError
from burstlab.running.engine import heard, memory_allowed
from burstlab.studies import warmup
from burstlab.studies.metrics import Reader, Summary


@dataclass(frozen=True)
class Order:
    """Replications ``first`` to ``first + count - 1`` of a scenario, as JSON."""

    scenario: str
    seed: int
    first: int
    count: int


@dataclass(frozen=True)
class Pilot:
    """Find the warm-up of a scenario."""

    scenario: str
    seed: int
    rule: warmup.Warmup


@dataclass(frozen=True)
class Sample:
    """The values that are kept of a run.

    Attributes
    ----------
    fingerprint
        That of the run.
    simulated_s
        Its simulated length.
    values
        The metrics in their order; None where one is missing.
    """

    fingerprint: str
    simulated_s: float
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Failed:
    """An order at which the engine failed.

    Attributes
    ----------
    what, place
        The condition that failed, and its place in the sources.
    """

    what: str
    place: str


Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Answer(Generic[Kept]):
    """The outcome of some orders.

    Attributes
    ----------
    results
        For each order its samples, or the warm-up that was found, or the failure.
    runs
        The number of runs.
    simulated_s
        Their simulated time, without the pilot runs for a warm-up.
    engine_s
        Wall time within the engine.
    engine_cpu_s
        Of that, time on the processor.
    warnings
        Warnings of the engine, each once.
    """

    results: Sequence[Sequence[Kept] | warmup.Found | Failed]
    runs: int
    simulated_s: float
    engine_s: float
    engine_cpu_s: float
    warnings: Sequence[str]


def work(
    version: str,
    paths: Sequence[str],
    orders: Sequence[Order | Pilot],
    monitor: _core.Monitor | None = None,
) -> Answer[Sample]:
    """Do some orders.

    Parameters
    ----------
    version
        The version of the caller; another version here would give other numbers.
    paths
        Where the metrics are in the summary of a run.
    orders
        The runs to do.
    monitor
        May cancel it all, where it is in the same process.
    """
    if version != _core.__version__:
        raise InputError(
            f"a worker has burstlab {_core.__version__}, and the study {version}\n"
            "  fix: install the same version everywhere"
        )
    reader = Reader(paths)
    watch = monitor or _core.Monitor(memory_allowed({}))
    results: list[Sequence[Sample] | warmup.Found | Failed] = []
    warnings: dict[str, None] = {}
    simulated_s = engine_s = engine_cpu_s = 0.0
    runs = 0
    for order in orders:
        started, started_cpu = time.perf_counter(), time.thread_time()
        texts: list[str] = []
        failed: Failed | None = None
        try:
            if isinstance(order, Pilot):
                runs += order.rule.pilots
                results.append(warmup.find(order.scenario, order.seed, order.rule, watch))
            else:
                where = (order.scenario, order.seed, order.first, order.count)
                texts = _core.simulate_several(*where, watch)
        except _core.EngineFault as error:
            failed = Failed(*error.args)
            results.append(failed)
        engine_s += time.perf_counter() - started
        engine_cpu_s += time.thread_time() - started_cpu
        if failed is None and isinstance(order, Order):
            summaries = [json.loads(text) for text in texts]
            results.append([_sample(summary, reader) for summary in summaries])
            runs += len(summaries)
            simulated_s += sum(summary["simulated_s"] for summary in summaries)
            found = (warning for summary in summaries for warning in summary["warnings"])
            warnings.update(dict.fromkeys(found))
    return Answer(results, runs, simulated_s, engine_s, engine_cpu_s, list(warnings))


def shape(scenario: str) -> Summary:
    """Return the summary of a run that ends before it begins: it has all metrics."""
    try:
        return json.loads(heard(lambda _: _core.shape(scenario)))
    except _core.ClassError as error:
        raise ControlError(*error.args) from None


def _sample(summary: Summary, reader: Reader) -> Sample:
    return Sample(summary["fingerprint"], summary["simulated_s"], reader.read(summary))
