"""Conducts a study: checks its plan, runs the unfinished points, stores and returns the whole."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeAlias

from burstlab import _core, classes
from burstlab.errors import InputError
from burstlab.running.engine import Bound
from burstlab.running.progress import Progress
from burstlab.studies import metrics, plan, workers
from burstlab.studies.design import columns
from burstlab.studies.outcome import Study, StudyInterrupted
from burstlab.studies.plan import Plan, PlanLike
from burstlab.studies.point_runs import point_runs
from burstlab.studies.running import Running
from burstlab.studies.store import Directory, Memory
from burstlab.studies.work import Sample, shape, work

Watch: TypeAlias = Callable[[Progress], object]


def study(
    given: PlanLike,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    client: Any = None,
    resume: bool = False,
    allow_code: bool = False,
    progress: Watch | bool | None = None,
    report: bool = True,
) -> Study:
    """Run a study.

    Parameters
    ----------
    given
        The plan: the path of a TOML file, or a dictionary of the same fields.
    out
        Directory to store it in. Each finished point is stored at once, and ``resume`` continues a
        study, however it ended. By default results are kept in memory.
    jobs
        Tasks at a time: by default the number of processors, or of a cluster's threads. It changes
        no number.
    scheduler
        Address of a Dask scheduler, such as ``tcp://host:8786``, or the path of its file.
    client
        A Dask client, or anything with the ``submit`` of an executor; it runs the tasks.
    resume
        Continue the study in ``out``; finished points are not run again.
    allow_code
        Execute classes whose text is stored in the plan or its scenario, as in the plan of a
        stored study. Class files that your own plan names need no permission.
    progress
        Called several times a second with the `Progress`; True for a bar, on a terminal as in
        Jupyter.
    report
        Whether ``report.html`` is written with the tables when all points are finished.

    Returns
    -------
    Study
        The study, with all points.

    Raises
    ------
    PlanError
        If a field of the plan, or of the scenario at one of its points, is wrong.
    ControlError
        If a Python class that it names cannot be used, or fails; finished points are kept.
    InputError
        If another argument is wrong, or the directory cannot be written or holds another study.
    EngineError
        If the engine failed at a point because of a bug. All other points are run first;
        ``study`` holds them, and ``failed.json`` lists the failed points and the reasons.
    StudyInterrupted
        On Ctrl-C (a `KeyboardInterrupt`); its ``study`` holds the finished points.
    """
    if resume and out is None:
        raise InputError("there is nothing to resume\n  fix: give the directory of the study")
    if scheduler is not None and client is not None:
        raise InputError("a scheduler and a client exclude each other\n  fix: give one of them")
    wanted = plan.read(given)
    classes.refuse(wanted.code, allow=allow_code)
    paths = _paths(wanted)
    digest = _digest(wanted, paths)
    kept = (
        Memory(wanted, list(paths))
        if out is None
        else Directory(out, wanted, list(paths), digest, resume=resume)
    )
    try:
        with _watched(progress) as watch:
            hired = _workers(scheduler, client, jobs)
            return _conduct(wanted, paths, kept, hired, watch, report=report)
    finally:
        kept.close()


def _conduct(
    wanted: Plan,
    paths: dict[str, str],
    kept: Directory | Memory,
    hired: AbstractContextManager[workers.Workers],
    watch: Watch | None,
    *,
    report: bool,
) -> Study:
    todo = [point for point in range(len(wanted.points)) if point not in kept.done]
    interrupted, began_cpu = False, time.process_time()
    state = Progress(len(wanted.points), len(kept.done))
    try:
        if todo:
            with hired as ready:
                running = Running(
                    point_runs(wanted, list(paths), todo),
                    partial(work, _core.__version__, tuple(paths.values())),
                    ready,
                    Bound(json.loads(wanted.scenario(todo[0], wanted.names[0]))),
                    state,
                    len(wanted.names) * wanted.stopping.most,
                )
                _run(running, kept, watch)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        # However the study ended, finished points are stored.
        kept.flush(now=True)
    found = Study(wanted, kept.rows(), _core.__version__, kept.path, list(state.warnings))
    if not interrupted and not found.interrupted:
        kept.finish(found.tables())
        if report and kept.path is not None:
            from burstlab.report import write_study

            write_study(found, kept.path)
    if todo:
        kept.tell(_session(state, began_cpu))
        kept.tell_failed({point: str(error) for point, error in state.failed.items()})
    if interrupted:
        raise StudyInterrupted(found)
    if state.failed:
        error = state.failed[min(state.failed)]
        error.study = found
        raise error
    return found


def _run(running: Running[Sample], kept: Directory | Memory, watch: Watch | None) -> None:
    points = running.points()
    try:
        for finished in points:
            for done in finished:
                kept.add(done)
            kept.flush()
            if watch is not None:
                watch(running.progress)
    finally:
        points.close()


def _session(state: Progress, began_cpu: float) -> dict[str, Any]:
    return {
        "burstlab": _core.__version__,
        "points": state.points,
        "done": state.done,
        "runs": state.runs,
        "simulated_s": state.simulated_s,
        "wall_s": round(state.wall_s, 3),
        "engine_cpu_s": round(state.engine_cpu_s, 3),
        "cpu_s": round(time.process_time() - began_cpu, 3),
    }


def _workers(
    scheduler: str | None, client: Any, jobs: int | None
) -> AbstractContextManager[workers.Workers]:
    if scheduler is not None:
        return workers.scheduler(scheduler, jobs)
    if client is not None:
        return workers.given(client, jobs)
    return workers.threads(jobs)


def _watched(progress: Watch | bool | None) -> AbstractContextManager[Watch | None]:
    if progress is True:
        from burstlab.running.progress import study_bar

        return study_bar("study")
    return nullcontext(progress or None)


def _paths(wanted: Plan) -> dict[str, str]:
    """Return the paths of the metrics; refuse those that no run would have."""
    shapes = [shape(wanted.scenario(0, name)) for name in wanted.names]
    if wanted.metrics is not None:
        metrics.check(wanted.metrics, shapes)
        return dict(wanted.metrics)
    taken = {*plan.RESERVED, *columns(wanted.points)}
    found = {one: one for every in shapes for one in metrics.every(every) if one not in taken}
    for name in wanted.stopping.metrics:
        if name not in found:
            metrics.check({name: name}, shapes)
            found[name] = name
    return found


def _digest(wanted: Plan, paths: dict[str, str]) -> str:
    """Check the scenario of every point, and return a hash over all of them."""
    found = hashlib.sha256(json.dumps(paths).encode())
    for point in range(len(wanted.points)):
        for scheme in wanted.names:
            found.update(wanted.scenario(point, scheme).encode())
    return found.hexdigest()
