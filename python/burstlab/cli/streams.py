"""Standard streams as a command finds them: closed, of another encoding, or of a reader who left.

A failure to print never loses results. A closed stream is replaced by the null device. A character
that the encoding of a stream lacks is printed as a similar ASCII character, or as an escape.
"""

from __future__ import annotations

import codecs
import errno
import os
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, TextIO

#: Characters that commands print, with similar ones of ASCII.
_LIKE = {
    "─": "-",
    "│": "|",
    "·": "-",
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "±": "+-",
    "×": "x",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "µ": "u",
    "μ": "u",
    "²": "^2",
    "“": '"',
    "”": '"',
    "•": "*",
}

#: A reader or a terminal that has gone.
GONE = (errno.EPIPE, errno.EIO, errno.EBADF)


def prepare() -> None:
    """Have all three standard streams take whatever is printed."""
    _open_closed()
    codecs.register_error("burstlab-like", _like)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors="burstlab-like")


class OfMain:
    """Standard output of the main thread, in which commands print; others have standard error.

    In other threads runs execute classes of a user, whose own words are no part of an answer.

    Parameters
    ----------
    stream
        Standard output.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write where this thread may."""
        return self._here().write(text)

    def flush(self) -> None:
        """Flush where this thread may write."""
        self._here().flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _here(self) -> TextIO:
        mine = threading.current_thread() is threading.main_thread()
        return self._stream if mine else sys.stderr


def give_up(stream: Any) -> None:
    """Discard the rest of a stream whose reader has gone."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def complain(text: str) -> None:
    """Print a line on standard error; do nothing if it cannot be written."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        give_up(sys.stderr)


def end() -> None:
    """Print the rest of the streams, if it can be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            give_up(stream)


def _open_closed() -> None:
    """Open the null device where a descriptor is closed.

    A file that is opened later would else get its number, and what is printed would land in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.open(os.devnull, os.O_RDWR)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _is_unicode(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith(("utf-8", "utf-16", "utf-32"))


def _like(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_LIKE.get(one) or _escape(one) for one in found), error.end


def _escape(one: str) -> str:
    return one.encode("ascii", "backslashreplace").decode("ascii")
