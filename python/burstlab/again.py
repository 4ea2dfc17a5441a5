"""Commands that make something again, as reports, pages and messages print them.

Each of them works as it is printed: names are quoted, a scheme is named where there are several,
and code that came with a result or a study has its flag.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from burstlab import classes
from burstlab.errors import InputError
from burstlab.loading import read_toml

#: The flag that permits code that came with a scenario or a result.
FLAG = "--allow-code"

#: Tables of a plan in which its points have no fields.
_OF_NO_POINT = ("files", "metrics", "schemes", "warmup")


class Points(Protocol):
    """The parts of a study's plan that a command names."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the schemes."""
        ...

    def has_code(self, point: int, scheme: str) -> bool:
        """Whether a scheme at a point names a class of Python."""
        ...


def of_point(
    where: str | os.PathLike[str],
    plan: Points,
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
    words = ["burstlab", "run", str(where), "--point", "0"]
    try:
        plan = read_toml(where / "plan.toml")
    except InputError:
        return _with_out(words, out)
    found = plan.get("schemes")
    schemes = found if isinstance(found, dict) else {}
    first = next(iter(schemes), "")
    words += ["--scheme", first] if len(schemes) > 1 else []
    of_all = {name: one for name, one in plan.items() if name not in _OF_NO_POINT}
    words += [FLAG] if classes.named_in([of_all, schemes.get(first)]) else []
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
