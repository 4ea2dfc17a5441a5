"""Files of rows, packed with gzip: read whole, or refused with the fault."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from burstlab.oracle.cases import wrong

#: The longest trace that is unpacked, in bytes; the longest recordings have a few million.
LONGEST = 1 << 28

_FIX = "give a recording as the recorder packs it"


def read_packed(path: Path) -> str:
    """Unpack a trace.

    Raises
    ------
    InputError
        If it is not there, damaged, or no text; the error names the file.
    """
    try:
        with gzip.open(path, "rb") as file:
            content = file.read(LONGEST + 1)
    except FileNotFoundError:
        fix = "put the trace there, or leave its case out of index.json"
        raise wrong(str(path), "no such file", fix) from None
    except (OSError, EOFError, zlib.error) as error:
        raise wrong(str(path), f"cannot be unpacked ({error})", _FIX) from None
    if not content.strip():
        raise wrong(str(path), "there is no row", _FIX)
    if len(content) > LONGEST:
        raise wrong(str(path), f"is longer than {LONGEST} bytes", _FIX)
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise wrong(f"{path}: line {line}", "is no text", _FIX) from None


def refuse_rows(path: Path, problem: str) -> Exception:
    """Return the error of a trace with a row that is none."""
    return wrong(str(path), problem, _FIX)
