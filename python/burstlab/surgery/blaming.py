"""Which lost burst cost the most: each alone is spared in a run that is otherwise the same."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import _core
from burstlab.documents.kind import kind
from burstlab.errors import InputError
from burstlab.loading import Document, ScenarioLike
from burstlab.results import Result
from burstlab.running import lazy_load
from burstlab.running.engine import fault, heard, memory_allowed, scenario_error
from burstlab.running.worker_pool import UnderWay, threads, workers_asked
from burstlab.statistics import Estimate, mean_ci95
from burstlab.storage.directories import PRICES, vacant
from burstlab.storage.files import stored_text
from burstlab.surgery.ledger import Ledger
from burstlab.surgery.source import Source, other_run, ps, source
from burstlab.tables import Table

if TYPE_CHECKING:
    from burstlab.storage.directories import Room

Progress = Callable[[float], None]

#: Fields of ``blame.json`` that tell prices from others.
_ASKED = ("seed", "replication", "fingerprint", "lost", "flow", "priced", "horizon_s")


@dataclass(frozen=True)
class Blame:
    """The prices of the bursts that a run has lost.

    Attributes
    ----------
    prices
        One row per burst that was priced, sorted by lost time and then by lost bytes: ``burst``,
        ``direction`` as in the table ``bursts``, ``lost_ps`` the instant at which its loss was
        certain, ``cause``, ``node``, ``connections`` aboard; ``bytes`` that connections would have
        had more at their receivers at the end if only it had arrived, and ``seconds`` that finite
        transfers would have taken less, each up to the end of the run; of these
        ``bytes_indirect``, ``seconds_indirect`` of connections with nothing in it; ``different``
        connections whose outcome changes, ``different_indirect`` of them with nothing in it.
        Negative: the loss was a gain.
    lost
        Bursts with packets or ACKs of connections that the run lost, or of which some was cut off;
        where a flow is given, of that flow.
    flow
        The flow of which each of them had packets or ACKs; None: of any.
    all
        The price of all together: that of a run which loses none; ``bytes``, ``seconds``.
    horizon_s
        How long after its loss the price of a burst is counted; None: to the end of the run, which
        alone is the whole price.
    sampled
        Whether only a sample of the lost bursts was priced.
    fingerprint, seed, replication
        The run.
    wall_s
        How long it took.
    apart
        Whether bursts of ACKs are numbered apart from those with data, as on a path with data in
        one direction.
    """

    prices: Table
    lost: int
    flow: int | None
    all: Mapping[str, float]
    horizon_s: float | None
    sampled: bool
    fingerprint: str
    seed: int
    replication: int
    wall_s: float
    apart: bool

    @property
    def sums(self) -> dict[str, Estimate]:
        """The sum of the prices of all lost bursts; an estimate if only a sample is priced."""
        found: dict[str, Estimate] = {}
        for name in ("bytes", "bytes_indirect", "seconds", "seconds_indirect"):
            values = [float(value) for value in self.prices[name]]
            found[name] = _sum(values, self.lost)
        return found

    @property
    def summary(self) -> dict[str, Any]:
        """The document that ``burstlab blame --json`` prints, without single prices."""
        return {
            "burstlab": _core.__version__,
            "seed": self.seed,
            "replication": self.replication,
            "fingerprint": self.fingerprint,
            "lost": self.lost,
            "flow": self.flow,
            "priced": len(self.prices),
            "sampled": self.sampled,
            "horizon_s": self.horizon_s,
            "sums": {name: one.to_json() for name, one in self.sums.items()},
            "all": dict(self.all),
            "wall_s": round(self.wall_s, 6),
        }

    def top(self, count: int = 20) -> list[dict[str, Any]]:
        """Return the most expensive bursts.

        Parameters
        ----------
        count
            How many.

        Returns
        -------
        list of dict
            One per burst, the highest price first; a missing value is None.
        """
        return self.prices.head(count).to_pylist()

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write ``prices.parquet`` and ``blame.json``, which take their places together.

        Parameters
        ----------
        directory
            Where; prices of another run, or of other bursts, are refused.
        force
            Replace these too.

        Returns
        -------
        Path
            The directory.
        """
        from burstlab.storage.directories import PRICES, Room

        with Room(directory, PRICES, force=force) as room:
            if not force:
                refuse_prices(room.path, self.asked)
            return self.write_into(room)

    @property
    def asked(self) -> dict[str, Any]:
        """The fields of the question; prices for other fields are not comparable."""
        return {name: self.summary[name] for name in _ASKED}

    def write_into(self, room: Room) -> Path:
        """Write the prices into a directory that is locked already.

        Parameters
        ----------
        room
            The directory.

        Returns
        -------
        Path
            Its path.
        """
        from burstlab.storage.files import put
        from burstlab.storage.parquet import write_file, writing
        from burstlab.storage.sums import FIELD, sealed, sum_of

        with writing(room.path):
            new = room.begin()
            path = new / "prices.parquet"
            write_file(path, [self.prices])
            document = sealed({**self.summary, FIELD: {path.name: sum_of(path)}})
            text = json.dumps(document, indent=2, allow_nan=False)
            put(new / "blame.json", f"{text}\n".encode())
        room.move_in()
        return room.path


def refuse_prices(directory: Path, asked: Mapping[str, Any]) -> None:
    """Refuse a directory with finished prices, unless they are those of the same question.

    Parameters
    ----------
    directory
        The directory.
    asked
        The question; empty: none is the same.
    """
    path = directory / "blame.json"
    if not path.exists():
        return
    there: Any = None
    with suppress(OSError, ValueError):
        there = json.loads(stored_text(path))
    theirs = {name: there.get(name) for name in _ASKED} if isinstance(there, dict) else {}
    if not asked or theirs != dict(asked):
        raise InputError(
            f"{directory} holds the prices of an earlier command\n  fix: give another directory"
        )


def blame(
    given: Result | ScenarioLike,
    *,
    flow: int | None = None,
    sample: int | None = None,
    horizon: str | None = None,
    seed: int | None = None,
    replication: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Blame:
    """Price each lost burst of a run: the bytes that its loss cost all connections.

    A price is exact: the run is cloned just before the loss, and the clone, in which this one burst
    arrives, runs to the end. With a horizon both runs end that long after the loss, and the price
    leaves out later effects.

    Parameters
    ----------
    given
        A result, or the directory of one; a scenario, or the file of one.
    flow
        Price only bursts that had packets or ACKs of this flow, from 0. A price still counts all
        connections.
    sample
        Number of lost bursts to price, drawn by the seed; by default all.
    horizon
        Simulated time after the loss until which its price counts, such as ``"2 s"``.
    seed, replication
        Of a scenario: its seed; which replication, by default the first.
    jobs
        Runs at a time; by default one for each processor. It changes no number.
    out
        Directory to write to: ``prices.parquet``, ``blame.json``, and in the meantime the prices
        that are known.
    resume
        Continue with the prices in ``out``, however that run ended.
    progress
        Called with the share done, 0 to 1.

    Returns
    -------
    Blame
        The prices, one row per burst, and their sums.

    Raises
    ------
    InputError
        If the result is of another version, the run has lost no burst, or none of ``flow``, or
        ``out`` holds the prices of another run.
    """
    if out is not None:
        vacant(Path(out), PRICES)
        if not resume:
            refuse_prices(Path(out), {})
    run = source(given, seed=seed, replication=replication)
    if sample is not None and sample < 1:
        raise InputError(f"sample = {sample}: too small\n  fix: use 1 or more")
    if resume and out is None:
        raise InputError("there is nothing to resume\n  fix: give the directory (--out DIR)")
    workers = workers_asked(jobs)
    horizon_ps = ps(horizon, "--horizon") if horizon is not None else None
    started = time.perf_counter()
    prices = _lost(run)
    if run.fingerprint not in (None, prices.fingerprint):
        raise other_run(run, prices.fingerprint)
    lost = json.loads(prices.lost())
    if not lost:
        raise InputError(
            f"{run.name}: replication {run.replication} has lost no burst with packets of "
            "connections\n  fix: make a longer run, or one with more load or loss"
        )
    of_flow = _of_flow(run, lost, flow)
    places = _places(of_flow, sample, run.seed)
    asked = {
        "seed": run.seed,
        "replication": run.replication,
        "fingerprint": prices.fingerprint,
        "lost": len(of_flow),
        "flow": flow,
        "priced": len(places),
        "horizon_s": horizon_ps * 1e-12 if horizon_ps is not None else None,
    }
    assert tuple(asked) == _ASKED, "the question has other fields"
    if out is not None:
        refuse_prices(Path(out), asked if resume else {})
    with Ledger.at(out, _marks(run, lost, horizon_ps), resume=resume) as ledger:
        prices.pick([place for place in places if place not in ledger.known], horizon_ps)
        whole = _priced(prices, run, places, workers, ledger, progress)
        rows = [_row(lost[place], ledger.known[place]) for place in places]
        rows.sort(key=lambda row: (-row["seconds"], -row["bytes"], row["lost_ps"], row["burst"]))
        found = Blame(
            _table(rows),
            len(of_flow),
            flow,
            {"bytes": whole["bytes"], "seconds": whole["ps"] * 1e-12},
            horizon_ps * 1e-12 if horizon_ps is not None else None,
            len(places) < len(of_flow),
            prices.fingerprint,
            run.seed,
            run.replication,
            time.perf_counter() - started,
            _apart(run.resolved),
        )
        if ledger.room is not None:
            found.write_into(ledger.room)
    return found


def _apart(resolved: Document) -> bool:
    both = any(flow.get("reverse") is not None for flow in resolved.get("flows") or [])
    return kind(resolved) == "path" and not both


def _lost(run: Source) -> _core.Prices:
    text, random = json.dumps(run.resolved), (run.seed, run.replication)
    allowed = memory_allowed(run.resolved)
    try:
        _core.needs(text, _core.Monitor(allowed))
        return heard(lambda monitor: _core.Prices(text, random, monitor))
    except _core.InvalidScenario as error:
        raise scenario_error(error) from None
    except _core.EngineFault as error:
        raise fault(run.resolved, error.args, f"seed {run.seed}") from None


def _of_flow(run: Source, lost: Sequence[Mapping[str, Any]], flow: int | None) -> list[int]:
    """Return the places of the lost bursts that had something of a flow, or of all."""
    places = [place for place, one in enumerate(lost) if flow is None or flow in one["connections"]]
    if places:
        return places
    hit = sorted({one for burst in lost for one in burst["connections"]})
    some = ", ".join(map(str, hit[:8])) + (", ..." if len(hit) > 8 else "")
    raise InputError(
        f"flow = {flow}: replication {run.replication} of {run.name} has lost no burst with "
        f"packets of it\n  fix: choose a flow that lost some, such as {some}"
    )


def _places(of_flow: Sequence[int], sample: int | None, seed: int) -> list[int]:
    """Return which of these lost bursts are priced: a simple random sample, in order."""
    if sample is None or sample >= len(of_flow):
        return list(of_flow)
    import numpy as np

    drawn = np.random.Generator(np.random.Philox(seed)).permutation(len(of_flow))[:sample]
    return sorted(of_flow[int(place)] for place in drawn)


def _marks(run: Source, lost: Sequence[Mapping[str, Any]], horizon_ps: int | None) -> Any:
    from burstlab.running.engine import fingerprint_of

    return {
        "burstlab": _core.__version__,
        "scenario": fingerprint_of(run.resolved),
        "seed": run.seed,
        "replication": run.replication,
        "lost": len(lost),
        "horizon_ps": horizon_ps,
    }


def _priced(
    prices: _core.Prices,
    run: Source,
    places: Sequence[int],
    workers: int,
    ledger: Ledger,
    progress: Progress | None,
) -> Mapping[str, Any]:
    """Have each picked burst priced, and all of them together."""
    monitors = [_core.Monitor() for _ in range(workers + 1)]

    def work(monitor: _core.Monitor) -> None:
        while (price := prices.next(monitor)) is not None:
            ledger.note(json.loads(price))

    whole: list[Mapping[str, Any]] = []

    def price_all() -> None:
        whole.append(json.loads(prices.all(monitors[-1])))

    lazy_load.want(*lazy_load.TABLES)
    under_way: UnderWay[None, None] = UnderWay()
    with threads(workers) as pool:
        try:
            under_way.add(pool.submit, price_all, about=None, monitor=monitors[-1])
            for monitor in monitors[:-1]:
                under_way.add(pool.submit, work, monitor, about=None, monitor=monitor)
            while under_way:
                for _, task in under_way.finished():
                    task.result()
                if progress is not None:
                    progress(len(ledger.known) / max(len(places), 1))
        except _core.EngineFault as error:
            raise fault(run.resolved, error.args, f"seed {run.seed}") from None
        finally:
            under_way.stop()
    return whole[0]


def _row(lost: Mapping[str, Any], price: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "burst": lost["burst"],
        "direction": "ack" if lost["acks"] else "data",
        "lost_ps": lost["decided_ps"],
        "cause": lost["cause"],
        "node": lost["node"],
        "connections": len(lost["connections"]),
        "bytes": price["bytes"],
        "bytes_indirect": price["bytes_indirect"],
        "seconds": price["ps"] * 1e-12,
        "seconds_indirect": price["ps_indirect"] * 1e-12,
        "different": price["connections"],
        "different_indirect": price["connections_indirect"],
        "until_ps": price["until_ps"],
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    from burstlab.tables import from_rows

    return from_rows(rows)


def _sum(values: Sequence[float], count: int) -> Estimate:
    """Estimate the sum over so many from the values of a simple random sample of them."""
    n = len(values)
    if n == count:
        return Estimate(math.fsum(values), 0.0, n)
    mean = mean_ci95(values)
    # Cochran (1977), Sampling Techniques, section 2.6: without replacement, of a finite number.
    shrinks = math.sqrt(1.0 - n / count)
    half = mean.ci95 * count * shrinks if mean.ci95 is not None else None
    return Estimate(mean.mean * count, half, n)
