"""The entries of ``reproduce.json``, read back: whole, unchanged, and of the right types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, get_type_hints

from burstlab.errors import InputError
from burstlab.storage.files import stored_text
from burstlab.storage.shapes import misfit
from burstlab.storage.sums import is_intact

#: The file in the directory of a reproduction.
LIST = "reproduce.json"

#: A paper and one of its targets: no path leads out of the directory.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9][A-Za-z0-9_-]*")


class _Row(TypedDict):
    label: str
    published: float | None
    measured: float
    ci95: float | None
    n: int


class _Claim(TypedDict):
    claim: str
    verdict: str
    evidence: str


class _Target(TypedDict):
    target: str
    rows: list[_Row]
    claims: list[_Claim]
    effort: str
    burstlab: str


_ROW = get_type_hints(_Row).keys()


def listed(path: Path, fix: str) -> list[Mapping[str, Any]]:
    """Return the targets of a list of reproduced targets.

    Parameters
    ----------
    path
        The file.
    fix
        The fix if it cannot be used.

    Raises
    ------
    InputError
        If it is damaged, was changed, or is no such list.
    """
    try:
        document = json.loads(stored_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise _no_list(path, str(error), fix) from None
    targets = document.get("targets") if isinstance(document, dict) else None
    if not isinstance(targets, list):
        raise _no_list(path, "it has no list of targets", fix)
    for index, one in enumerate(targets):
        where = f"targets[{index}]"
        missing = [name for name in get_type_hints(_Target) if not _has(one, name)]
        if missing:
            raise _no_list(path, f"{where}.{missing[0]} is missing", fix)
        wrong = misfit(one, _Target, where)
        if wrong is None and any(row.keys() != _ROW for row in one["rows"]):
            wrong = f"{where}.rows"
        if wrong is None and not _NAME.fullmatch(one["target"]):
            wrong = f"{where}.target"
        if wrong is not None:
            raise _no_list(path, f"{wrong} differs from what burstlab writes there", fix)
    if not is_intact(document):
        raise InputError(f"{path}: damaged, or was changed\n  fix: restore it, or {fix}")
    return targets


def _has(one: object, name: str) -> bool:
    return isinstance(one, dict) and name in one


def _no_list(path: Path, problem: str, fix: str) -> InputError:
    return InputError(f"{path}: not a list of reproduced targets ({problem})\n  fix: {fix}")
