"""Checksums of files: files that are read are compared with those that were written.

The sum of a file is its SHA-256. A result has those of its tables in ``summary.json``, what lies in
other directories has them in the document that says what it is, or in ``sums.json``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.storage.files import put, refuse_endless, stored_text

#: The field of a document that has the sums of files, by their names.
FIELD = "sha256"

#: The field of a document that has the sum over its other fields.
SEAL = "seal"

#: Wall time is not part of the seal: equal runs have equal seals.
_CLOCK = "wall_s"

#: The text over which the seal of a document is.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

#: The file of sums, where no document is written last.
NAME = "sums.json"

_FIX = "restore the file from a copy, or make it again"


def sum_of(path: Path) -> str:
    """Return the sum of a file."""
    refuse_endless(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_sum(path: Path, wanted: str) -> None:
    """Refuse a file that does not have the sum that was noted when it was written."""
    try:
        found = sum_of(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})\n  fix: {_FIX}") from None
    if found != wanted:
        raise InputError(
            f"{path}: damaged (its SHA-256 is {found[:16]}..., and {wanted[:16]}... was written)\n"
            f"  fix: {_FIX}"
        )


def recorded(document: object) -> dict[str, str]:
    """Return the checksums in a document; one of an earlier version has none."""
    found = document.get(FIELD) if isinstance(document, Mapping) else None
    if not isinstance(found, Mapping):
        return {}
    return {str(name): str(one) for name, one in found.items()}


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with a checksum over its content, whatever its layout."""
    return {**document, SEAL: _seal(heeding(json.dumps(document)))}


def heeding(text: str) -> Any:
    """Read a JSON document, and hear signals at each of its objects.

    Of a run of many flows one call of `json.loads` goes on for a second.
    """
    return json.loads(text, object_hook=_as_it_is)


def _as_it_is(one: dict[str, Any]) -> dict[str, Any]:
    return one


def is_intact(document: Mapping[str, Any]) -> bool:
    """Whether a document is as it was written; before 0.5.0 there was no seal."""
    if SEAL not in document:
        return not _seals(document.get("burstlab"))
    return bool(document[SEAL] == _seal(document))


def _seals(version: object) -> bool:
    """Whether the version that wrote a document seals its documents."""
    first = re.match(r"(\d+)\.(\d+)", version) if isinstance(version, str) else None
    return first is not None and (int(first[1]), int(first[2])) >= (0, 5)


def _seal(document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name not in (SEAL, _CLOCK)}
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def known(directory: Path) -> dict[str, str]:
    """Return the sums that ``sums.json`` of a directory has."""
    try:
        text = stored_text(directory / NAME)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(directory / NAME, error) from None
    try:
        return recorded(json.loads(text))
    except ValueError as error:
        raise _unreadable(directory / NAME, error) from None


def note_sums(directory: Path, sums: Mapping[str, str]) -> None:
    """Note sums in ``sums.json``, in addition to those of other files there.

    Parameters
    ----------
    directory
        Where the files are.
    sums
        Those of files that are about to be put there, by their names.
    """
    before: dict[str, str] = {}
    with suppress(InputError):  # damaged: what it said nobody knows, and this is written anew
        before = known(directory)
    kept = {name: one for name, one in before.items() if (directory / name).is_file()}
    text = json.dumps({FIELD: dict(sorted({**kept, **sums}.items()))}, indent=2)
    put(directory / NAME, f"{text}\n".encode())


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path}: damaged ({error})\n  fix: restore it from a copy; without it nothing is checked"
    )
