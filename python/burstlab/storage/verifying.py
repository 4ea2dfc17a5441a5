"""Compares the files of results, studies and other directories with their noted checksums."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.reproduce.listed import listed
from burstlab.storage import sums
from burstlab.storage.directories import (
    DATA_SET,
    KINDS,
    PRICES,
    REPRODUCTION,
    RESULT,
    SCENARIO,
    STUDY,
    WHAT_IF,
    settle,
)
from burstlab.storage.files import stored_text

#: States of a file; an earlier version noted no sums.
WHOLE, DAMAGED, MISSING, NO_SUM = "whole", "damaged", "missing", "no sum was noted of it"

#: States that are errors.
BAD = (DAMAGED, MISSING)

#: Folders of a result that have tables of their own, with the document that has their sums.
_LIVE = ("live", "live.json")


@dataclass(frozen=True)
class Verified:
    """A file.

    Attributes
    ----------
    path
        Where it is.
    state
        `WHOLE`, `DAMAGED`, `MISSING` or `NO_SUM`.
    """

    path: Path
    state: str

    def to_json(self) -> dict[str, str]:
        """Return it as ``burstlab results --verify --json`` lists it."""
        return {"file": str(self.path), "state": self.state}


def verify(directories: Sequence[str | os.PathLike[str]]) -> list[Verified]:
    """Compare every file in directories, and in those within, with its sum.

    Parameters
    ----------
    directories
        Of results, pairs of runs, prices, studies, reproductions and data sets, or such that have
        some of these within.

    Raises
    ------
    InputError
        If one is no directory, or has nothing of that.
    """
    found: list[Verified] = []
    for directory in directories:
        where = Path(directory)
        if not where.is_dir():
            raise InputError(
                f"{where}: no such directory\n  fix: give a directory that --out of a command wrote"
            )
        there = list(_within(where))
        if not there:
            raise InputError(
                f"{where}: holds no file of burstlab\n"
                "  fix: give a directory that --out of a command named"
            )
        found.extend(there)
    return found


def _within(where: Path) -> Iterator[Verified]:
    for path, inside, _ in os.walk(where):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        directory = Path(path)
        settle(directory)
        for kind in KINDS:
            for head in kind.heads:
                if (directory / head).is_file() and not head.startswith("."):
                    yield from _BY_KIND[kind.described](directory, directory / head)


def _of_result(directory: Path, head: Path) -> Iterator[Verified]:
    document = _document(head)
    if document is None:
        yield Verified(head, DAMAGED)
        return
    yield _head(head, document)
    if "tables" not in document:
        # Nothing in it says which files are its own, so they are looked for.
        yield from (Verified(path, NO_SUM) for path in sorted(directory.glob("*.parquet")))
        return
    yield _one(directory / SCENARIO, document.get("scenario_sha256"))
    noted = sums.recorded(document)
    for name in _names(document["tables"]):
        yield _one(directory / f"{name}.parquet", noted.get(f"{name}.parquet"))
    folder, name = _LIVE
    if (directory / folder / name).is_file():
        yield from _listed(directory / folder, directory / folder / name)


def _of_study(directory: Path, head: Path) -> Iterator[Verified]:
    document = _document(head)
    if document is None:
        yield Verified(head, DAMAGED)
        return
    yield _head(head, document)
    yield _one(directory / "plan.toml", document.get("plan_sha256"))
    timing, done = directory / "timing.json", (directory / "runs.parquet").exists()
    if timing.exists() or done:
        clock = _document(timing)
        wrong = DAMAGED if timing.exists() else MISSING
        yield Verified(timing, wrong) if clock is None else _head(timing, clock)
    for place in (directory, directory / "points"):
        try:
            noted = sums.known(place)
        except InputError:
            yield Verified(place / sums.NAME, DAMAGED)
            continue
        tables = {path.name for path in place.glob("[!.]*.parquet")}
        # Files of points go as they are put together, and no sum goes with them.
        wanted = tables | (set(noted) if place == directory else set())
        yield from (_one(place / name, noted.get(name)) for name in sorted(wanted))


def _of_reproduction(directory: Path, head: Path) -> Iterator[Verified]:
    document = _document(head)
    try:
        targets = listed(head, "make it again")
    except InputError:
        targets = None
    if document is None or targets is None:
        yield Verified(head, DAMAGED)
        return
    yield _head(head, document)
    page = directory / "report.html"
    noted = sums.recorded(document)
    if noted or page.exists():
        yield _one(page, noted.get(page.name))
    for target in targets:
        path = directory / f"{target['target']}.json"
        section = _document(path)
        if section is None:
            yield Verified(path, DAMAGED if path.exists() else MISSING)
            continue
        yield _head(path, section)
        noted = sums.recorded(section)
        for name in _names(section.get("files")):
            yield _one(directory / name, noted.get(name))


def _listed(directory: Path, head: Path) -> Iterator[Verified]:
    """Verify the tables of a document that names each with its checksum."""
    document = _document(head)
    if document is None:
        yield Verified(head, DAMAGED)
        return
    yield _head(head, document)
    noted = sums.recorded(document)
    tables = {path.name for path in directory.glob("[!.]*.parquet")}
    yield from (_one(directory / name, noted.get(name)) for name in sorted(tables | set(noted)))


_BY_KIND = {
    RESULT.described: _of_result,
    STUDY.described: _of_study,
    WHAT_IF.described: _listed,
    PRICES.described: _listed,
    REPRODUCTION.described: _of_reproduction,
    DATA_SET.described: _listed,
}


def _head(path: Path, document: Mapping[str, Any]) -> Verified:
    """Return the state of a document: whole if it can be read and is as written."""
    return Verified(path, WHOLE if sums.SEAL in document else NO_SUM)


def _one(path: Path, wanted: Any) -> Verified:
    if not path.is_file():
        return Verified(path, MISSING)
    if not isinstance(wanted, str):
        return Verified(path, NO_SUM)
    try:
        found = sums.sum_of(path)
    except OSError:
        return Verified(path, DAMAGED)
    return Verified(path, WHOLE if found == wanted else DAMAGED)


def _names(value: object) -> list[str]:
    """Return the names of files that a document lists, and of nothing else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _document(path: Path) -> Mapping[str, Any] | None:
    try:
        found = sums.heeding(stored_text(path))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and sums.is_intact(found) else None
