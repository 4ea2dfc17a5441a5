"""``burstlab view`` of a study: a run that is chosen is made again with its tables, and shown."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burstlab import again, classes
from burstlab.errors import InputError
from burstlab.page.columns import document
from burstlab.page.scenes import closed_on_error
from burstlab.page.serving import BadRequest, Body, Page
from burstlab.page.showing import Shown, page_about, watched
from burstlab.results import TRACES, read
from burstlab.simulation import run_resolved
from burstlab.studies import Study
from burstlab.studies import read as read_study

#: Points that can be chosen in the page; others by the address, or the command.
POINTS = 2000

#: Runs whose tables are kept.
_KEPT = 3


@dataclass(frozen=True)
class Choice:
    """One run of a study."""

    point: int
    scheme: str
    replication: int


class Runs:
    """Runs of a study, made again when they are asked for.

    Parameters
    ----------
    study
        The study.
    where
        Its directory.
    places
        Latitude and longitude of nodes by name.
    allow_code
        Whether Python code that stands in the study may be executed.
    """

    def __init__(
        self,
        study: Study,
        where: Path,
        places: Mapping[str, tuple[float, float]],
        *,
        allow_code: bool,
    ) -> None:
        self._study = study
        self._allow_code = allow_code
        self._where = where
        self._places = places
        # It goes with whoever holds it, at the latest when the command ends.
        self._directory = TemporaryDirectory(prefix="burstlab-view-")
        self._shown: dict[Choice, Shown] = {}
        self._made = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Remove recorded tables."""
        self._directory.cleanup()

    def shown(self, choice: Choice) -> Shown:
        """Return the page of a run; several that ask at once wait for one run."""
        with self._lock:
            if choice not in self._shown:
                found = self._run(choice)
                while len(self._shown) >= _KEPT:
                    self._shown.pop(next(iter(self._shown)))
                self._shown[choice] = found
            return self._shown[choice]

    def _run(self, choice: Choice) -> Shown:
        resolved = self._study.scenario(choice.point, choice.scheme)
        classes.refuse(classes.written(resolved), allow=self._allow_code)
        rows = self._study.runs.where(
            point=choice.point, scheme=choice.scheme, replication=choice.replication
        )
        if not len(rows):
            last = int(resolved["run"]["replications"]) - 1
            raise InputError(
                f"replication {choice.replication}: point {choice.point} has fewer\n"
                f"  fix: use 0 to {last}"
            )
        self._made += 1
        out = Path(self._directory.name) / str(self._made)
        run_resolved(resolved, [choice.replication], trace=TRACES, out=out)
        result = read(out)
        if result.fingerprint != rows["fingerprint"][0]:
            raise InputError(
                f"{self._where}: point {choice.point}: the repeated run is not the stored one\n"
                "  fix: use the build of burstlab that made the study"
            )
        return Shown(
            result, 0, out, number=choice.replication, places=self._places,
            title=f"{self._where.resolve().name}, point {choice.point}",
            record=self._recording(choice),
        )  # fmt: skip

    def _recording(self, choice: Choice) -> str:
        more = ["--trace", ",".join(TRACES), "--out", f"{self._where}-point-{choice.point}"]
        plan = self._study.plan
        return again.of_point(self._where, plan, choice.point, choice.scheme, more=more)


def study_viewer(
    directory: str | os.PathLike[str],
    *,
    point: int = 0,
    scheme: str | None = None,
    replication: int = 0,
    places: Mapping[str, tuple[float, float]],
    allow_code: bool = False,
) -> Page:
    """Make the page of a study, in which points, schemes and replications are chosen.

    Parameters
    ----------
    directory
        The directory of ``burstlab study --out``.
    point, scheme, replication
        The run that is shown first; by default of the first scheme.
    places
        Latitude and longitude of nodes by name.
    allow_code
        Execute Python code that is stored in the study; see `burstlab.run`.

    Raises
    ------
    InputError
        If it is none, one of another version, or has no such run, or one of code that is not
        allowed.
    """
    where = Path(directory)
    study = read_study(where)
    names = study.plan.names
    first = Choice(point, names[0] if scheme is None else scheme, replication)
    runs = Runs(study, where, places, allow_code=allow_code)
    with closed_on_error(runs):
        runs.shown(first)

    def chosen(query: Mapping[str, str]) -> Choice:
        try:
            return Choice(
                int(query.get("point", first.point)),
                query.get("scheme", first.scheme),
                int(query.get("replication", first.replication)),
            )
        except ValueError:
            raise BadRequest("point and replication are numbers") from None

    def about(query: Mapping[str, str]) -> Body:
        choice = chosen(query)
        return document({**runs.shown(choice).about(), "study": _about(study, choice)})

    answers = watched(lambda query: runs.shown(chosen(query)))
    return Page(
        f"the page of {where}",
        {"data/page": page_about("view"), **answers, "data/about": about},
        runs.close,
    )


def _about(study: Study, choice: Choice) -> dict[str, Any]:
    """Return the choices of the page."""
    plan = study.plan
    done = study.points["done"].tolist()
    shown = [number for number in range(len(plan.points)) if done[number]][:POINTS]
    if choice.point not in shown:
        shown.append(choice.point)
    runs = study.runs.where(point=choice.point, scheme=choice.scheme)
    return {
        "points": [{"point": number, "told": _told(plan.points[number])} for number in shown],
        "schemes": [name for name in plan.names if name],
        "replications": len(runs),
        "chosen": vars(choice),
    }


def _told(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{path} = {value}" for path, value in point.items())
