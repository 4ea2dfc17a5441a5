"""The application: it calls the command, and turns its outcome into an exit status."""

from __future__ import annotations

import codecs
import errno
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TextIO, cast

from burstlab.cli import plain, streams
from burstlab.errors import FULL, EngineError, InputError, ScenarioWarning, for_the_command_line
from burstlab.printable import brief, shown
from burstlab.running import interrupts

DONE, FAILED, BAD_INPUT, ENGINE_FAILED, INTERRUPTED = 0, 1, 2, 70, 130

#: A shell adds this to the number of a signal that ended a command.
_BY_SIGNAL = 128


def main(tokens: Sequence[str] | None = None) -> None:
    """Entry point of the command line; leaves with the exit status.

    A process that was started for this and is interrupted ends at once: what the interpreter would
    take down piece by piece, and threads that it would wait for, nobody needs any more.
    """
    warnings.showwarning = _warn
    if tokens is None:
        streams.prepare()
        interrupts.listen()
    try:
        status = _answer(tokens)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        status = _unprinted(error)
    if status == INTERRUPTED and tokens is None:
        _leave(interrupts.came() or signal.SIGINT)
    if tokens is None:
        # Python waits for the threads that classes of a user have left.
        interrupts.leave(_leave)
    sys.exit(status)


def _leave(number: int) -> None:
    """End the process at once, as one that a signal has ended."""
    streams.end()
    os._exit(_BY_SIGNAL + number)


def _unprinted(error: OSError) -> int:
    """Return the status if the output could not be printed."""
    if error.errno not in (*FULL, *streams.GONE):
        raise error
    streams.give_up(sys.stdout)
    if interrupts.came() is not None:
        return INTERRUPTED
    if error.errno == errno.EPIPE:
        # The reader (head, less) has gone; nothing is left to say and nowhere to say it.
        return DONE
    # Results were stored, or an error was reported; only the printing failed.
    fix = "make room" if error.errno in FULL else "give it a file or a terminal that is there"
    return _complain(
        f"standard output: cannot be written ({os.strerror(error.errno)})\n  fix: {fix}"
    )


def _answer(tokens: Sequence[str] | None) -> int:
    given = sys.argv[1:] if tokens is None else list(tokens)
    try:
        with redirect_stdout(cast(TextIO, streams.OfMain(sys.stdout))):
            status = _call(given)
        return status if isinstance(status, int) else DONE
    except InputError as error:
        return _complain(str(error))
    except EngineError as error:
        _complain(str(error))
        return ENGINE_FAILED
    except UnicodeEncodeError as error:
        return _complain(_unwritable(error))
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps what is raised while a class is made, as modules are loaded.
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        streams.complain("interrupted")
        return INTERRUPTED


def _unwritable(error: UnicodeEncodeError) -> str:
    """Return the error for text that is not UTF-8, or that this locale has no characters for."""
    fix = "set PYTHONUTF8=1, or a locale of UTF-8 such as LC_ALL=C.UTF-8"
    if codecs.lookup(error.encoding).name != "utf-8":
        problem = f"the locale has no such characters ({error.encoding})"
    else:
        problem = "it is not UTF-8"
        if codecs.lookup(sys.getfilesystemencoding()).name == "utf-8":
            fix = "write it in UTF-8"
    return f"{brief(str(error.object))!r}: {problem}\n  fix: {fix}"


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
    streams.complain(shown(f"error: {for_the_command_line(message)}", lines=True))
    return BAD_INPUT


if __name__ == "__main__":
    main()
