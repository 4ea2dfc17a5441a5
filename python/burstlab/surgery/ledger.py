"""Prices that are known so far, in a file that outlives the process that finds them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from burstlab.directories import ready_directory
from burstlab.errors import InputError
from burstlab.files import Lock
from burstlab.parquet import writing

#: The file: the marks of the run in its first line, then a price a line.
NAME = ".prices.jsonl"


class Ledger:
    """Prices by the place of their burst among those that were lost.

    Parameters
    ----------
    known
        Those that are known.
    file
        Where each that becomes known is noted.
    """

    def __init__(self, known: dict[int, Mapping[str, Any]], file: TextIO | None) -> None:
        self.known = known
        self._file = file
        self._lock = threading.Lock()

    def note(self, price: Mapping[str, Any]) -> None:
        """Note a price; threads may do so at once."""
        with self._lock:
            self.known[int(price["index"])] = price
            if self._file is not None:
                self._file.write(json.dumps(dict(price)) + "\n")
                self._file.flush()

    @classmethod
    @contextmanager
    def at(
        cls, out: str | os.PathLike[str] | None, marks: Mapping[str, Any], *, resume: bool
    ) -> Iterator[Ledger]:
        """Have a ledger in a directory, which goes when all is done; or in memory."""
        if out is None:
            yield cls({}, None)
            return
        where = ready_directory(out)
        path = where / NAME
        with Lock(where, "other prices are being found there"):
            known = _read(path, marks) if resume else {}
            if not resume and (where / "blame.json").exists():
                raise InputError(
                    f"{where} holds the prices of bursts\n  fix: give another directory"
                )
            with writing(path), path.open("w", encoding="utf-8") as file:
                file.write(json.dumps(dict(marks)) + "\n")
                ledger = cls({}, file)
                for price in known.values():
                    ledger.note(price)
                yield ledger
            path.unlink(missing_ok=True)


def _read(path: Path, marks: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return the prices in a file; a line that was cut off is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    theirs: Any = None
    with suppress(ValueError, IndexError):
        theirs = json.loads(lines[0])
    if theirs != dict(marks):
        differ = [name for name, value in marks.items() if (theirs or {}).get(name) != value]
        raise InputError(
            f"{path}: is of another run ({', '.join(differ) or 'unreadable'})\n"
            "  fix: give its run, or another directory"
        )
    found: dict[int, Mapping[str, Any]] = {}
    for line in lines[1:]:
        with suppress(ValueError, KeyError):
            price = json.loads(line)
            found[int(price["index"])] = price
    return found
