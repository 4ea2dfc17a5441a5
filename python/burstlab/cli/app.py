"""The application: its commands, and what becomes of an error.

Each command lives in a file of its own, which is read when the command is called, and imports what
is heavy inside its function: a run starts in the time that its own parts take.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from burstlab.errors import FULL, EngineError, InputError
from burstlab.shown import shown

DONE, FAILED, BAD_INPUT, ENGINE_FAILED, INTERRUPTED = 0, 1, 2, 70, 130


def _version() -> str:
    import burstlab

    return f"burstlab {burstlab.__version__}"


app = App(
    name="burstlab",
    help="A laboratory for TCP over optical burst-switched networks.",
    version=_version,
    version_flags=["--version"],
    help_epilogue="Exit status: 0 done, 1 a check or claim failed, 2 bad input, 70 the engine "
    "failed by a fault of its own, 130 interrupted.",
)
for _command in (
    "run:run",
    "examples:examples",
    "listing:list_",
    "reproduce:reproduce",
    "dataset:dataset",
    "study:study",
    "size:size",
    "results:results",
    "what_if:what_if",
    "blame:blame",
    "export:export",
    "plot:plot",
    "check:check",
    "check:schema",
    "oracle:oracle",
    "model:model",
    "live:live",
    "kernel:kernel",
    "page:view",
    "page:play",
    "page:demo",
):
    _name = _command.partition(":")[2].rstrip("_").replace("_", "-")
    app.command(f"burstlab.cli.{_command}", name=_name)


@app.command
def version() -> int:
    """Print the version."""
    print(_version())
    return DONE


def main(tokens: Sequence[str] | None = None) -> None:
    """Entry point of the command line; leaves with the exit status.

    A process that was started for this and is interrupted ends at once: what the interpreter would
    take down piece by piece, and threads that it would wait for, nobody needs any more.
    """
    try:
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
    if not given or given[0] in ("-h", "--help"):
        # What is listed tells what each command does, as its file says.
        app.resolved_commands()
    try:
        status = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return status if isinstance(status, int) else DONE
    except CycloptsError as error:
        return _complain(f"{str(error).strip()}\n  fix: burstlab --help lists what there is")
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


def _complain(message: str) -> int:
    print(shown(f"error: {message}", lines=True), file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    main()
