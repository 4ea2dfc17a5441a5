"""Prices that are known so far, in a file that outlives the process that finds them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from burstlab.errors import InputError
from burstlab.storage.directories import PRICES, Room
from burstlab.storage.files import put, stored_text
from burstlab.storage.parquet import writing
from burstlab.storage.sums import SEAL, is_intact, sealed

#: The file: the marks of the run in its first line, then a price a line, each with its own seal.
NAME = ".prices.jsonl"


class Ledger:
    """Prices by the place of their burst among those that were lost.

    Parameters
    ----------
    known
        Those that are known.
    file
        Where each that becomes known is noted.
    room
        The directory of the file, which is held meanwhile.
    """

    def __init__(
        self,
        known: dict[int, Mapping[str, Any]],
        file: TextIO | None = None,
        room: Room | None = None,
    ) -> None:
        self.known = known
        self.room = room
        self._file = file
        self._lock = threading.Lock()

    def note(self, price: Mapping[str, Any]) -> None:
        """Note a price; threads may do so at once."""
        with self._lock:
            self.known[int(price["index"])] = price
            if self._file is not None:
                self._file.write(_line(sealed(price)))
                self._file.flush()

    @classmethod
    @contextmanager
    def at(
        cls, out: str | os.PathLike[str] | None, marks: Mapping[str, Any], *, resume: bool
    ) -> Iterator[Ledger]:
        """Have a ledger in a directory, which goes when all is done; or in memory."""
        if out is None:
            yield cls({})
            return
        with Room(out, PRICES) as room:
            path = room.path / NAME
            if not resume:
                _refuse_known(path)
            known = _read(path, marks) if resume else {}
            with writing(path):
                # At any instant the file has all prices that it had, behind a head that is whole.
                prices = [_line(sealed(price)) for price in known.values()]
                put(path, "".join([_line(marks), *prices]).encode())
                with path.open("a", encoding="utf-8") as file:
                    yield cls(known, file, room)
            path.unlink(missing_ok=True)


def _refuse_known(path: Path) -> None:
    """Refuse to begin anew where prices are known of a run that was ended."""
    with suppress(OSError):
        if path.read_bytes().count(b"\n") > 1:
            raise InputError(
                f"{path.parent} holds the prices of an interrupted command\n"
                "  fix: go on with them (--resume, resume=True), or give another directory"
            )


def _line(found: Mapping[str, Any]) -> str:
    return json.dumps(dict(found)) + "\n"


def _read(path: Path, marks: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return the prices in a file; the last line is none where it was cut off."""
    try:
        text = stored_text(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error})\n  fix: remove this file; its prices are found again"
        ) from None
    lines = text.splitlines()
    if "\n" not in text:
        return {}  # an earlier version was killed before its first line was whole
    theirs: Any = None
    with suppress(ValueError):
        theirs = json.loads(lines[0])
    theirs = theirs if isinstance(theirs, dict) else {}
    if theirs != dict(marks):
        differ = [name for name, value in marks.items() if theirs.get(name) != value]
        raise InputError(
            f"{path}: is of another run ({', '.join(differ) or 'unreadable'})\n"
            "  fix: give its run, or another directory"
        )
    whole = lines[1:] if text.endswith("\n") else lines[1:-1]
    prices = [_price(path, number, line) for number, line in enumerate(whole, 2)]
    return {int(price["index"]): price for price in prices}


def _price(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return the price in a line that was written whole; refuse it where it was altered since."""
    price: Any = None
    with suppress(ValueError):
        price = json.loads(line)
    if not isinstance(price, dict) or SEAL not in price or not is_intact(price):
        raise InputError(
            f"{path}: line {number} is damaged\n"
            "  fix: restore the file from a copy, or remove it; its prices are found again"
        )
    del price[SEAL]
    return price
