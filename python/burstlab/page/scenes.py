"""Runs that the page makes when they are asked for, with their tables in a temporary directory."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from burstlab import again, classes
from burstlab.errors import InputError
from burstlab.loading import Document, admitted
from burstlab.page.serving import Page
from burstlab.page.showing import RUN, Shown, page_about, watched
from burstlab.results import TRACES, read
from burstlab.running.checked import Checked
from burstlab.simulation import resolve, run_resolved

#: Runs whose tables are kept; those that were asked for longest ago go first.
KEPT = 8


@dataclass(frozen=True)
class Scene:
    """A scenario that can be watched.

    Attributes
    ----------
    title
        Its title.
    scenario
        The scenario that is run.
    record
        The command that records it for good; empty if there is none.
    note
        A further remark.
    replication
        Which repetition, from 0.
    places
        Latitude and longitude of nodes by name.
    """

    title: str
    scenario: Document
    record: str = ""
    note: str = ""
    replication: int = 0
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Scenes:
    """Runs by key, each made once however many ask for it.

    Parameters
    ----------
    find
        Answers the scene of a key; refuses one that is none.
    first
        The key of a query that names none.
    """

    def __init__(self, find: Callable[[str], Scene], first: str) -> None:
        self._find, self._first = find, first
        self._directory = TemporaryDirectory(prefix="burstlab-view-")
        self._made: dict[str, Future[Shown]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=2)
        self._closed = threading.Event()

    def shown(self, query: Mapping[str, str]) -> Shown:
        """Return the run that a query means."""
        return self.of(query.get(RUN, self._first))

    def of(self, key: str) -> Shown:
        """Return the run of a key."""
        return self.want(key).result()

    def want(self, key: str) -> Future[Shown]:
        """Begin with a run that will be asked for."""
        with self._lock:
            found = self._made.pop(key, None)
            if found is None:
                scene = self._find(key)
                self._count += 1
                found = self._pool.submit(self._make, scene, self._count)
            # The last in the order is the one that was asked for last.
            self._made[key] = found
            while len(self._made) > KEPT:
                self._made.pop(next(iter(self._made)))
        # It calls at once where all is done already.
        found.add_done_callback(lambda done: self._forget(key, done))
        return found

    def _forget(self, key: str, done: Future[Shown]) -> None:
        """Let one that failed be tried again."""
        if not done.cancelled() and done.exception() is None:
            return
        with self._lock:
            if self._made.get(key) is done:
                del self._made[key]

    def close(self) -> None:
        """End the current run, and remove recorded tables."""
        self._closed.set()
        self._pool.shutdown(cancel_futures=True)
        self._directory.cleanup()

    def _make(self, scene: Scene, number: int) -> Shown:
        resolved = resolve(scene.scenario)
        out = Path(self._directory.name) / str(number)
        run_resolved(
            resolved, [scene.replication], trace=TRACES, out=out, progress=self._unless_closed
        )
        return Shown(
            read(out), 0, out, number=scene.replication, places=scene.places,
            title=scene.title, record=scene.record, note=scene.note,
        )  # fmt: skip

    def _unless_closed(self, _share: float) -> None:
        """End a run that nobody waits for any more; nothing of it is kept."""
        if self._closed.is_set():
            raise Left


class Left(BaseException):
    """A run that nobody waits for any more; its result would be of no use."""


class Closes(Protocol):
    """An object that holds files, or has others at work."""

    def close(self) -> None:
        """Let go of them."""


@contextmanager
def closed_on_error(*opened: Closes) -> Iterator[None]:
    """Close objects if the block ends by an error, or by Ctrl-C.

    Parameters
    ----------
    opened
        Objects that the page would close otherwise, with its files.
    """
    try:
        yield
    except BaseException:
        for one in opened:
            one.close()
        raise


def scenario_viewer(
    where: Path,
    settings: Sequence[str],
    *,
    replication: int,
    places: Mapping[str, tuple[float, float]],
    allow_code: bool,
) -> Page:
    """Run a scenario with its tables, and make the page of it.

    Parameters
    ----------
    where
        Its TOML file.
    settings
        Changes, as ``path=value``.
    replication
        Which repetition is run, from 0.
    places
        Latitude and longitude of nodes by name.
    allow_code
        Execute Python code that stands in it.

    Raises
    ------
    InputError
        If it is wrong, or has neither bursts nor slots.
    """
    import warnings

    document = admitted(where, settings, allow_code=allow_code)
    checked = Checked(document)
    resolved = checked.resolved
    if replication < 0:
        raise InputError(f"--replication {replication}: is not valid\n  fix: use 0 or more")
    for line in checked.announcements():
        warnings.warn(line, stacklevel=2)
    words = ["burstlab", "run", str(where)]
    for setting in settings:
        words += ["--set", setting]
    if replication:
        words += ["--replications", str(replication + 1)]
    if classes.written(document) is not None:
        words += [again.FLAG]
    words += ["--trace", ",".join(TRACES), "--out", f"{where.stem}-traced"]
    scene = Scene(where.stem, resolved, shlex.join(words), replication=replication, places=places)
    scenes = Scenes(lambda _key: scene, "")
    # The command reports a scenario that cannot be shown, before there is a page.
    with closed_on_error(scenes):
        scenes.of("")
    return Page(
        f"the page of {where}",
        {"data/page": page_about("view"), **watched(lambda _query: scenes.of(""))},
        scenes.close,
    )


def settled(document: Mapping[str, Any], changes: Mapping[str, Any], drop: Sequence[str]) -> Any:
    """Change a scenario and leave fields out.

    Parameters
    ----------
    document
        The scenario; left alone.
    changes
        Values by dotted path.
    drop
        Paths of fields that go.
    """
    import json

    from burstlab.loading import set_at

    changed = json.loads(json.dumps(document))
    for path, value in changes.items():
        set_at(changed, path, value)
    for path in drop:
        *steps, last = path.split(".")
        here = changed
        for step in steps:
            here = here.get(step, {})
        here.pop(last, None)
    return changed
