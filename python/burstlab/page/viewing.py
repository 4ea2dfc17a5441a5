"""``burstlab view``: a recorded result as a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from burstlab import _core, again
from burstlab.errors import InputError
from burstlab.page.serving import Page
from burstlab.page.showing import Shown, page_about, watched
from burstlab.results import TRACES, Result, read
from burstlab.storage.result_directory import version_of


def viewer(
    source: str | os.PathLike[str],
    *,
    replication: int = 0,
    map_file: str | os.PathLike[str] | None = None,
    point: int | None = None,
    scheme: str | None = None,
    settings: Sequence[str] = (),
    allow_code: bool = False,
) -> Page:
    """Make the page of a result, of a study, or of a scenario that is run for it.

    Parameters
    ----------
    source
        The directory of ``burstlab run --out`` or ``burstlab study --out``, or the TOML file of a
        scenario, which is run with its tables in a temporary directory.
    replication
        Which repetition to show, from 0.
    map_file
        A topology with latitudes and longitudes, to place the nodes that it names.
    point, scheme
        For a study, the run to show first.
    settings
        Changes of a scenario before it is run, as ``path=value``.
    allow_code
        For a study or a scenario, execute Python code that is stored in it; see `burstlab.run`.

    Raises
    ------
    InputError
        If it is none of them, one of another version, or one without bursts.
    """
    from burstlab.topology import positions

    where = Path(source)
    places = positions(map_file) if map_file is not None else {}
    study = (where / "study.json").is_file()
    if not study and (point is not None or scheme is not None):
        flag = "--scheme" if point is None else "--point"
        raise InputError(f"{where}: {flag} works only with a study\n  fix: leave it out")
    if where.is_file() or where.suffix == ".toml":
        from burstlab.page.scenes import scenario_viewer

        return scenario_viewer(
            where, settings, replication=replication, places=places, allow_code=allow_code
        )
    if settings:
        raise InputError(
            f"{where}: --set works only with a scenario, not with a result\n  fix: leave it out"
        )
    if study:
        from burstlab.page.watching import study_viewer

        return study_viewer(
            where, point=point or 0, scheme=scheme, replication=replication, places=places,
            allow_code=allow_code,
        )  # fmt: skip
    result = _readable(where, replication)
    number = result.replications[replication].summary["replication"]
    shown = Shown(
        result, replication, where,
        number=number, places=places, title=where.resolve().name, record=recording(where),
    )  # fmt: skip
    return Page(
        f"the page of {where}", {"data/page": page_about("view"), **watched(lambda _query: shown)}
    )


def recording(where: Path) -> str:
    """Return the command that records the tables of the page."""
    return again.of_result(
        where / "scenario.toml", f"{where}-traced", ["--trace", ",".join(TRACES)]
    )


def _readable(where: Path, replication: int) -> Result:
    # Another version may have other metadata in its tables.
    version = version_of(where)
    if version not in (None, _core.__version__):
        raise InputError(
            f"{where}: a result of burstlab {version}, and this is {_core.__version__}\n"
            f"  fix: {recording(where)}"
        )
    result = read(where)
    count = len(result.replications)
    if not 0 <= replication < count:
        raise InputError(
            f"--replication {replication}: the result has {count}\n  fix: use 0 to {count - 1}"
        )
    return result
