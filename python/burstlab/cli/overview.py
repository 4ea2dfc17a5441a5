"""The list of commands, which `burstlab --help` prints without loading any command."""

from __future__ import annotations

import ast
import shutil
import textwrap
from functools import cache
from pathlib import Path

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


def name_of(place: str) -> str:
    """Return the name of the command whose function is at ``"file:function"``."""
    return place.partition(":")[2].rstrip("_").replace("_", "-")


def overview() -> str:
    """Return the usage, the commands by task with a sentence each, and the exit statuses."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
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


def _summary(place: str) -> str:
    """Return the first sentence of a command's docstring, read from its source.

    The source is parsed and not imported: to import all commands takes five times as long.
    """
    file, _, function = place.partition(":")
    for node in _parsed(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == function for target in node.targets
        ):
            return _help_of(node.value)
    raise AssertionError(f"{place} is not in the package")


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(__file__).with_name(f"{file}.py").read_text(encoding="utf-8"))


def _help_of(call: ast.expr) -> str:
    """Return the text of ``help=`` of a group of commands."""
    assert isinstance(call, ast.Call)
    texts = [word.value for word in call.keywords if word.arg == "help"]
    return str(ast.literal_eval(texts[0])) if texts else ""
