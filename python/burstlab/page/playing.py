"""``burstlab play``: a path to try out, plain TCP compared with Burst TCP."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from burstlab import again, classes
from burstlab.documents.kind import kind
from burstlab.errors import ControlError, InputError, ScenarioError
from burstlab.loading import Document, admitted
from burstlab.page.columns import document, pack
from burstlab.page.controls import (
    AS_GIVEN,
    START,
    applied,
    controls,
    read,
    refuse_costly,
    refuse_long,
)
from burstlab.page.flow import columns, thinned
from burstlab.page.memory import Played, bursts
from burstlab.page.presets import preset, presets
from burstlab.page.sampling import Sampler, counted, together
from burstlab.page.scenes import Left, Scene, Scenes, closed_on_error
from burstlab.page.serving import Answer, BadRequest, Body, Page
from burstlab.page.showing import page_about, watched
from burstlab.page.spread import paired, remark
from burstlab.simulation import resolve, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.results import Result

#: Segments that are drawn one by one.
SEGMENTS = 6_000

#: Pairs of runs behind the bars and the gain.
RUNS = 20

#: Packets that all runs of one answer may send together; where they send more, fewer runs answer
#: at once and the others follow.
PACKETS = 250_000

_FEWEST = 2

#: The two sides, as the page and the key of a run call them.
SIDES = ("plain", "burst")


class Player:
    """Returns to the sliders.

    Parameters
    ----------
    given
        A scenario to start from, by default a path of three fibres that loses bursts.
    title
        Its title.
    """

    def __init__(self, given: Document, title: str) -> None:
        self._given, self._title = given, title
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._closed = threading.Event()
        self._sampler = Sampler()
        self._bases: dict[str, tuple[Document, list[Any], str]] = {"": self._base(given, title)}

    def close(self) -> None:
        """End the workers, and their runs."""
        self._closed.set()
        self._pool.shutdown(cancel_futures=True)
        self._sampler.close()

    def answers(self) -> dict[str, Answer]:
        """Return the answers of the page, by name."""
        return {
            "data/controls": lambda query: document(self._controls(query.get("preset", ""))),
            "data/play": self._play,
            "data/several": self._several,
        }

    def scene(self, key: str) -> Scene:
        """Return a side as it stands, to be watched.

        Parameters
        ----------
        key
            ``plain?`` or ``burst?``, and the values of the controls as a query.
        """
        side, _, text = key.partition("?")
        if side not in SIDES:
            raise BadRequest(f"run is {SIDES[0]}? or {SIDES[1]}? and the controls")
        base, wanted = self._wanted(dict(parse_qsl(text)))
        detector = "none" if side == "plain" else _detector(wanted)
        name = "without a detector" if side == "plain" else f"with {detector}"
        note = "The first of the runs behind the bars."
        return Scene(f"played, {name}", applied(base, {**wanted, "detector": detector}), note=note)

    def _base(self, given: Document, title: str) -> tuple[Document, list[Any], str]:
        resolved = resolve(given)
        base: Document = {**given, "run": {**given.get("run", {}), "replications": 1}}
        found, note = controls(resolved)
        return base, found, f"{title} {note}".strip() if note else ""

    def _of(self, name: str) -> tuple[Document, list[Any], str]:
        if name not in self._bases:
            chosen = preset(name)
            if not chosen.play:
                raise BadRequest(
                    f"preset {name} is no path, so it has no sliders; it can only be watched"
                )
            self._bases[name] = self._base(chosen.scenario, chosen.label)
        return self._bases[name]

    def _controls(self, name: str) -> dict[str, Any]:
        _, found, note = self._of(name)
        return {
            "title": self._title if not name else preset(name).label,
            "preset": name,
            "note": " ".join(part for part in (preset(name).note if name else "", note) if part),
            "controls": [control.to_json() for control in found],
        }

    def _wanted(self, query: Mapping[str, str]) -> tuple[Document, dict[str, Any]]:
        base, found, _ = self._of(query.get("preset", ""))
        asked = read({name: value for name, value in query.items() if name != "preset"})
        refuse_long(asked, found)
        # Controls without a value keep the one with which the page begins.
        begun = {control.name: control.value for control in found}
        wanted = {**begun, **asked}
        if asked:
            refuse_costly(resolve(applied(base, wanted)), resolve(applied(base, begun)))
        return base, wanted

    def _play(self, query: Mapping[str, str]) -> Body:
        started = time.perf_counter()
        try:
            base, wanted = self._wanted(query)
            return self._answer(base, wanted, started)
        except (ControlError, ScenarioError) as error:
            return document({"error": str(error)})

    def _answer(self, base: Document, wanted: Mapping[str, Any], started: float) -> Body:
        import tomli_w

        scenarios = _sides(base, wanted)
        trace = ("packets", "bursts", "cwnd", "ledger")
        drawn = list(self._pool.map(lambda one: self._run(one, trace), scenarios))
        first = [counted(result.replications[0].summary) for result in drawn]
        sent = sum(one["packets_sent"] for one in first)
        runs = max(_FEWEST, min(RUNS, int(PACKETS / max(sent, 1))))
        shown = scenarios[1]
        about = {
            **self._together(scenarios, runs),
            "most": RUNS,
            "drawn": first,
            "end_s": float(drawn[0].replications[0].summary["simulated_s"]),
            "spread": remark(drawn[1].scenario),
            "paired": paired(drawn[1].scenario),
            "judged": _judged(drawn[1]),
            "toml": tomli_w.dumps(shown),
            "flag": again.FLAG if classes.written(shown) else "",
            "fingerprints": [result.fingerprint for result in drawn],
        }
        columns = _columns(drawn)
        about["milliseconds"] = round((time.perf_counter() - started) * 1e3, 1)
        return pack(columns, about)

    def _run(self, scenario: Document, trace: Sequence[str]) -> Result:
        # Code in it was admitted with the scenario that the page began with; no control writes any.
        return run(scenario, trace=trace, jobs=1, allow_code=True, progress=self._unless_closed)

    def _unless_closed(self, _share: float) -> None:
        """End a run that nobody waits for any more; nothing of it is kept."""
        if self._closed.is_set():
            raise Left

    def _several(self, query: Mapping[str, str]) -> Body:
        """Return the gain over as many replications as ``runs`` says, with its interval."""
        try:
            runs = int(query.get("runs", ""))
        except ValueError:
            runs = 0
        if not _FEWEST <= runs <= RUNS:
            raise BadRequest(f"runs is {_FEWEST} to {RUNS}")
        try:
            base, wanted = self._wanted({name: v for name, v in query.items() if name != "runs"})
            return document(self._together(_sides(base, wanted), runs))
        except (ControlError, ScenarioError) as error:
            return document({"error": str(error)})

    def _together(self, scenarios: Sequence[Document], runs: int) -> dict[str, Any]:
        sides = [self._sampler.resolved(one) for one in scenarios]
        return together(*self._sampler.counts(sides, range(runs)))


def player(scenario: str | None = None, *, allow_code: bool = False) -> Page:
    """Make the page on which a path is played with.

    Parameters
    ----------
    scenario
        A TOML file to start from; by default a path of three fibres that loses bursts.
    allow_code
        Execute Python code that came with it; see `burstlab.run`.

    Raises
    ------
    InputError
        If the scenario is wrong, or not of a path with flows.
    """
    playing = Player(*starting(scenario, allow_code=allow_code))
    scenes = Scenes(playing.scene, f"{SIDES[1]}?")
    # The first answer loads the modules that take longest to load.
    with closed_on_error(scenes, playing):
        playing.answers()["data/play"]({})

    def close() -> None:
        scenes.close()
        playing.close()

    listed = [one.to_json() for one in presets().values() if one.play]
    return Page(
        "the page to play with",
        {
            "data/page": page_about("play", presets=listed),
            **playing.answers(),
            **watched(scenes.shown),
        },
        close,
    )


def starting(scenario: str | None, *, allow_code: bool) -> tuple[Document, str]:
    """Return what is played first, and its title.

    Parameters
    ----------
    scenario
        A TOML file; by default a path of three fibres that loses bursts.
    allow_code
        Whether Python code that came with it may be executed.
    """
    if scenario is None:
        return START, "a path of three fibres"
    # The controls run the scenario that was given at the start.
    given = admitted(scenario, allow_code=allow_code)
    resolved = resolve(given)
    if kind(resolved) != "path":
        raise InputError(
            f"{scenario}: a mesh takes too long to answer a slider\n"
            f"  fix: give a path, or burstlab view {scenario}"
        )
    if not resolved.get("flows"):
        raise InputError(f"{scenario}: there is no flow\n  fix: add [[flows]]")
    return given, scenario


def _sides(base: Document, wanted: Mapping[str, Any]) -> list[Document]:
    """Return the scenario without a detector, and with it."""
    return [applied(base, {**wanted, "detector": one}) for one in ("none", _detector(wanted))]


def _detector(wanted: Mapping[str, Any]) -> str:
    found = str(wanted.get("detector", AS_GIVEN))
    return "bnak" if found == AS_GIVEN else found


def _judged(result: Result) -> dict[str, int]:
    """Count the false and the true time-outs of a run, and those that the detector recognised."""
    rows = result.ledger.where(kind="timeout").to_pylist()
    found = {"false": 0, "false_recognised": 0, "true": 0, "true_recognised": 0}
    for row in rows:
        if row["truth"] in ("false", "true"):
            found[row["truth"]] += 1
            found[f"{row['truth']}_recognised"] += row["verdict"] == row["truth"]
    return found


def _columns(drawn: Sequence[Result]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for index, result in enumerate(drawn):
        played = Played(result)
        flow, _ = thinned(columns(played, 0, path=False), SEGMENTS)
        found.update({f"{index}/{name}": flow[name] for name in flow if name in _DRAWN})
        found.update({f"{index}/{name}": value for name, value in bursts(played).items()})
    return found


_DRAWN = frozenset(
    (
        *("sent_s", "seq", "flags"),
        *("window_s", "acked", "cwnd", "ssthresh"),
        *("event_s", "event", "event_seq", "truth", "verdict"),
        *("event_packets", "event_bursts"),
    )
)
