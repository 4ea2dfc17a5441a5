"""Where the runs of a study are made: threads here, or whatever takes functions to call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from burstlab.errors import InputError
from burstlab.extras import extra
from burstlab.running import worker_pool
from burstlab.running.worker_pool import workers_asked

#: Seconds that a task takes in threads of this process: between two looks of the main thread.
_HERE_S = 0.1

#: Seconds that a task takes elsewhere, where sending it costs milliseconds.
_ELSEWHERE_S = 0.75

#: How long to wait for an answer of a scheduler.
_CONNECT = "20s"


@dataclass(frozen=True)
class Workers:
    """Runs the tasks of a study.

    Attributes
    ----------
    submit
        Takes a function and its arguments, and returns a future.
    count
        How many tasks run at a time, as far as is known now.
    here
        Whether they are threads of this process, which a monitor reaches.
    task_s
        How long a task should take.
    """

    submit: Callable[..., Future[Any]]
    count: Callable[[], int]
    here: bool
    task_s: float


@contextmanager
def threads(jobs: int | None) -> Iterator[Workers]:
    """Work in threads of this process; the engine lets other threads run."""
    count = workers_asked(jobs)
    with worker_pool.threads(count) as pool:
        yield Workers(pool.submit, lambda: count, here=True, task_s=_HERE_S)


@contextmanager
def given(client: Any, jobs: int | None) -> Iterator[Workers]:
    """Work where a client of Dask, or anything with the ``submit`` of an executor, says."""
    given = workers_asked(jobs) if jobs is not None else None
    if hasattr(client, "get_executor"):

        def cores() -> int:
            return given or sum(client.nthreads().values())

        # Runs are no function of their arguments alone as Dask means it: it would hash them all.
        executor = client.get_executor(pure=False)
        yield Workers(executor.submit, cores, here=False, task_s=_ELSEWHERE_S)
    elif hasattr(client, "submit"):
        count = given or getattr(client, "_max_workers", None) or workers_asked(None)
        yield Workers(client.submit, lambda: count, here=False, task_s=_ELSEWHERE_S)
    else:
        raise TypeError(
            f"client is a Dask client or an executor with submit(), not {type(client).__name__}"
        )


@contextmanager
def scheduler(address: str, jobs: int | None) -> Iterator[Workers]:
    """Work on the cluster of a Dask scheduler.

    Parameters
    ----------
    address
        Such as ``tcp://host:8786``, or the path of the scheduler's file (``.json``).
    jobs
        Tasks at a time; by default the threads of all workers.
    """
    opened = extra("distributed", f"--scheduler {address}").Client
    try:
        if address.endswith(".json"):
            client = opened(scheduler_file=address, timeout=_CONNECT)
        else:
            client = opened(address, timeout=_CONNECT)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"--scheduler {address}: no scheduler answers there ({reason})\n"
            "  fix: start one (dask scheduler) and give the address that it prints"
        ) from None
    with client, given(client, jobs) as workers:
        yield workers
