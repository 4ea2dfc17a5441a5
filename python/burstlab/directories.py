"""The directory of a result: it holds one run, which is whole, or none.

While a run goes on its files have hidden names in the directory. When all of them are complete,
``.summary.json`` is written, which names them; from then on the new result is the one that is
there, and what is left to do, to take away the files of the older one and the dots of the new
names, is done again by whoever comes next if the process ends in the middle of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.files import Lock, put, sync
from burstlab.parquet import hidden, writing
from burstlab.tables import STORED

SCENARIO, SUMMARY = "scenario.toml", "summary.json"

#: The summary of a result that is complete, and not yet in its place.
PENDING = ".summary.json"

#: What `export` and `plot` wrote into the directory of the result that they show.
MADE = "made.json"

_BUSY = "another process is writing there"


class Place:
    """A directory into which a result goes, whole.

    Parameters
    ----------
    out
        The directory; it is made if it is not there.
    force
        Replace the result that is there, once the new one is complete.
    goes_on
        Answers whether the result there, its summary at hand, is one that may be replaced anyway:
        the same run, which goes on from checkpoints.

    Raises
    ------
    InputError
        If nothing can be written there, another run is being written there, or there is a result,
        a study, or a file that a result would overwrite.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        *,
        force: bool = False,
        goes_on: Callable[[Mapping[str, Any]], bool] = lambda summary: False,
    ) -> None:
        self.path = ready_directory(out)
        with writing(self.path):
            self._lock = Lock(self.path, _BUSY)
        try:
            with writing(self.path):
                _finish(self.path)
                self._before = _held(self.path)
                self._sweep()
            if self._before is not None and not (force or goes_on(self._before)):
                raise InputError(
                    f"{self.path} holds the result of a run ({_told(self._before)})\n"
                    "  fix: give another directory, or replace the result (--force, force=True)"
                )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what is not whole, and let others write there."""
        with suppress(OSError):
            self._sweep()
        self._lock.close()

    def move_in(self, names: Sequence[str], scenario: bytes, summary: Mapping[str, Any]) -> Path:
        """Put a result in its place, of which the tables lie there under their hidden names.

        What was done of a run that was stopped does not replace a result that is complete: it goes
        to a directory beside it.

        Parameters
        ----------
        names
            The tables.
        scenario
            The file ``scenario.toml``.
        summary
            What ``summary.json`` says; which files belong to it is added.

        Returns
        -------
        Path
            The directory where it is.
        """
        import hashlib

        if summary["interrupted"] and self._before and not self._before.get("interrupted"):
            return self._beside(names, scenario, summary)
        document = {
            **summary,
            "tables": [name for name in STORED if name in names],
            "scenario_sha256": hashlib.sha256(scenario).hexdigest(),
        }
        put(self.path / f".{SCENARIO}", scenario)
        text = json.dumps(document, indent=2, allow_nan=False)
        put(self.path / PENDING, f"{text}\n".encode())
        _finish(self.path)
        return self.path

    def _beside(self, names: Sequence[str], scenario: bytes, summary: Mapping[str, Any]) -> Path:
        import shutil

        here = self.path.resolve()
        number, out = 1, here.with_name(f"{here.name}-interrupted")
        while out.exists():
            number += 1
            out = here.with_name(f"{here.name}-interrupted-{number}")
        with Place(out) as other:
            for name in names:
                shutil.move(hidden(self.path, name), hidden(other.path, name))
            return other.move_in(names, scenario, summary)

    def _sweep(self) -> None:
        """Remove the hidden files of a run that has ended, unless they are complete."""
        if (self.path / PENDING).exists():
            return
        patterns = [f".{name}{end}.parquet" for name in STORED for end in ("", "-[0-9]*")]
        for pattern in (
            *patterns,
            ".probe-*",
            f".{SCENARIO}",
            f".{SCENARIO}.part",
            f".{PENDING}.part",
        ):
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)


def is_result(directory: Path) -> bool:
    """Whether a directory holds the result of a run."""
    return any((directory / name).is_file() for name in (SUMMARY, PENDING))


def settle(directory: Path) -> None:
    """Finish what a process that put a result there left undone."""
    if (directory / PENDING).exists():
        with writing(directory), Lock(directory, _BUSY):
            _finish(directory)


def ready_directory(directory: str | os.PathLike[str], flag: str = "--out") -> Path:
    """Make the directory, or say why nothing can be written there."""
    out = Path(directory)
    with writing(out, flag):
        out.mkdir(parents=True, exist_ok=True)
        probe = out / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink(missing_ok=True)
    return out


def note(directory: Path, files: Iterable[Path]) -> None:
    """Note files that show the result in a directory: they go when another replaces it.

    Parameters
    ----------
    directory
        Where the result is; of files that lie elsewhere nothing is noted.
    files
        What was written.
    """
    here = directory.resolve()
    names = [
        str(file.relative_to(here))
        for file in (file.resolve() for file in files)
        if file.is_relative_to(here)
    ]
    if names and is_result(directory):
        found = [name for name in _made(directory) if name not in names]
        text = json.dumps({"made": sorted([*found, *names])}, indent=2)
        with writing(directory):
            put(directory / MADE, f"{text}\n".encode())


def _made(directory: Path) -> list[str]:
    try:
        found = json.loads((directory / MADE).read_text(encoding="utf-8"))["made"]
        return [name for name in found if _is_within(name)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _is_within(name: object) -> bool:
    """Whether a name is that of a file in the directory, or in one of its own."""
    if not isinstance(name, str):
        return False
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and len(path.parts) in (1, 2)


def _finish(directory: Path) -> None:
    """Put a result that is complete in the place of the one before, from wherever this ended."""
    pending = directory / PENDING
    if not pending.exists():
        return
    sync(directory)
    try:
        names = [str(name) for name in json.loads(pending.read_text(encoding="utf-8"))["tables"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{pending}: damaged ({error})\n  fix: remove this file") from None
    for name in STORED:
        if name not in names:
            (directory / f"{name}.parquet").unlink(missing_ok=True)
    for name in _made(directory):
        made = directory / name
        made.unlink(missing_ok=True)
        if made.parent != directory:
            with suppress(OSError):  # there is more in it
                made.parent.rmdir()
    (directory / MADE).unlink(missing_ok=True)
    for name in names:
        _uncover(hidden(directory, name), directory / f"{name}.parquet")
    _uncover(directory / f".{SCENARIO}", directory / SCENARIO)
    pending.replace(directory / SUMMARY)
    sync(directory)


def _uncover(path: Path, place: Path) -> None:
    with suppress(FileNotFoundError):  # it was moved before
        path.replace(place)


def _held(directory: Path) -> Mapping[str, Any] | None:
    """Return the summary of the result in a directory; refuse what is none and in the way."""
    if (directory / "study.json").exists():
        raise InputError(f"{directory} holds a study\n  fix: give another directory")
    summary = directory / SUMMARY
    if summary.exists():
        try:
            found = json.loads(summary.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if isinstance(found, dict) and {"burstlab", "fingerprint"} <= found.keys():
            return found
        raise _in_the_way(summary)
    for name in (SCENARIO, *(f"{name}.parquet" for name in STORED)):
        if (directory / name).exists():
            raise _in_the_way(directory / name)
    return None


def _in_the_way(path: Path) -> InputError:
    return InputError(
        f"{path}: is of no result, and one there would overwrite it\n"
        "  fix: give another directory, or move this file away"
    )


def _told(summary: Mapping[str, Any]) -> str:
    tables = summary.get("tables") or ()
    traced = [name for name in tables if name != "flows"]
    state = ["interrupted"] if summary.get("interrupted") else []
    parts = [
        f"seed {summary.get('seed')}",
        f"fingerprint {summary['fingerprint']}",
        *state,
        *traced,
    ]
    return ", ".join(parts)
