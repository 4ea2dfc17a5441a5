"""What commands print: text of a user is shown as it is, and never drives the terminal.

A label may hold what is markup to rich, or an escape sequence to a terminal. Neither is read here:
nothing that is printed is markup, and control characters are shown as escapes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from burstlab.shown import shown

if TYPE_CHECKING:
    from rich.console import Console

#: How verdicts look.
STYLES = {"holds": "green", "differs": "yellow", "cannot tell": "cyan", "fails": "bold red"}


def say(text: str, file: TextIO | None = None) -> None:
    """Print lines."""
    print(shown(text, lines=True), file=file)


def warn(text: str) -> None:
    """Print lines on standard error."""
    say(text, sys.stderr)


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
