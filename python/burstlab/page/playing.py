"""``burstlab play``: a path to try out, plain TCP beside Burst TCP."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from burstlab import classes
from burstlab.errors import ControlError, InputError, ScenarioError
from burstlab.loading import Document, to_document
from burstlab.page.columns import document, pack, values
from burstlab.page.controls import AS_GIVEN, START, applied, controls, read
from burstlab.page.flow import columns, thinned
from burstlab.page.serving import BadRequest, Body, Page
from burstlab.results import Result
from burstlab.simulation import resolve, run, run_resolved
from burstlab.statistics import paired_ratio

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from numpy.typing import NDArray

_SCRIPTS = ("js/controls.js", "js/play.js")

#: Segments that are drawn one by one.
SEGMENTS = 12_000

#: Replications over which a gain can be asked for.
RUNS = 20

#: What is counted, by name, over all flows.
_COUNTED = (
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


class Played:
    """The tables of a run that is in memory, as those of a result on disk are read.

    Parameters
    ----------
    result
        A traced run.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        # The rows of a flow that is alone are all there are.
        self._several = len(result.flows) > 1

    def has(self, name: str) -> bool:
        """Whether a table was recorded."""
        return name in self._result.recorded

    def rows(
        self, name: str, columns: Sequence[str], condition: pc.Expression | None = None
    ) -> dict[str, NDArray[Any]]:
        """Read columns of the rows that meet a condition, times in seconds."""
        table = self._result.table(name).to_arrow().select([*{"flow", *columns}])
        if condition is not None and self._several:
            table = table.filter(condition)
        return {column: values(table, column) for column in columns}


def player(scenario: str | None = None) -> Page:
    """Make the page on which a path is played with.

    Parameters
    ----------
    scenario
        A TOML file to start from; by default a path of three fibres that loses bursts.

    Raises
    ------
    InputError
        If the scenario is wrong, or not of a path with flows.
    """
    given = to_document(scenario) if scenario is not None else START
    # What the controls run is what was given at the start.
    classes.refuse(classes.written(given), allow=False)
    resolved = resolve(given)
    if resolved["network"]["topology"] != "path":
        raise InputError(
            f"{scenario}: a mesh takes too long to answer a slider\n"
            "  fix: give a path, or burstlab run --trace, then burstlab view"
        )
    if not resolved.get("flows"):
        raise InputError(f"{scenario}: there is no flow\n  fix: add [[flows]]")
    base: Document = {**given, "run": {**given.get("run", {}), "replications": 1}}
    about = {
        "title": scenario or "a path of three fibres",
        "controls": [control.to_json() for control in controls(resolved)],
    }
    # Two runs side by side; a request waits for its own.
    pool = ThreadPoolExecutor(max_workers=2)

    def play(query: Mapping[str, str]) -> Body:
        wanted = read(query)
        started = time.perf_counter()
        try:
            found = _both(pool, base, wanted)
        except (ControlError, ScenarioError) as error:
            return document({"error": str(error)})
        return _answer(found, base, wanted, started)

    # The first answer loads what takes longest to load.
    play({})
    several = Several(base)
    return Page(
        title="the page to play with",
        start="play.html",
        scripts=_SCRIPTS,
        data={
            "data/about": lambda _query: document(about),
            "data/play": play,
            "data/several": several.answer,
        },
    )


class Several:
    """Goodput with and without the detector over several replications, run as they are asked for.

    Parameters
    ----------
    base
        The scenario before the controls change it.
    """

    def __init__(self, base: Document) -> None:
        self._base = base
        self._goodput = lru_cache(maxsize=2048)(self._run)

    def answer(self, query: Mapping[str, str]) -> Body:
        """Answer the gain over as many replications as ``runs`` says, with its interval."""
        try:
            runs = int(query.get("runs", ""))
        except ValueError:
            runs = 0
        if not 2 <= runs <= RUNS:
            raise BadRequest(f"runs is 2 to {RUNS}")
        wanted = read({name: value for name, value in query.items() if name != "runs"})
        detector = _detector(wanted)
        try:
            plain = self._all(wanted, "none", runs)
            burst = self._all(wanted, detector, runs)
        except (ControlError, ScenarioError) as error:
            return document({"error": str(error)})
        if not any(plain):
            return document({"runs": runs, "gain": None, "interval": None})
        ratio = paired_ratio(burst, plain)
        return document({"runs": runs, "gain": ratio.mean - 1.0, "interval": ratio.ci95})

    def _all(self, wanted: Mapping[str, Any], detector: str, runs: int) -> list[float]:
        text = json.dumps(applied(self._base, {**wanted, "detector": detector}))
        return [self._goodput(text, number) for number in range(runs)]

    def _run(self, text: str, number: int) -> float:
        result = run_resolved(resolve(json.loads(text)), [number])
        return sum(flow["goodput_bps"] for flow in result.replications[0].summary["flows"])


def _detector(wanted: Mapping[str, Any]) -> str:
    found = str(wanted.get("detector", AS_GIVEN))
    return "bnak" if found == AS_GIVEN else found


def _both(pool: ThreadPoolExecutor, base: Document, wanted: Mapping[str, Any]) -> list[Result]:
    """Run the scenario without and with the detector."""

    def one(detector: str) -> Result:
        changed = applied(base, {**wanted, "detector": detector})
        return run(changed, trace=("packets", "cwnd", "ledger"), jobs=1)

    return list(pool.map(one, ["none", _detector(wanted)]))


def _answer(
    found: Sequence[Result], base: Document, wanted: Mapping[str, Any], started: float
) -> Body:
    import tomli_w

    drawn: dict[str, NDArray[Any]] = {}
    numbers: list[dict[str, float]] = []
    for index, result in enumerate(found):
        flow, _ = thinned(columns(Played(result), 0, path=False), SEGMENTS)
        drawn.update({f"{index}/{name}": flow[name] for name in flow if name in _DRAWN})
        flows = result.replications[0].summary["flows"]
        numbers.append({name: sum(flow[name] for flow in flows) for name in _COUNTED})
    shown = applied(base, wanted)
    about = {
        "runs": numbers,
        "end_s": float(found[0].replications[0].summary["simulated_s"]),
        "toml": tomli_w.dumps(shown),
        "fingerprints": [result.fingerprint for result in found],
        "milliseconds": round((time.perf_counter() - started) * 1e3, 1),
    }
    return pack(drawn, about)


_DRAWN = frozenset(
    (
        *("sent_s", "seq", "flags"),
        *("window_s", "acked", "cwnd", "ssthresh"),
        *("event_s", "event", "event_seq", "truth", "verdict"),
        *("event_packets", "event_bursts"),
    )
)
