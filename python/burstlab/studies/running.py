"""Runs points, as many at a time as there are workers, and hands each over.

This loop runs replications until they are precise, for the points of a study and for those of a
paper's figure.

The runs of a point depend on the plan alone. How they are grouped into tasks depends on their
duration and on free workers, and changes no number.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Generic

from burstlab import _core
from burstlab.errors import ControlError, InputError, ScenarioError
from burstlab.running.engine import Bound, fault
from burstlab.running.progress import Progress
from burstlab.running.worker_pool import UnderWay
from burstlab.statistics import Asking, Sample, side_by_side
from burstlab.studies.warmup import Found, Warmup
from burstlab.studies.work import Answer, Failed, Order, Pilot
from burstlab.studies.workers import Workers

#: Tasks for each worker, so that none waits for the next.
_AHEAD = 2

#: The weight of the newest task in the estimate of the time of a run.
_NEWEST = 0.3


@dataclass(frozen=True)
class Done(Generic[Sample]):
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
    batches
        The numbers of the replications, as they were asked for.
    reached
        Whether it is as precise as was wanted.
    """

    point: int
    seed: int
    samples: Mapping[str, Sequence[Sample]]
    warmup: Found | None
    batches: Sequence[range]
    reached: bool


class PointRun(Generic[Sample]):
    """A point in progress: the runs that it still needs, and their samples.

    Parameters
    ----------
    point
        Its number.
    seed
        Of its runs, which are the same for all schemes.
    scenarios
        The resolved scenario of each scheme, as JSON.
    asking
        Yields the numbers of replications to make next, as `ask_until` does, and takes the samples.
    warmup, warmed
        How the warm-up is to be found, and a function that returns the scenarios with one, in s.
    """

    def __init__(
        self,
        point: int,
        seed: int,
        scenarios: Mapping[str, str],
        asking: Asking[Sample],
        warmup: Warmup | None = None,
        warmed: Callable[[float], Mapping[str, str]] | None = None,
    ) -> None:
        self.point, self.seed = point, seed
        self._scenarios, self._asking = scenarios, asking
        self._rule, self._warmed = warmup, warmed
        self._warmups: dict[str, Found] = {}
        self._batches = [next(asking)]
        self._found: dict[str, dict[int, Sample]] = {name: {} for name in scenarios}

    def first(self) -> list[_Job[Sample]]:
        """Return the first orders."""
        if self._rule is None:
            return self._batch()
        return [
            _Job(self, name, Pilot(text, self.seed, self._rule))
            for name, text in self._scenarios.items()
        ]

    def warm(self, scheme: str, found: Found) -> list[_Job[Sample]]:
        """Take the warm-up of a scheme; the longest is that of all, which are compared."""
        self._warmups[scheme] = found
        if len(self._warmups) < len(self._scenarios):
            return []
        warmup = self.warmup
        assert warmup is not None and self._warmed is not None
        self._scenarios = self._warmed(warmup.time_s)
        return self._batch()

    @property
    def warmup(self) -> Found | None:
        """The warm-up of all its runs."""
        if not self._warmups:
            return None
        longest = max(found.time_s for found in self._warmups.values())
        return Found(longest, all(found.found for found in self._warmups.values()))

    def take(
        self, scheme: str, first: int, samples: Sequence[Sample]
    ) -> list[_Job[Sample]] | Done[Sample]:
        """Take samples; return the next orders, perhaps none yet, or the finished point."""
        self._found[scheme].update(enumerate(samples, start=first))
        batch = self._batches[-1]
        if any(len(found) < batch.stop for found in self._found.values()):
            return []
        new = {name: [found[i] for i in batch] for name, found in self._found.items()}
        try:
            self._batches.append(self._asking.send(side_by_side(new)))
        except StopIteration as end:
            samples_of = {
                name: [found[i] for i in range(len(found))] for name, found in self._found.items()
            }
            reached = end.value.reached
            return Done(self.point, self.seed, samples_of, self.warmup, self._batches, reached)
        return self._batch()

    def _batch(self) -> list[_Job[Sample]]:
        numbers = self._batches[-1]
        return [
            _Job(self, name, Order(text, self.seed, numbers.start, len(numbers)))
            for name, text in self._scenarios.items()
        ]


@dataclass(frozen=True)
class _Job(Generic[Sample]):
    point_run: PointRun[Sample]
    scheme: str
    order: Order | Pilot


class Running(Generic[Sample]):
    """Points in progress.

    Parameters
    ----------
    point_runs
        The points that are to be run; each is asked for when there is a worker for it.
    do
        The function that a worker calls, such as `work.work`.
    workers
        Who runs them.
    bound
        The memory that they may take.
    progress
        Progress of the whole; it is kept up to date.
    runs_of_a_point
        The largest number of runs of a point.
    """

    def __init__(
        self,
        point_runs: Iterator[PointRun[Sample]],
        do: Callable[..., Answer[Sample]],
        workers: Workers,
        bound: Bound,
        progress: Progress,
        runs_of_a_point: int,
    ) -> None:
        self.progress = progress
        self._point_runs = point_runs
        self._do = do
        self._workers = workers
        self._bound = bound
        self._runs_of_a_point = runs_of_a_point
        self._jobs: deque[_Job[Sample]] = deque()
        self._tasks: UnderWay[list[_Job[Sample]], Answer[Sample]] = UnderWay(
            bound if workers.here else None
        )
        self._run_s: float | None = None
        self._started = time.perf_counter()

    def points(self) -> Generator[list[Done[Sample]]]:
        """Return points as they are done, several times a second even if there are none.

        However it ends, no task is left behind.
        """
        try:
            while True:
                self._submit()
                if not self._tasks:
                    return
                yield self._collect()
        finally:
            self._tasks.stop()

    def _submit(self) -> None:
        most = _AHEAD * max(self._workers.count(), 1)
        while len(self._tasks) < most and (jobs := self._task()):
            monitor = _core.Monitor(self._bound.allowed) if self._workers.here else None
            orders = [job.order for job in jobs]
            watched = [monitor] if monitor else []
            call = (self._workers.submit, self._do, orders, *watched)
            self._tasks.add(*call, about=jobs, monitor=monitor)

    def _task(self) -> list[_Job[Sample]]:
        """Return what one worker does next: enough for a task to be worth it."""
        jobs: list[_Job[Sample]] = []
        left_s = self._workers.task_s
        run_s = self._run_s if self._run_s is not None else left_s
        while left_s > 0.0:
            if not self._jobs:
                if (point_run := next(self._point_runs, None)) is None:
                    break
                self._jobs.extend(point_run.first())
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

    def _collect(self) -> list[Done[Sample]]:
        finished = self._tasks.finished()
        self._tasks.check()
        done: list[Done[Sample]] = []
        # Jobs that follow are queued in the order in which tasks were made.
        for jobs, future in finished:
            answer = _result(future)
            self._count(answer)
            for job, result in zip(jobs, answer.results, strict=True):
                done.extend(self._take(job, result))
        self._look(done)
        return done

    def _take(
        self, job: _Job[Sample], result: Sequence[Sample] | Found | Failed
    ) -> list[Done[Sample]]:
        point_run = job.point_run
        if isinstance(result, Failed) and point_run.point not in self.progress.failed:
            scenario = json.loads(job.order.scenario)
            which = f"point {point_run.point}, scheme {job.scheme!r}, seed {point_run.seed}"
            error = fault(scenario, (result.what, result.place), which)
            self.progress.failed[point_run.point] = error
            self._jobs = deque(one for one in self._jobs if one.point_run is not point_run)
        if isinstance(result, Failed) or point_run.point in self.progress.failed:
            return []
        if isinstance(result, Found):
            self._jobs.extend(job.point_run.warm(job.scheme, result))
            return []
        assert isinstance(job.order, Order)
        following = job.point_run.take(job.scheme, job.order.first, result)
        if isinstance(following, Done):
            return [following]
        self._jobs.extend(following)
        return []

    def _count(self, answer: Answer[Sample]) -> None:
        newest = answer.engine_s / max(answer.runs, 1)
        before = self._run_s if self._run_s is not None else newest
        self._run_s = (1.0 - _NEWEST) * before + _NEWEST * newest
        self.progress.runs += answer.runs
        self.progress.simulated_s += answer.simulated_s
        self.progress.engine_cpu_s += answer.engine_cpu_s
        self.progress.warnings.update(dict.fromkeys(answer.warnings))

    def _look(self, done: Sequence[Done[Sample]]) -> None:
        progress = self.progress
        progress.done += len(done)
        progress.wall_s = time.perf_counter() - self._started
        under_way = self._tasks.progress() / self._runs_of_a_point
        share = (progress.done + under_way) / max(progress.points, 1)
        progress.share = max(progress.share, min(share, 1.0))


def _split(job: _Job[Sample], order: Order, count: int) -> tuple[_Job[Sample], _Job[Sample] | None]:
    head = Order(order.scenario, order.seed, order.first, count)
    if count >= order.count:
        return job, None
    rest = Order(order.scenario, order.seed, order.first + count, order.count - count)
    return _Job(job.point_run, job.scheme, head), _Job(job.point_run, job.scheme, rest)


def _result(future: Future[Answer[Sample]]) -> Answer[Sample]:
    try:
        return future.result()
    except CancelledError:
        raise InputError(
            "all workers have ended\n"
            "  fix: start them again, and resume; points that were done are kept"
        ) from None
    except _core.InvalidScenario as error:
        path, value, problem, fix = [*error.args, "", "", "", ""][:4]
        raise ScenarioError(str(path), value, f"{problem} (in a run)", str(fix)) from None
    except _core.ClassError as error:
        raise ControlError(*error.args) from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise InputError(
            f"a task made several workers end ({error})\n"
            "  fix: give the workers more memory, and resume; finished points are kept"
        ) from None
