"""Columns as bytes that a browser reads without decoding: typed arrays behind a JSON head.

The layout, little-endian: the length of the head in 4 bytes, the head (UTF-8), and from the next
multiple of 8 on the columns, each padded to a multiple of 8. The head is ``{"about": ...,
"columns": [{"name", "type", "start", "length"}, ...]}``; ``start`` counts bytes from the first
column on. ``js/data.js`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burstlab.page.serving import Body

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.storage.columnar.column import Column

#: Those that a browser has an array for; no 64-bit integers, which become numbers there.
TYPES = {
    "float64": "Float64Array",
    "float32": "Float32Array",
    "uint32": "Uint32Array",
    "int32": "Int32Array",
    "uint16": "Uint16Array",
    "int16": "Int16Array",
    "uint8": "Uint8Array",
}


def pack(columns: Mapping[str, NDArray[Any]], about: Any = None) -> Body:
    """Put columns into one answer.

    Parameters
    ----------
    columns
        Arrays of one dimension and one of the `TYPES`.
    about
        Further data of the answer, in JSON.
    """
    listed: list[dict[str, Any]] = []
    parts: list[bytes] = []
    start = 0
    for name, column in columns.items():
        content = column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes()
        kind = TYPES[column.dtype.name]
        listed.append({"name": name, "type": kind, "start": start, "length": len(column)})
        parts.append(_padded(content))
        start += len(parts[-1])
    head = json.dumps({"about": about, "columns": listed}, allow_nan=False).encode()
    lead = _padded(len(head).to_bytes(4, "little") + head)
    return Body(lead + b"".join(parts), "application/octet-stream")


def unpack(content: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the JSON data of an answer of `pack`, and its columns.

    Parameters
    ----------
    content
        Of its answer.
    """
    import numpy as np

    size = int.from_bytes(content[:4], "little")
    head = json.loads(content[4 : 4 + size])
    begin = len(_padded(content[: 4 + size]))
    kinds = {written: name for name, written in TYPES.items()}
    columns = {
        one["name"]: np.frombuffer(
            content, np.dtype(kinds[one["type"]]).newbyteorder("<"), one["length"],
            begin + one["start"],
        )
        for one in head["columns"]
    }  # fmt: skip
    return head["about"], columns


def values(name: str, column: Column) -> NDArray[Any]:
    """Return a column of a table of a result; times (``_ps``) in seconds.

    Parameters
    ----------
    name
        Its name.
    column
        The column. A time without a value is NaN, a category its label.
    """
    import numpy as np

    if column.labels is not None:
        # As text of one width, a tenth of the time that it takes as objects.
        return column.texts()
    found = column.to_numpy()
    return found.astype(np.float64) * 1e-12 if name.endswith("_ps") else found


def document(value: Any) -> Body:
    """Return a JSON document."""
    return Body(json.dumps(value, allow_nan=False).encode(), "application/json")


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)
