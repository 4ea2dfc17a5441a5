"""The list of commands, which `burstlab --help` prints without loading any command."""

from __future__ import annotations

import os
import sys
import textwrap

from burstlab.cli.epilogues import ALL

#: The first line of the list.
ABOUT = "A laboratory for TCP over optical burst-switched networks."

#: Commands by task, in the order of the list: the file and the function of each.
TASKS = {
    "Start": ("page:demo", "run:run", "page:view", "study:study", "examples:examples"),
    "Look at results": ("results:results", "plot:plot", "page:play", "export:export"),
    "Ask why": ("what_if:what_if", "blame:blame", "size:size"),
    "Reproduce papers": ("listing:list_", "reproduce:reproduce", "model:model", "dataset:dataset"),
    "Check what you bring": ("check:check", "check:schema", "topology:topology", "oracle:oracle"),
    "Run programs over a kernel": ("kernel:kernel", "live:live"),
}

#: Flags and commands that have no file of their own.
_OTHERS = {
    "COMMAND --help": "Print the parameters of a command, with an example.",
    "version": "Print the version, as --version does.",
}

#: The longest line; a narrower terminal breaks lines earlier.
_WIDEST = 100

#: The width where no terminal has one.
_COLUMNS = 80


def name_of(place: str) -> str:
    """Return the name of the command whose function is at ``"file:function"``."""
    return place.partition(":")[2].rstrip("_").replace("_", "-")


def overview() -> str:
    """Return the usage, the commands by task with a sentence each, and the exit statuses."""
    width = min(_columns(), _WIDEST)
    groups = {task: {name_of(one): _summary(one) for one in TASKS[task]} for task in TASKS}
    groups["Help and version"] = _OTHERS
    column = 2 + max(len(name) for commands in groups.values() for name in commands) + 2
    parts = ["Usage: burstlab COMMAND", ABOUT]
    for task, commands in groups.items():
        rows = [
            textwrap.fill(
                summary,
                width,
                initial_indent=f"  {name}".ljust(column),
                subsequent_indent=" " * column,
            )
            for name, summary in commands.items()
        ]
        parts.append("\n".join([f"{task}:", *rows]))
    parts += [textwrap.fill(paragraph, width) for paragraph in str(ALL).split("\n\n")]
    return "\n\n".join(parts)


def _columns() -> int:
    """Return the width of the terminal, as `shutil` does; to import that takes longer than this."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    out = sys.__stdout__
    try:
        return os.get_terminal_size(out.fileno()).columns if out is not None else _COLUMNS
    except (OSError, ValueError):
        return _COLUMNS


def _summary(place: str) -> str:
    """Return the first sentence of a command's docstring, read from its source.

    The source is searched, and neither imported nor parsed: both take far longer.
    """
    file, _, function = place.partition(":")
    # To import `pathlib` takes longer than to read all files.
    path = f"{__file__.removesuffix('overview.py')}{file}.py"
    with open(path, encoding="utf-8") as source:  # noqa: PTH123
        text = source.read()
    _, begins, rest = text.partition(f"\ndef {function}(")
    if begins:
        return " ".join(rest.split('"""', 2)[1].split("\n\n")[0].split())
    # A group of commands: the text is that of its `help`.
    _, begins, rest = text.partition(f"\n{function} = App(")
    assert begins, f"{place} is not in the package"
    return rest.split('help="', 1)[1].split('"')[0]
