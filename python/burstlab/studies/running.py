"""Runs the points of a study, as many at a time as there are workers, and hands each over.

What a point's runs are depends on the plan alone. How they are put into tasks depends on how long
they take and on who is free, and changes no number.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import TypeAlias

from burstlab import _core, meanwhile
from burstlab.engine import Bound, fault
from burstlab.errors import ControlError, EngineError, InputError, ScenarioError
from burstlab.statistics import (
    Estimate,
    ask_until,
    mean_ci95,
    paired_ratio,
    side_by_side,
)
from burstlab.studies.plan import Plan, picoseconds
from burstlab.studies.warmup import Found
from burstlab.studies.work import Answer, Failed, Order, Pilot, Sample, work
from burstlab.studies.workers import Workers

#: Tasks for each worker, so that none waits for the next.
_AHEAD = 2

_POLL_S = 0.1

#: The share of the newest task in the estimate of what a run takes.
_NEWEST = 0.3


@dataclass(frozen=True)
class Done:
    """A point that is done.

    Attributes
    ----------
    point
        Its number.
    seed
        The seed of its runs.
    samples
        One for each replication, by scheme.
    warmup
        The warm-up that was found for it, if it was looked for.
    """

    point: int
    seed: int
    samples: Mapping[str, Sequence[Sample]]
    warmup: Found | None


@dataclass
class Progress:
    """How far a study is.

    Attributes
    ----------
    points, done
        Points that it has, and that are done.
    share
        What is done, 0 to 1, points under way included.
    runs
        Runs that were made since it was started or resumed.
    simulated_s
        How much time they simulated.
    wall_s
        How long that took.
    engine_cpu_s
        Time that the engine had on processors, added over the workers.
    failed
        Points at which the engine failed, by a fault of its own; they are not done.
    """

    points: int
    done: int = 0
    share: float = 0.0
    runs: int = 0
    simulated_s: float = 0.0
    wall_s: float = 0.0
    engine_cpu_s: float = 0.0
    warnings: dict[str, None] = field(default_factory=dict, repr=False)
    failed: dict[int, EngineError] = field(default_factory=dict, repr=False)


class _Visit:
    """A point under way: what it still needs, and what came back."""

    def __init__(self, plan: Plan, paths: Mapping[str, str], point: int) -> None:
        self.point = point
        self.seed = plan.seed_of(point)
        self._plan = plan
        self._scenarios = {name: plan.scenario(point, name) for name in plan.names}
        self._places = [list(paths).index(name) for name in plan.stopping.metrics]
        self._warmups: dict[str, Found] = {}
        stop = plan.stopping
        self._asking = ask_until(self._precise, first=stop.first, batch=stop.batch, most=stop.most)
        self._numbers = next(self._asking)
        self._found: dict[str, dict[int, Sample]] = {name: {} for name in plan.names}

    def first(self) -> list[_Job]:
        """Answer what is to be run first."""
        if (rule := self._plan.warmup) is not None:
            return [
                _Job(self, name, Pilot(text, self.seed, rule))
                for name, text in self._scenarios.items()
            ]
        return self._batch()

    def warm(self, scheme: str, found: Found) -> list[_Job]:
        """Take the warm-up of a scheme; the longest is that of all, which are compared."""
        self._warmups[scheme] = found
        if len(self._warmups) < len(self._scenarios):
            return []
        warmup = self.warmup
        assert warmup is not None
        self._scenarios = {
            name: self._plan.scenario(self.point, name, picoseconds(warmup.time_s))
            for name in self._scenarios
        }
        return self._batch()

    @property
    def warmup(self) -> Found | None:
        """The warm-up of all its runs."""
        if not self._warmups:
            return None
        longest = max(found.time_s for found in self._warmups.values())
        return Found(longest, all(found.found for found in self._warmups.values()))

    def take(self, scheme: str, first: int, samples: Sequence[Sample]) -> list[_Job] | Done:
        """Take samples; answer what is to be run next, which may be nothing yet, or the point."""
        self._found[scheme].update(enumerate(samples, start=first))
        if any(len(found) < self._numbers.stop for found in self._found.values()):
            return []
        batch = {name: [found[i] for i in self._numbers] for name, found in self._found.items()}
        try:
            self._numbers = self._asking.send(side_by_side(batch))
        except StopIteration:
            samples_of = {
                name: [found[i] for i in range(len(found))] for name, found in self._found.items()
            }
            return Done(self.point, self.seed, samples_of, self.warmup)
        return self._batch()

    def _batch(self) -> list[_Job]:
        first, count = self._numbers.start, len(self._numbers)
        return [
            _Job(self, name, Order(text, self.seed, first, count))
            for name, text in self._scenarios.items()
        ]

    def _precise(self, samples: Sequence[Mapping[str, Sample]]) -> bool:
        wanted = self._plan.stopping.relative
        if wanted is None:
            return True
        return all(one.relative() <= wanted for one in self._estimates(samples))

    def _estimates(self, samples: Sequence[Mapping[str, Sample]]) -> Iterator[Estimate]:
        """Answer what has to be precise; what has no value in some run is not."""
        names = self._plan.names
        for place in self._places:
            values = {
                name: [math.nan if (v := one[name].values[place]) is None else v for one in samples]
                for name in names
            }
            if self._plan.stopping.of == "means":
                yield from (mean_ci95(found) for found in values.values())
            else:
                yield from (paired_ratio(values[b], values[a]) for a, b in pairs(names))


@dataclass(frozen=True)
class _Job:
    visit: _Visit
    scheme: str
    order: Order | Pilot


_Task: TypeAlias = "Future[Answer]"


def pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Answer each two of the names, in the order they have."""
    return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]


class Running:
    """The points of a study under way.

    Parameters
    ----------
    plan
        What is run.
    paths
        Where the metrics are, by name.
    todo
        The points that are to be run.
    workers
        Who runs them.
    """

    def __init__(
        self, plan: Plan, paths: Mapping[str, str], todo: Sequence[int], workers: Workers
    ) -> None:
        self.progress = Progress(len(plan.points), len(plan.points) - len(todo))
        self._plan = plan
        self._paths = paths
        self._todo = deque(todo)
        self._workers = workers
        self._bound = Bound(json.loads(plan.scenario(todo[0], plan.names[0])) if todo else {})
        self._jobs: deque[_Job] = deque()
        self._tasks: dict[_Task, tuple[list[_Job], _core.Monitor | None]] = {}
        self._run_s: float | None = None
        self._started = time.perf_counter()

    def points(self) -> Generator[list[Done]]:
        """Answer points as they are done, several times a second even if there are none.

        However it ends, no task is left behind.
        """
        try:
            while self._todo or self._jobs or self._tasks:
                self._submit()
                yield self._collect()
        finally:
            self._stop()

    def _submit(self) -> None:
        most = _AHEAD * max(self._workers.count(), 1)
        while len(self._tasks) < most and (jobs := self._task()):
            monitor = _core.Monitor(self._bound.allowed) if self._workers.here else None
            orders = [job.order for job in jobs]
            more = () if monitor is None else (monitor,)
            paths = tuple(self._paths.values())
            future = self._workers.submit(work, _core.__version__, paths, orders, *more)
            self._tasks[future] = (jobs, monitor)

    def _task(self) -> list[_Job]:
        """Answer what one worker does next: enough for a task to be worth it."""
        jobs: list[_Job] = []
        left_s = self._workers.task_s
        run_s = self._run_s if self._run_s is not None else left_s
        while left_s > 0.0 and (self._jobs or self._todo):
            if not self._jobs:
                self._jobs.extend(_Visit(self._plan, self._paths, self._todo.popleft()).first())
            job = self._jobs.popleft()
            count = job.order.rule.pilots if isinstance(job.order, Pilot) else job.order.count
            if isinstance(job.order, Order) and count * run_s > left_s:
                count = max(1, int(left_s / max(run_s, 1e-9)))
                job, rest = _split(job, job.order, count)
                if rest is not None:
                    self._jobs.appendleft(rest)
            jobs.append(job)
            left_s -= count * max(run_s, 1e-9)
        return jobs

    def _collect(self) -> list[Done]:
        finished, _ = wait(self._tasks, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        meanwhile.load()
        exceeded = self._bound.exceeded() if self._workers.here else None
        if exceeded is not None:
            raise exceeded
        done: list[Done] = []
        # Jobs that follow are queued in the order in which tasks were made.
        for future in [future for future in self._tasks if future in finished]:
            jobs, _ = self._tasks.pop(future)
            answer = _result(future)
            self._count(jobs, answer)
            for job, result in zip(jobs, answer.results, strict=True):
                done.extend(self._take(job, result))
        self._look(done)
        return done

    def _take(self, job: _Job, result: Sequence[Sample] | Found | Failed) -> list[Done]:
        visit = job.visit
        if isinstance(result, Failed) and visit.point not in self.progress.failed:
            scenario = json.loads(job.order.scenario)
            which = f"point {visit.point}, scheme {job.scheme!r}, seed {visit.seed}"
            error = fault(scenario, (result.what, result.place), which)
            self.progress.failed[visit.point] = error
            self._jobs = deque(one for one in self._jobs if one.visit is not visit)
        if isinstance(result, Failed) or visit.point in self.progress.failed:
            return []
        if isinstance(result, Found):
            self._jobs.extend(job.visit.warm(job.scheme, result))
            return []
        assert isinstance(job.order, Order)
        following = job.visit.take(job.scheme, job.order.first, result)
        if isinstance(following, Done):
            return [following]
        self._jobs.extend(following)
        return []

    def _count(self, jobs: Sequence[_Job], answer: Answer) -> None:
        samples = [
            one
            for result in answer.results
            if not isinstance(result, (Found, Failed))
            for one in result
        ]
        runs = len(samples) + sum(
            job.order.rule.pilots for job in jobs if isinstance(job.order, Pilot)
        )
        newest = answer.engine_s / max(runs, 1)
        before = self._run_s if self._run_s is not None else newest
        self._run_s = (1.0 - _NEWEST) * before + _NEWEST * newest
        self.progress.runs += runs
        self.progress.simulated_s += sum(one.simulated_s for one in samples)
        self.progress.engine_cpu_s += answer.engine_cpu_s
        self.progress.warnings.update(dict.fromkeys(answer.warnings))

    def _look(self, done: Sequence[Done]) -> None:
        progress = self.progress
        progress.done += len(done)
        progress.wall_s = time.perf_counter() - self._started
        under_way = sum(monitor.progress() for _, monitor in self._tasks.values() if monitor)
        several = len(self._plan.names) * self._plan.stopping.most
        share = (progress.done + under_way / several) / max(progress.points, 1)
        progress.share = max(progress.share, min(share, 1.0))

    def _stop(self) -> None:
        for future, (_, monitor) in self._tasks.items():
            future.cancel()
            if monitor is not None:
                monitor.cancel()


def _split(job: _Job, order: Order, count: int) -> tuple[_Job, _Job | None]:
    head = Order(order.scenario, order.seed, order.first, count)
    if count >= order.count:
        return job, None
    rest = Order(order.scenario, order.seed, order.first + count, order.count - count)
    return _Job(job.visit, job.scheme, head), _Job(job.visit, job.scheme, rest)


def _result(future: _Task) -> Answer:
    try:
        return future.result()
    except CancelledError:
        raise InputError(
            "the workers are gone\n"
            "  fix: start them again, and resume; points that were done are kept"
        ) from None
    except _core.InvalidScenario as error:
        path, value, problem, fix = [*error.args, "", "", "", ""][:4]
        refused = ScenarioError(str(path), value, f"{problem} (in a run)", str(fix))
        raise refused from None
    except _core.ClassError as error:
        raise ControlError(*error.args) from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise InputError(
            f"a task ended several workers ({error})\n"
            "  fix: give them more memory, and resume; points that were done are kept"
        ) from None
