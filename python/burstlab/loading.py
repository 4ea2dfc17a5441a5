"""From a file, a dictionary or a `Scenario` to the JSON text the engine reads.

The engine checks every field. This module checks only what JSON cannot carry: syntax, dates, and
numbers that are not finite.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from burstlab import classes
from burstlab.documents.named_files import NamedFiles

# Part of the interface of this module.
from burstlab.documents.paths import Document as Document
from burstlab.documents.paths import steps_of as steps_of
from burstlab.errors import InputError, ScenarioError


@runtime_checkable
class HasToDict(Protocol):
    """An object such as `bl.Scenario`, which returns its fields as nested dictionaries."""

    def to_dict(self) -> Document:
        """Return the fields that are set."""
        ...


ScenarioLike: TypeAlias = "HasToDict | Mapping[str, Any] | str | os.PathLike[str]"

#: Python converts whole numbers of at most so many digits.
_DIGITS_MAX = 4300
_ENDLESS = re.compile(rf"\d(_?\d){{{_DIGITS_MAX}}}")

#: The largest number of bits of a whole number, and the deepest nesting of tables and lists. Both
#: are larger than any field needs.
_BITS_MAX, _DEPTH_MAX = 256, 64

#: The most bytes that are read from a pipe or a device.
_STREAM_MAX = 1 << 26


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 text file; an error is one line with its fix."""
    where = Path(path)
    try:
        kind = where.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            return _read_stream(where)
        text = where.read_bytes().decode()
        # As text mode reads it, in half the time.
        return re.sub("\r\n?", "\n", text) if "\r" in text else text
    except FileNotFoundError:
        raise InputError(
            f"{where}: no such file\n  fix: give the path of an existing file"
        ) from None
    except IsADirectoryError:
        raise InputError(
            f"{where}: is a directory, not a file\n  fix: give a file, such as one in it"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}: not a text file (byte {error.start} is not UTF-8)\n"
            "  fix: give a text file in UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"{str(where)!r}: cannot be read ({reason})\n  fix: make it readable, or give another"
        ) from None


def _read_stream(where: Path) -> str:
    """Read a pipe or a device, which may never end."""
    with where.open("rb") as file:
        content = file.read(_STREAM_MAX + 1)
    if len(content) > _STREAM_MAX:
        raise InputError(
            f"{where}: is no file, and has more than {_STREAM_MAX:,} bytes\n"
            "  fix: give a file, or a pipe with the text of one"
        )
    return content.decode("utf-8")


def read_toml(path: str | os.PathLike[str]) -> Document:
    """Read a TOML file; a syntax error is reported with its line and column."""
    return toml_of(read_text(path), path)


def toml_of(text: str, path: str | os.PathLike[str]) -> Document:
    """Parse the text of a TOML file, as `read_toml` does."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{path}: not valid TOML: {error}\n  fix: correct that line; text needs quotes"
        ) from None
    except RecursionError:
        raise InputError(
            f"{path}: not valid TOML: nested too deeply\n  fix: write fewer lists within lists"
        ) from None
    except ValueError:
        # Python refuses to convert a whole number of so many digits.
        line = next((n for n, one in enumerate(text.splitlines(), 1) if _ENDLESS.search(one)), 0)
        raise InputError(
            f"{path}: line {line}: a whole number of more than {_DIGITS_MAX:,} digits\n"
            "  fix: write a smaller number, such as 40"
        ) from None


def to_document(scenario: ScenarioLike, settings: Sequence[str] = ()) -> Document:
    """Convert any description of a scenario to a new dictionary.

    Parameters
    ----------
    scenario
        A `bl.Scenario`, a dictionary, or the path of a TOML file. A ``network.file`` in it is read
        and replaced by its nodes and links, a ``file`` of sizes by its points, and a ``file`` of
        connections by its rows. Paths are relative to the scenario's file, or to the working
        directory without one. Files of classes are read when the scenario is resolved.
    settings
        Changes to apply before files are read; see `apply_settings`.

    Returns
    -------
    dict
        The fields as nested dictionaries; changing them does not change `scenario`.
    """
    document, base = as_written(scenario)
    if not settings:
        return with_files(document, base)
    document = with_files(apply_settings(document, settings), base)
    refuse_overridden(document, dict(map(setting, settings)))
    return document


def admitted(scenario: ScenarioLike, settings: Sequence[str] = (), *, allow_code: bool) -> Document:
    """Read a scenario that is to be run; the only entry for Python code that comes with it.

    A class file that a user's own scenario names is executed, because the user has that file and
    can read it. Code inside the scenario, and all code that came with a result or a study, is
    executed only with `allow_code`.

    Parameters
    ----------
    scenario, settings
        As in `to_document`.
    allow_code
        Whether such code may be executed.

    Raises
    ------
    ScenarioError
        If the scenario brings Python code that is not allowed.
    """
    document = to_document(scenario, settings)
    classes.refuse(classes.written(document), allow=allow_code)
    return document


def refuse_overridden(document: Document, settings: Mapping[str, Any]) -> None:
    """Refuse settings, by path, that have no effect in their scenario."""
    from burstlab.documents.nearer import refuse  # loaded only where something is set

    refuse(document, settings)


def as_written(scenario: ScenarioLike) -> tuple[Document, Path]:
    """Return a scenario before its files are read, and the directory that paths are relative to."""
    base = Path()
    if isinstance(scenario, HasToDict):
        found: object = scenario.to_dict()
    elif isinstance(scenario, Mapping):
        found = dict(scenario)
    elif isinstance(scenario, (str, os.PathLike)):
        found = read_toml(scenario)
        if "scenario" in found:
            raise InputError(
                f"{scenario}: is the plan of a study, not a scenario\n"
                f"  fix: burstlab study {scenario}, or give a file of its [scenario] alone"
            )
        base = Path(scenario).parent
    else:
        raise TypeError(
            f"a scenario is a Scenario, a dict or the path of a file, not {type(scenario).__name__}"
        )
    return plain(found), base


def with_files(document: Document, base: Path | NamedFiles) -> Document:
    """Replace the names of files in a scenario by their content; change and return it.

    Parameters
    ----------
    document
        The scenario.
    base
        The directory that paths are relative to; or the files of a plan, which include the texts
        of classes. Those are then inserted too.
    """
    files = base if isinstance(base, NamedFiles) else NamedFiles(base)
    network = document.get("network")
    if isinstance(network, dict) and "file" in network:
        from burstlab.topology import expand  # loaded only where there is a file to read

        expand(document, files)
    if any(table in document for table in ("demand", "bursts", "batches")):
        from burstlab.sizes import expand

        expand(document, files)
    if "demand" in document:
        from burstlab.flow_traces import expand

        expand(document, files)
        from burstlab.demand_matrices import expand

        expand(document, files)
    classes.place(document, files)
    return document


def apply_settings(document: Document, settings: Sequence[str]) -> Document:
    """Apply ``path=value`` settings in order and return a changed copy.

    A value is read as TOML (``40``, ``true``, ``["1 ms", "2 ms"]``). Other text is a bare string,
    so ``core.link_delay=5 ms`` needs no quotes.
    """
    changed = json.loads(json.dumps(document))
    pairs = [setting(one) for one in settings]
    refuse_replaced(pairs)
    for path, value in pairs:
        set_at(changed, path, value)
    return changed


def refuse_replaced(pairs: Sequence[tuple[str, Any]]) -> None:
    """Refuse a setting that a later one replaces; settings are (path, value), in order."""
    for place, (path, value) in enumerate(pairs):
        for later, _ in pairs[place + 1 :]:
            steps = steps_of(later)
            if steps_of(path)[: len(steps)] == steps:
                problem = f"it has no effect: {later} is set after it"
                raise ScenarioError(path, value, problem, "keep one of the two")


def set_by_flags(settings: Sequence[str] | None, **flags: Any) -> list[str]:
    """Return settings, and refuse settings of a field that a flag sets too.

    Parameters
    ----------
    settings
        As ``--set`` takes them.
    **flags
        Values of flags, by their field of ``run``; None where a flag is not given.
    """
    given = list(settings or ())
    for path, value in map(setting, given):
        table, _, name = path.partition(".")
        if table == "run" and flags.get(name) is not None:
            flag = f"--{name.replace('_', '-')} {flags[name]}"
            problem = f"it has no effect: {flag} takes its place"
            raise ScenarioError(
                path, value, problem, "leave out this setting; the flag sets the field"
            )
    return given


def setting(text: str) -> tuple[str, Any]:
    """Split ``path=value`` into the path of a field and its value."""
    path, separator, value = text.partition("=")
    path = path.strip()
    if not separator or not path:
        raise InputError(
            f"--set {text}: no '=' found\n  fix: write path=value, for example --set tcp.window=40"
            if not separator
            else f"--set {text}: no field named\n  fix: write path=value"
        )
    return path, parse_value(value.strip())


def parse_value(text: str) -> Any:
    """Read one TOML value; other text is returned as it is."""
    try:
        found = tomllib.loads(f"value = {text}")
        return plain(found["value"]) if list(found) == ["value"] else text
    except (ValueError, RecursionError):
        return text


def set_at(document: Document, path: str, value: Any) -> None:
    """Set the field at a dotted path, and create missing tables.

    ``flows[1].tcp.variant`` and ``flows.1.tcp.variant`` name the same field.
    """
    steps = steps_of(path)
    here: Any = document
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        if isinstance(here, list):
            here = _enter_list(here, step, path, value, last)
        elif isinstance(here, dict):
            if last:
                if step == "file":
                    _forget_file(here)
                here[step] = value
            else:
                here = here.setdefault(step, [] if steps[depth + 1].isdigit() else {})
        else:
            parent = ".".join(steps[:depth])
            problem = f"{parent} is a value and has no fields"
            raise ScenarioError(path, value, problem, f"set {parent} itself, or another field")


def _forget_file(table: Document) -> None:
    """Remove the content of a file that another file replaces."""
    for name in ("node", "link", "cdf", "trace", "matrix"):
        table.pop(name, None)


def _enter_list(here: list[Any], step: str, path: str, value: Any, last: bool) -> Any:
    if not here and step == "0":
        here.append({})
    if not step.isdigit() or int(step) >= len(here):
        raise ScenarioError(
            path,
            value,
            f"{step!r} is not an index of a list of {len(here)}",
            f"use 0 to {len(here) - 1}" if here else "the list is empty",
        )
    if last:
        here[int(step)] = value
    return here[int(step)]


def plain(value: Any, path: str = "") -> Any:
    """Copy dictionaries and lists; refuse values that JSON cannot represent."""
    try:
        return _copied(value, 0)
    except _Refused:
        # The path of the value is written only where it is wrong.
        return _explained(value, path, 0)


class _Refused(Exception):
    """A value that JSON cannot represent."""


def _copied(value: Any, depth: int) -> Any:
    """Copy a value, as `_explained` does, without the path of each value in it."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict or kind is list:
        if depth > _DEPTH_MAX:
            raise _Refused
        if kind is list:
            return [_copied(item, depth + 1) for item in value]
        return {str(name): _copied(one, depth + 1) for name, one in value.items()}
    if (kind is int and value.bit_length() <= _BITS_MAX) or (
        kind is float and math.isfinite(value)
    ):
        return value
    raise _Refused


def _explained(value: Any, path: str, depth: int) -> Any:
    """Copy dictionaries and lists; refuse values that JSON cannot represent, each by its path."""
    if type(value) is str:
        return value
    if isinstance(value, (Mapping, list, tuple)):
        if depth > _DEPTH_MAX:
            problem = f"nested too deeply: more than {_DEPTH_MAX} tables within one another"
            raise ScenarioError(path, "", problem, "write table.field = value")
        if isinstance(value, Mapping):
            return {
                str(name): _explained(one, f"{path}.{name}" if path else str(name), depth + 1)
                for name, one in value.items()
            }
        return [_explained(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(path, value, "not a finite number", "write a number such as 0.5")
    if isinstance(value, int) and value.bit_length() > _BITS_MAX:
        problem = f"a whole number of {value.bit_length():,} bits, which no field may have"
        raise ScenarioError(path, "", problem, "write a smaller one")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ScenarioError(
        path,
        str(value),
        f"a {type(value).__name__} is not allowed here",
        "quote it as a string",
    )
