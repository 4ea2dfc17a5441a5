"""Runs targets of several papers at a time.

Near its end a target has fewer unfinished runs than there are workers, and then it measures and
draws in one thread. The targets of a paper follow one another, since they share runs. Those of
different papers share none, so one paper's runs use the processors that another leaves idle.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence

from burstlab.reproduce.engine import Options, Progress, TargetReport, reproduce
from burstlab.reproduce.paper import Paper
from burstlab.running.interrupts import stoppable
from burstlab.running.worker_pool import UnderWay, threads, workers_asked

#: Papers at a time, where there is more than one worker.
_PAPERS = 2

#: Targets of one paper that are yet to be run, with their places among all.
_Line = deque[tuple[int, Paper, str]]


def reproduce_all(
    wanted: Sequence[tuple[Paper, str]],
    options: Options,
    progress: Callable[[int], Progress | None],
) -> Generator[TargetReport]:
    """Run targets and return each as it finishes; at the end, however it comes, none still runs.

    Parameters
    ----------
    wanted
        Papers and targets.
    options
        How they are run. All targets together share the workers.
    progress
        Called with the place of a target and its progress.
    """
    lines: dict[str, _Line] = {}
    for place, (paper, target) in enumerate(wanted):
        lines.setdefault(paper.key, deque()).append((place, paper, target))
    waiting, under_way = deque(lines.values()), UnderWay[_Line, TargetReport]()
    stop = threading.Event()
    count = min(_PAPERS, workers_asked(options.jobs), len(lines))
    with threads(count) as pool:

        def begin(line: _Line) -> None:
            place, paper, target = line.popleft()
            given = (stop, reproduce, paper, target, options, progress(place))
            under_way.add(pool.submit, stoppable, *given, about=line)

        try:
            while len(under_way) < count and waiting:
                begin(waiting.popleft())
            while under_way:
                for line, task in under_way.finished():
                    report = task.result()
                    if not line:
                        options.left.pop(report.paper.key, None)
                    if line or waiting:
                        begin(line or waiting.popleft())
                    yield report
        finally:
            stop.set()
            under_way.stop()
