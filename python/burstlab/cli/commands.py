"""The commands, as the library that reads their flags knows them.

Each command lives in a file of its own, which is read when the command is called, and imports what
is heavy inside its function: a run starts in the time that its own parts take.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App, CycloptsError, Group
from cyclopts.help import format_usage

# The types of the flags of `run.py` are names there, evaluated on demand.
from burstlab.cli import flags as flags
from burstlab.cli.epilogues import ALL, EPILOGUES
from burstlab.cli.overview import ABOUT, TASKS, name_of
from burstlab.errors import InputError


def _version() -> str:
    import burstlab

    return f"burstlab {burstlab.__version__}"


app = App(
    name="burstlab",
    suppress_keyboard_interrupt=False,
    help=ABOUT,
    version=_version,
    version_flags=["--version"],
    help_epilogue=ALL,
    # Commands without a task are listed last.
    group_commands=Group("Help and version", sort_key=99),
)
for _rank, (_task, _commands) in enumerate(TASKS.items()):
    _group = Group(_task, sort_key=_rank)
    for _place, _command in enumerate(_commands):
        _name = name_of(_command)
        # The group `kernel` has commands of its own, and its own end of the help.
        _at_the_end = {} if _name == "kernel" else {"help_epilogue": str(EPILOGUES[_name])}
        app.command(
            f"burstlab.cli.{_command}",
            name=_name,
            group=_group,
            sort_key=_place,
            **_at_the_end,
        )


@app.command(help_epilogue=str(EPILOGUES["version"]))
def version() -> int:
    """Print the version."""
    print(_version())
    return 0


def call(given: Sequence[str]) -> object:
    """Call the command that a command line asks for, and return what it returns.

    Parameters
    ----------
    given
        The arguments after ``burstlab``.

    Raises
    ------
    InputError
        If the line cannot be read, and whatever the command raises.
    """
    try:
        return app(given, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise InputError(f"{str(error).strip()}\n  fix: {_fix(error)}") from None


def _fix(error: CycloptsError) -> str:
    """Return the help command to run next, and the usage line of the command."""
    chain = list(error.command_chain or ())
    if not chain:
        return "burstlab --help lists what there is"
    usage = str(format_usage(app, chain)).strip().removeprefix("Usage: ")
    return f"see burstlab {' '.join(chain)} --help\n  usage: {usage}"
