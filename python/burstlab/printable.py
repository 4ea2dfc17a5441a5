"""Text of a user as it can be shown anywhere: what would steer a terminal becomes visible."""

from __future__ import annotations

import re

#: Controls of C0 and C1 with delete, what turns the direction of writing, the ends of lines and
#: paragraphs of Unicode, and halves of characters, which no file can hold.
_OTHERS = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_STEERS = re.compile(f"[\x00-\x1f{_OTHERS}]")
_STEERS_BUT_LINES = re.compile(f"[\x00-\x09\x0b-\x1f{_OTHERS}]")


def shown(text: str, *, lines: bool = False) -> str:
    r"""Return a text with escapes, such as ``\x1b``, in place of what cannot be seen but acts.

    Parameters
    ----------
    text
        Any.
    lines
        Leave ends of lines as they are, where the text is made of lines of ours.
    """
    return (_STEERS_BUT_LINES if lines else _STEERS).sub(_escape, text)


def brief(text: str, most: int = 120) -> str:
    """Return printable text, cut off where it is longer than `most`."""
    text = shown(text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def several(number: int, name: str, names: str | None = None) -> str:
    """Write a number of things: 1 run, 2 runs.

    Parameters
    ----------
    number
        How many.
    name
        The name of one.
    names
        The name of several, if that is not the same with an s.
    """
    return f"{number:,} {name if number == 1 else names or f'{name}s'}"
