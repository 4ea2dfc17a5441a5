"""Commands that make something again, as reports, pages and messages print them.

Each of them works as it is printed: names are quoted, a scheme is named where there are several,
and code that came with a result or a study has its flag.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from burstlab import classes
from burstlab.errors import InputError
from burstlab.loading import read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from burstlab.studies.plan import Plan

#: The flag that lets code be executed that came with what is run.
FLAG = "--allow-code"


def of_point(
    where: str | os.PathLike[str],
    plan: Plan,
    point: int,
    scheme: str = "",
    *,
    verb: str = "run",
    more: Sequence[str] = (),
) -> str:
    """Return the command that runs a point of a study again.

    Parameters
    ----------
    where
        The directory of the study, from where the command is given.
    plan
        Its plan.
    point, scheme
        The point, and the scheme; by default the first.
    verb
        ``"run"``, or ``"view"`` to see it as a page.
    more
        Words that follow.
    """
    named = scheme or plan.names[0]
    words = ["burstlab", verb, str(where), "--point", str(point)]
    words += ["--scheme", named] if len(plan.names) > 1 else []
    words += [FLAG] if plan.has_code(point, named) else []
    return shlex.join([*words, *more])


def of_first_point(where: Path, out: str | None) -> str:
    """Return the command that runs the first point of a stored study, as `of_point` does.

    Parameters
    ----------
    where
        The directory of the study.
    out
        The directory for the result; None for one that the reader has to name.
    """
    from burstlab.studies.plan import read

    try:
        words = shlex.split(of_point(where, read(where / "plan.toml"), 0))
    except InputError:
        words = ["burstlab", "run", str(where), "--point", "0"]
    return _with_out(words, out)


def of_study(plan: Path, out: str | None) -> str:
    """Return the command that runs the stored plan of a study.

    Parameters
    ----------
    plan
        Its file.
    out
        The directory for the study; None for one that the reader has to name.
    """
    return _with_out(["burstlab", "study", str(plan), *flag(plan)], out)


def of_result(scenario: Path, out: str | None, more: Iterable[str] = ()) -> str:
    """Return the command that runs the scenario of a result.

    Parameters
    ----------
    scenario
        Its file.
    out
        The directory for the result; None for one that the reader has to name.
    more
        Words in between.
    """
    return _with_out(["burstlab", "run", str(scenario), *flag(scenario), *more], out)


def flag(file: Path) -> list[str]:
    """Return the flag that a stored scenario or plan needs, if it does."""
    try:
        document = read_toml(file)
    except InputError:
        return []
    return [FLAG] if classes.named_in(document) else []


def _with_out(words: list[str], out: str | None) -> str:
    return f"{shlex.join(words)} --out DIR" if out is None else shlex.join([*words, "--out", out])
