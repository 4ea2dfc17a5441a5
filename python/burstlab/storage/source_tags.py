"""The metadata of a table: which run or study it belongs to; a reader checks it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlab.errors import InputError

#: The key in the metadata of a Parquet file.
KEY = "burstlab"

_compact = json.JSONEncoder(separators=(",", ":")).encode

#: The last bytes of a Parquet file, and how many of them are read at first.
_MAGIC, _END = b"PAR1", 1 << 14

#: Number of differences in an error.
_SHOWN = 2


class SourceTags:
    """The metadata that all tables of one result share, and no other result has.

    Parameters
    ----------
    fields
        For a run its version, seed, fingerprint and those of its replications; for a study its
        version and the hash over its scenarios. Nothing of it depends on a clock.
    whole
        The kind of result: ``"run"`` or ``"study"``.
    source
        The file that defines which one it is.
    """

    def __init__(self, fields: Mapping[str, Any], whole: str, source: str) -> None:
        self._fields = dict(fields)
        self._whole = whole
        self._source = source

    def of(self, table: str) -> dict[str, str]:
        """Return the metadata of a table, as written to its file."""
        return {KEY: _compact({**self._fields, "table": table})}

    def check(self, path: Path, table: str, metadata: Mapping[str, str]) -> None:
        """Refuse a file that is another table, or of another run.

        Parameters
        ----------
        path
            The file.
        table
            The table it should be.
        metadata
            The metadata in it.
        """
        text = metadata.get(KEY)
        if text is None:
            raise InputError(
                f"{path}: does not name its {self._whole}, so an earlier version or "
                f"another program wrote it\n  fix: remove this file, or {self._again}"
            )
        try:
            found = json.loads(text)
        except ValueError:
            found = {}
        wanted = {**self._fields, "table": table}
        differ = [name for name in wanted if found.get(name) != wanted[name]]
        if differ:
            some = differ[:_SHOWN]
            parts = [f"{name} {found.get(name)}, and not {wanted[name]}" for name in some]
            raise InputError(
                f"{path}: is not of the {self._whole} of {self._source} ({'; '.join(parts)})\n"
                f"  fix: remove this file, or {self._again}"
            )

    def are_in(self, path: Path, table: str) -> bool:
        """Whether the end of a Parquet file says that it is this table of this run.

        It is looked at as bytes, in a hundredth of the time in which its metadata are read. Where
        it does not say so in these very bytes, `check` says why.
        """
        try:
            with path.open("rb", buffering=0) as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(end - _END, 0))
                last = file.read(_END)
                length = int.from_bytes(last[-8:-4], "little")
                if not last.endswith(_MAGIC) or length + 8 > end:
                    return False
                if length + 8 > len(last):
                    file.seek(end - length - 8)
                    last = file.read(length + 8)
        except OSError:
            return False
        return self.of(table)[KEY].encode() in last[-length - 8 : -8]

    @property
    def _again(self) -> str:
        return f"make the {self._whole} again in another directory"


def together(prints: Sequence[str]) -> str:
    """Return the fingerprint of all replications."""
    import hashlib

    if len(prints) == 1:
        return prints[0]
    return hashlib.sha256("\n".join(prints).encode()).hexdigest()[:16]
