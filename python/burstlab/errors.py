"""The errors that a user can cause; each says how to fix it."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from typing import Any

from burstlab.printable import brief

#: A disk, a quota or the largest size of a file is used up.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


#: The Python spelling of a fix that also names a flag: ``(--force, force=True)``, or after the
#: flag, ``--trace cwnd (trace=("cwnd",))``.
_ARGUMENT = r"[a-z_]+=(?:\([^()]*\)|[^()])*"
_BESIDE = re.compile(rf"(\(--[\w-]+), {_ARGUMENT}\)")
_BEHIND = re.compile(rf" \({_ARGUMENT}\)")


def for_the_command_line(message: str) -> str:
    """Return a message without the Python spelling of its fix.

    Parameters
    ----------
    message
        Of an error: its problem, and its fix in a line of its own.
    """
    problem, begin, fix = message.partition("\n  fix: ")
    return problem + begin + _BEHIND.sub("", _BESIDE.sub(r"\1)", fix))


class InputError(ValueError):
    """The user gave something that cannot be used: a file, a flag, a name.

    The command line prints the message and exits with status 2.
    """


class ScenarioWarning(UserWarning):
    """The program assumed something that a file does not say; the text names the file."""


class NotRecorded(InputError, AttributeError):
    """A result does not have the requested data; `hasattr` returns False for it."""


class FieldError(InputError):
    """A field of a document is wrong.

    Parameters
    ----------
    path
        Where the field is, for example ``network.link_rate`` or ``flows[0].start``.
    value
        The value that was found, as written.
    problem
        Why it is wrong.
    fix
        The correction; there is always one.
    """

    #: The name of the document, for errors about the whole of it.
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
    """A run took more memory than it may, or cannot continue.

    Attributes
    ----------
    result
        The numbers until then, a `burstlab.Result`; None if nothing was recorded.
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
        The fault, with its place and its simulated time.
    fix
        How to correct it; may be empty.
    """

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(f"{problem}\n  fix: {fix}" if fix else problem)


class EngineError(RuntimeError):
    """The engine has failed because of a bug in the engine, not in the scenario.

    Parameters
    ----------
    what
        The condition that failed.
    place
        Where, in the sources of the engine.
    fingerprint
        A hash of the resolved scenario.
    which
        Which run of it, as text; may be empty.

    Attributes
    ----------
    result
        The numbers until then, a `burstlab.Result`; for the run that failed, with its tables. None
        if nothing was recorded.
    study
        For a study, a `burstlab.Study` of the points that were finished; None elsewhere.
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
        The kind of name: ``"target"``, ``"trace"``, ...
    name
        The name that was given.
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
