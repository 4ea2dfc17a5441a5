"""Checks whether a directory holds one whole result of a run, and which version wrote it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.storage.directories import SCENARIO, SUMMARY, Names, names_in, settle


def version_of(directory: str | os.PathLike[str]) -> str | None:
    """Return the version that wrote a result; None if its summary does not name it."""
    from burstlab.loading import read_text
    from burstlab.storage import sums

    where = Path(directory)
    check_result(where)
    try:
        return str(sums.heeding(read_text(where / SUMMARY))["burstlab"])
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        return None


def check_scenario(where: Path, scenario: str, document: Mapping[str, Any], version: str) -> None:
    """Refuse a result that does not list its tables, or whose scenario is not that of its run."""
    import hashlib

    from burstlab import again

    if "tables" not in document:
        command = again.of_result(where / SCENARIO, f"{where}-again")
        raise InputError(
            f"{where}: an earlier burstlab ({version}) wrote this result, but did not list which "
            f"tables are its own\n  fix: make it again ({command}, with the --trace that it had)"
        )
    found = hashlib.sha256(scenario.encode()).hexdigest()
    if found != document.get("scenario_sha256"):
        raise InputError(
            f"{where / SCENARIO}: is not the scenario of the run in {SUMMARY}, or was changed\n"
            "  fix: restore the file, or use the changed file in another directory"
        )


def check_result(where: Path, names: Names | None = None) -> Names:
    """Return the file names in a result; raise an error with the fix if there is no result."""
    if names is None:
        settle(where)
    there = names_in(where) if names is None else names
    if there.get("study.json"):
        from burstlab import again

        raise InputError(
            f"{where}: is a study, not the result of a run\n"
            f"  fix: {again.of_first_point(where, None)} repeats one of its runs"
        )
    if not (there.get(SUMMARY) and there.get(SCENARIO)):
        if not where.is_dir():
            fix = "give a directory that burstlab run --out wrote"
            raise InputError(f"{where}: no such directory\n  fix: {fix}")
        raise InputError(
            f"{where}: holds no result (summary.json and scenario.toml)\n"
            "  fix: give a directory that burstlab run --out wrote"
        )
    return there
