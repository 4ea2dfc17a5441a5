"""Printing for commands: text of a user is shown as it is, and never controls the terminal.

A label may contain markup of rich, or an escape sequence of a terminal. Neither is interpreted:
printed text has no markup, and control characters are shown as escapes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from burstlab.printable import shown

if TYPE_CHECKING:
    from rich.console import Console

#: How verdicts look.
STYLES = {
    "holds": "green",
    "differs": "yellow",
    "differs, cause undecided": "yellow",
    "cannot tell": "cyan",
    "fails": "bold red",
}


def say(text: str, file: TextIO | None = None) -> None:
    """Print lines."""
    print(shown(text, lines=True), file=file)


def warn(text: str) -> None:
    """Print lines on standard error."""
    say(text, sys.stderr)


def put_document(document: Any) -> None:
    """Print one JSON document, all of it at once.

    Ctrl-C is heard while it is put together, for which a run of many flows takes seconds: nothing
    is printed then. The keys of objects are strings, and numbers are finite.
    """
    print("".join(parts(document)))


def parts(value: Any, levels: int = 4) -> Iterator[str]:
    """Return the text that `json.dumps` makes of a document, part by part.

    `json.dumps` does not return for a signal, so no call of it gets much to do. Objects and arrays
    with others in them are put together here, down to so many `levels`. Long ones are written by
    slices: an object of estimates, and an array of flows.
    """
    if levels == 0 or not isinstance(value, dict | list) or not any(map(_holds, _members(value))):
        yield json.dumps(value, allow_nan=False)
        return
    is_object = isinstance(value, dict)
    opening, closing = "{}" if is_object else "[]"
    if len(value) > _SLICE and levels <= (_LONG_OBJECTS if is_object else _LONG_ARRAYS):
        for number, one in enumerate(_slices(value)):
            yield f"{', ' if number else opening}{json.dumps(one, allow_nan=False)[1:-1]}"
        yield closing
        return
    for number, one in enumerate(value):
        key, member = (f"{json.dumps(one)}: ", value[one]) if is_object else ("", one)
        yield f"{', ' if number else opening}{key}"
        yield from parts(member, levels - 1)
    yield closing


#: Members that are written at once: a millisecond of work if they are flows.
_SLICE = 16

#: The levels with long objects and long arrays of small members. Replications stand above.
_LONG_OBJECTS, _LONG_ARRAYS = 3, 2


def _slices(value: dict[str, Any] | list[Any]) -> Iterator[Any]:
    if isinstance(value, list):
        yield from (value[first : first + _SLICE] for first in range(0, len(value), _SLICE))
        return
    items = iter(value.items())
    while some := dict(islice(items, _SLICE)):
        yield some


def _members(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _holds(value: object) -> bool:
    return isinstance(value, dict | list)


def console(width: int = 120) -> Console:
    """Return what prints tables; `width` is that of a pipe, which has none."""
    from rich.console import Console
    from rich.text import Text

    class Plain(Console):
        """Takes every text as it is, those in cells of tables too."""

        def render_str(self, text: str, **how: Any) -> Text:
            taken = {name: how[name] for name in ("justify", "overflow") if name in how}
            return Text(shown(text), how.get("style", ""), **taken)

    terminal = sys.stdout.isatty()
    return Plain(width=None if terminal else width, markup=False, emoji=False, highlight=False)
