"""Command lines that are read without the library that reads all others.

Loading that library takes longer than a short run. So this module reads a `burstlab run` in which
every flag is written out, once, with its value after it. The library (`commands.py`) reads any
other line, and every line with a mistake: no error is reported here. The signature of the command
alone defines the meaning of each flag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

#: How the value of a flag is read, by its annotation; the flag of one that is not here is not read.
_READ: dict[str, Callable[[str], Any]] = {"cli.flags.Whole": int, "str | None": str}

_LISTS = ("cli.flags.Names", "cli.flags.Settings")
_SWITCHES = ("cli.flags.Switch", "cli.flags.Json")


def read(given: Sequence[str]) -> Callable[[], object] | None:
    """Return the call that a command line asks for, or None if it is not a plain one.

    Parameters
    ----------
    given
        The arguments after ``burstlab``.
    """
    if list(given) in ([], ["-h"], ["--help"]):
        return _print_overview
    if given[0] != "run":
        return None
    from burstlab.cli.run import run

    kinds: dict[str, str] = run.__annotations__
    flags = {f"--{name.rstrip('_').replace('_', '-')}": name for name in run.__kwdefaults__ or {}}
    files: list[str] = []
    found: dict[str, Any] = {}
    words = iter(given[1:])
    for word in words:
        if not word.startswith("-"):
            files.append(word)
        elif word not in flags or not _take(found, flags[word], kinds[flags[word]], words):
            return None
    return partial(run, *files, **found) if len(files) == 1 and files[0] else None


def _print_overview() -> None:
    from burstlab.cli.overview import overview

    print(overview())


def _take(found: dict[str, Any], name: str, kind: str, words: Iterator[str]) -> bool:
    """Read one flag into `found`; return whether it is a plain one."""
    if name in found and kind not in _LISTS:
        return False
    if kind in _SWITCHES:
        found[name] = True
        return True
    value = next(words, "")
    if not value or value.startswith("-"):
        return False
    if kind in _LISTS:
        found.setdefault(name, []).append(value)
        return True
    try:
        found[name] = _READ[kind](value)
    except (KeyError, ValueError):
        return False
    return True
