"""The errors a user can cause, each of which says what to change."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from typing import Any

from burstlab.printable import brief

#: A disk, a quota, or what a file may hold, is full.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


#: How a fix says in Python what a flag says on the command line: ``(--force, force=True)``, or
#: behind it, ``--trace cwnd (trace=("cwnd",))``.
_ARGUMENT = r"[a-z_]+=(?:\([^()]*\)|[^()])*"
_BESIDE = re.compile(rf"(\(--[\w-]+), {_ARGUMENT}\)")
_BEHIND = re.compile(rf" \({_ARGUMENT}\)")


def for_the_command_line(message: str) -> str:
    """Return a message without how its fix is written in Python.

    Parameters
    ----------
    message
        Of an error: its problem, and its fix in a line of its own.
    """
    problem, begin, fix = message.partition("\n  fix: ")
    return problem + begin + _BEHIND.sub("", _BESIDE.sub(r"\1)", fix))


class InputError(ValueError):
    """Something the user gave cannot be used: a file, a flag, a name.

    The command line prints the message and exits with status 2.
    """


class ScenarioWarning(UserWarning):
    """Something was assumed that a file does not say; the text names the file."""


class NotRecorded(InputError, AttributeError):
    """What is asked of a result was not recorded; `hasattr` answers that it is not there."""


class FieldError(InputError):
    """A field of a document is wrong.

    Parameters
    ----------
    path
        Where the field is, for example ``network.link_rate`` or ``flows[0].start``.
    value
        What was found there, as written.
    problem
        What is wrong with it.
    fix
        What to write instead; there is always something.
    """

    #: What is named where the whole of it is wrong.
    document = "scenario"

    def __init__(self, path: str, value: object, problem: str, fix: str) -> None:
        if not fix.strip():
            fix = "see the page of its fields in docs/reference for what it may be"
        self.path = path
        self.value = value
        self.problem = problem
        self.fix = fix
        super().__init__(path, value, problem, fix)

    def __str__(self) -> str:
        found = "" if self.value in ("", None) else f" = {_shown(self.value)}"
        return f"{brief(self.path) or self.document}{found}: {self.problem}\n  fix: {self.fix}"


class ScenarioError(FieldError):
    """A field of a scenario is wrong."""


class MemoryExceeded(ScenarioError):
    """A run took more memory than it may, or cannot go on.

    Attributes
    ----------
    result
        What was done until then, a `burstlab.Result`; None where nothing was.
    """

    result: Any = None


class PlanError(FieldError):
    """A field of the plan of a study is wrong."""

    document = "plan"


class ControlError(InputError):
    """A class of Python that a scenario names cannot be used, or has failed.

    Parameters
    ----------
    problem
        What is wrong, where, and when in simulated time.
    fix
        What to do about it; may be empty.
    """

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(f"{problem}\n  fix: {fix}" if fix else problem)


class EngineError(RuntimeError):
    """The engine has failed, by a fault of its own and not by one of the scenario.

    Parameters
    ----------
    what
        What failed.
    place
        Where, in the sources of the engine.
    fingerprint
        A hash of the resolved scenario.
    which
        Which run of it, as text; may be empty.

    Attributes
    ----------
    result
        What was recorded until then, a `burstlab.Result`; of the run that failed, its tables and
        the numbers until then. None where nothing was recorded.
    study
        Of a study, a `burstlab.Study` of its points that were done; None elsewhere.
    """

    result: Any = None
    study: Any = None

    def __init__(self, what: str, place: str, fingerprint: str, which: str = "") -> None:
        self.what = what
        self.place = place
        self.fingerprint = fingerprint
        self.which = which
        super().__init__(what, place, fingerprint, which)

    def __str__(self) -> str:
        """Return one line: what failed, for which scenario, and where to report it."""
        where = f" ({self.place})" if self.place else ""
        which = f", {self.which}" if self.which else ""
        what = " ".join(self.what.split())
        return (
            f"the engine failed: {what}{where}, scenario {self.fingerprint}{which}; this is a "
            "fault of Burstlab: report it with this scenario to the developers of Burstlab "
            '(CONTRIBUTING.md, "When the engine fails")'
        )


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Build the error for a name that is not one of those known.

    Parameters
    ----------
    kind
        What the name should have been: ``"target"``, ``"trace"``, ...
    name
        What was given.
    known
        The names that exist.
    """
    import difflib

    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        hint = f"did you mean {near[0]!r}?"
    else:
        hint = "known: " + ", ".join(names) if names else "there is none yet"
    return InputError(f"unknown {kind} {name!r}\n  fix: {hint}")


def _shown(value: object) -> str:
    return brief(value if isinstance(value, str) else repr(value))
