"""The command `burstlab`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # `commands.py` is loaded only here; it alone evaluates the types of a command's flags.
    from burstlab.cli import flags as flags


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command line; end with its exit status.

    Parameters
    ----------
    tokens
        The arguments of the command; by default those of the process.
    """
    if (sys.argv[1:] if tokens is None else list(tokens)) == ["--version"]:
        # Scripts often ask for the version first; it needs none of the other imports.
        import burstlab

        print(f"burstlab {burstlab.__version__}")
        sys.exit(0)
    try:
        from burstlab.cli.app import main as answer
    except KeyboardInterrupt:
        # Nothing has begun; from there on it is heard as every other signal is.
        sys.exit(130)
    answer(tokens)


__all__ = ["main"]
