"""Bisection over the values of a field, with as many runs at each as its verdict needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlab.errors import InputError
from burstlab.loading import (
    ScenarioLike,
    admitted,
    apply_settings,
    refuse_overridden,
    refuse_replaced,
    set_at,
    set_by_flags,
    setting,
)
from burstlab.measures.completion import FIX, is_of_completion
from burstlab.simulation import announcements, override, resolve, run_resolved
from burstlab.sizing.binding import Pressure, pressures
from burstlab.sizing.goals import Choice, Goal
from burstlab.sizing.verdicts import Interval, Verdict, interval, verdict
from burstlab.statistics import LEVEL

Document = dict[str, Any]


@dataclass(frozen=True)
class Tried:
    """The results at one value.

    Attributes
    ----------
    value
        Of the field.
    verdict
        ``met``, ``missed``, or ``open`` if all allowed runs do not decide it.
    found
        The number of the goal with its 95 % interval.
    pressures
        The bottlenecks there, the worst first.
    """

    value: Any
    verdict: Verdict
    found: Interval
    pressures: Sequence[Pressure]

    def to_json(self) -> dict[str, Any]:
        """Return the value, its verdict and its interval; an unknown end is None."""
        ends = [self.found.mean, self.found.low, self.found.high]
        mean, low, high = (end if abs(end) < float("inf") else None for end in ends)
        found = {"mean": mean, "low": low, "high": high, "n": self.found.n}
        return {"value": self.value, "verdict": self.verdict, **found}


@dataclass(frozen=True)
class Sizing:
    """The least value that meets a goal, with the values that were tried.

    Attributes
    ----------
    goal, choice
        The goal, and the field with its values.
    tried
        All values that were tried, in the order of the choice.
    least
        The first value that meets the goal, as do all after it; None if not even the last one does.
    below
        The value before it, where the goal is missed or open; None if the first one meets it.
    warnings
        Observations that cast doubt on the answer.
    """

    goal: Goal
    choice: Choice
    tried: Sequence[Tried]
    least: Tried | None
    below: Tried | None
    warnings: Sequence[str] = field(default_factory=list)

    @property
    def binding(self) -> Sequence[Pressure]:
        """The bottlenecks below the answer, the worst first."""
        return self.below.pressures if self.below is not None else []

    def to_json(self) -> dict[str, Any]:
        """Return it all as JSON carries it."""
        return {
            "goal": self.goal.text,
            "metric": self.goal.path,
            "limit": self.goal.limit,
            "field": self.choice.field,
            "least": None if self.least is None else self.least.to_json(),
            "below": None if self.below is None else self.below.to_json(),
            "binding": [one.to_json() for one in self.binding],
            "tried": [one.to_json() for one in self.tried],
            "warnings": list(self.warnings),
        }


def size(
    scenario: ScenarioLike,
    goal: str | Goal,
    over: str | Choice,
    *,
    settings: Sequence[str] = (),
    seed: int | None = None,
    replications: int = 8,
    most: int = 64,
    jobs: int | None = None,
    max_memory: str | None = None,
    allow_code: bool = False,
    tell: Callable[[Tried], object] | None = None,
    announce: Callable[[str], object] | None = None,
) -> Sizing:
    """Find the first value of a field at which a goal is met, by bisection.

    It assumes that all values after the first one that meets the goal meet it too. Tried values
    that
    contradict this are among the warnings.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file.
    goal
        Such as ``"burst loss < 1e-3"``; see `burstlab.sizing.goals.METRICS`.
    over
        The field and its values: ``"network.wavelengths=1..32"``, ``"access.rate=1 Gb/s,10 Gb/s"``.
        All values after one that meets the goal should meet it too.
    settings
        Changes to the scenario, as ``--set`` takes them; they come first.
    seed
        By default that of the scenario. All values have the same random numbers.
    replications
        Runs at a value before it is judged for the first time, at least 2. They are doubled as long
        as they leave it open.
    most
        The largest number of runs at a value, at least `replications`.
    jobs
        Runs at a time; by default the number of processors. It changes no number.
    max_memory
        In place of ``run.max_memory``, such as ``"2 GB"``.
    allow_code
        Execute Python code that came with the scenario; see `burstlab.run`.
    tell
        Called with each value that was tried.
    announce
        Called once with the notices about long or large runs.

    Returns
    -------
    Sizing
        The value with its interval, the values that were tried, and the bottlenecks below it.

    Raises
    ------
    InputError
        If an argument cannot be used, or a scenario with one of the values.
    """
    wanted = Goal.read(goal) if isinstance(goal, str) else goal
    choice = Choice.read(over) if isinstance(over, str) else over
    if not 2 <= replications <= most:
        raise InputError(
            f"{replications} replications, {most} at most: an interval needs two runs\n"
            "  fix: write at least 2, and a --most that is not smaller"
        )
    set_by_flags(settings, seed=seed, replications=replications, max_memory=max_memory)
    refuse_replaced([*map(setting, settings), (choice.field, choice.values[0])])
    document = admitted(scenario, settings, allow_code=allow_code)
    override(document, seed=seed, replications=replications)
    if max_memory is not None:
        set_at(document, "run.max_memory", max_memory)
    ends = (0, len(choice.values) - 1)
    resolved = [_with(document, choice, place, allow_code=allow_code) for place in ends]
    for line in dict.fromkeys(line for one in resolved for line in announcements(one)):
        if announce is not None:
            announce(line)
    trial = _Trials(document, wanted, choice, replications, most, jobs, tell, allow_code=allow_code)
    return _bisected(trial)


def _with(document: Document, choice: Choice, place: int, *, allow_code: bool) -> Document:
    """Return the scenario with one of the values, checked; a value may name code."""
    changed = apply_settings(document, ())
    set_at(changed, choice.field, choice.values[place])
    refuse_overridden(changed, {choice.field: choice.values[place]})
    return resolve(admitted(changed, allow_code=allow_code))


class _Trials:
    """Values that were tried, by their place among those to choose from."""

    def __init__(
        self,
        document: Document,
        goal: Goal,
        choice: Choice,
        replications: int,
        most: int,
        jobs: int | None,
        tell: Callable[[Tried], object] | None,
        *,
        allow_code: bool,
    ) -> None:
        self._allow_code = allow_code
        self.goal, self.choice = goal, choice
        self.done: dict[int, Tried] = {}
        self._document, self._jobs, self._tell = document, jobs, tell
        # Runs that there are at each look.
        self._looks = [replications]
        while self._looks[-1] < most:
            self._looks.append(min(most, 2 * self._looks[-1]))

    def at(self, place: int) -> Tried:
        """Try a value, unless that is done."""
        if place not in self.done:
            self.done[place] = self._try(place)
            if self._tell is not None:
                self._tell(self.done[place])
        return self.done[place]

    def _try(self, place: int) -> Tried:
        resolved = _with(self._document, self.choice, place, allow_code=self._allow_code)
        runs: list[Mapping[str, Any]] = []
        judged: Verdict = "open"
        for count in self._looks:
            result = run_resolved(resolved, range(len(runs), count), jobs=self._jobs)
            runs.extend(one.summary for one in result.replications)
            # Who looks several times errs more often: each look has its part of the chance.
            level = LEVEL / len(self._looks)
            judged = verdict(self.goal, interval(self.goal, runs, level))
            if judged != "open":
                break
        found = interval(self.goal, runs)
        return Tried(self.choice.values[place], judged, found, pressures(runs))


def _bisected(trials: _Trials) -> Sizing:
    last = len(trials.choice.values) - 1
    first, end = trials.at(0), trials.at(last)
    least: int | None = None
    if first.verdict == "met":
        least = 0
    elif end.verdict == "met":
        below, least = 0, last
        while least - below > 1:
            middle = (below + least) // 2
            if trials.at(middle).verdict == "met":
                least = middle
            else:
                below = middle
    before = last if least is None else least - 1
    tried = [trials.done[place] for place in sorted(trials.done)]
    return Sizing(
        trials.goal,
        trials.choice,
        tried,
        None if least is None else trials.done[least],
        trials.done[before] if before >= 0 else None,
        _doubts(trials, least),
    )


def _doubts(trials: _Trials, least: int | None) -> list[str]:
    doubts: list[str] = []
    values, field_ = trials.choice.values, trials.choice.field
    if least is not None:
        missed = [n for n, one in trials.done.items() if n > least and one.verdict == "missed"]
        doubts += [
            f"{field_} = {values[n]} misses the goal, and {values[least]} meets it; fix: "
            "list the values so that the goal is easier to meet towards the end"
            for n in sorted(missed)
        ]
    near = [n for n in sorted(trials.done) if trials.done[n].verdict == "open"]
    for n in near:
        runs = trials.done[n].found.n
        why, fix = f"{runs} runs leave open", "allow more with --most, or longer runs"
        if runs == 0 and is_of_completion(trials.goal.path):
            why, fix = "transfers that were unfinished at the end of runs leave open", FIX
        doubts.append(f"{field_} = {values[n]}: {why} whether it meets the goal; fix: {fix}")
    return doubts
