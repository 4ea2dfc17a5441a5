"""The application: it calls what is asked for, and makes an exit status of what becomes of it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from burstlab.cli import plain
from burstlab.errors import FULL, EngineError, InputError, ScenarioWarning
from burstlab.interrupts import say_when_heard
from burstlab.shown import shown

DONE, FAILED, BAD_INPUT, ENGINE_FAILED, INTERRUPTED = 0, 1, 2, 70, 130


def main(tokens: Sequence[str] | None = None) -> None:
    """Entry point of the command line; leaves with the exit status.

    A process that was started for this and is interrupted ends at once: what the interpreter would
    take down piece by piece, and threads that it would wait for, nobody needs any more.
    """
    try:
        warnings.showwarning = _warn
        if tokens is None:
            say_when_heard()
        status = _answer(tokens)
        sys.stdout.flush()
        if status == INTERRUPTED and tokens is None:
            sys.stderr.flush()
            os._exit(status)
    except BrokenPipeError:
        # The reader (head, less) has gone; nothing is left to say and nowhere to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = DONE
    except OSError as error:
        if error.errno not in FULL:
            raise
        # What was to be stored was stored, or that was told; this is what was to be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _complain(
            f"standard output: cannot be written ({os.strerror(error.errno)})\n  fix: make room"
        )
    sys.exit(status)


def _answer(tokens: Sequence[str] | None) -> int:
    given = sys.argv[1:] if tokens is None else list(tokens)
    try:
        status = _call(given)
        return status if isinstance(status, int) else DONE
    except InputError as error:
        return _complain(str(error))
    except EngineError as error:
        _complain(str(error))
        return ENGINE_FAILED
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps what is raised while a class is made, as modules are loaded.
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _call(given: Sequence[str]) -> object:
    asked = plain.read(given)
    if asked is not None:
        return asked()
    from burstlab.cli import commands

    return commands.call(given)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of a scenario as one line; any other as Python does."""
    if issubclass(category, ScenarioWarning):
        text = shown(f"warning: {message}", lines=True)
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line).rstrip()
    print(text, file=file or sys.stderr)


def _complain(message: str) -> int:
    print(shown(f"error: {message}", lines=True), file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    main()
