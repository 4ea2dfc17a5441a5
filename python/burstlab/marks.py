"""What a table says of itself: of which run, or study, it is; a reader holds it to that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstlab.errors import InputError

#: The key in the metadata of a Parquet file.
KEY = "burstlab"

#: Differences that an error tells.
_TOLD = 2


class Marks:
    """What all tables of one result have in common, and no other result has.

    Parameters
    ----------
    fields
        Of a run its version, seed, fingerprint and those of its replications; of a study its
        version and the hash over its scenarios. Nothing of it depends on a clock.
    whole
        What the tables are parts of: ``"run"`` or ``"study"``.
    source
        The file that says which one it is.
    """

    def __init__(self, fields: Mapping[str, Any], whole: str, source: str) -> None:
        self._fields = dict(fields)
        self._whole = whole
        self._source = source

    def of(self, table: str) -> dict[str, str]:
        """Return what is written into the metadata of a table."""
        return {KEY: json.dumps({**self._fields, "table": table}, separators=(",", ":"))}

    def check(self, path: Path, table: str, metadata: Mapping[str, str]) -> None:
        """Refuse a file that is another table, or of another run.

        Parameters
        ----------
        path
            The file.
        table
            The table it should be.
        metadata
            What it says of itself.
        """
        text = metadata.get(KEY)
        if text is None:
            raise InputError(
                f"{path}: does not say of which {self._whole} it is, so an earlier version or "
                f"another program wrote it\n  fix: remove this file, or {self._again}"
            )
        try:
            found = json.loads(text)
        except ValueError:
            found = {}
        wanted = {**self._fields, "table": table}
        differ = [name for name in wanted if found.get(name) != wanted[name]]
        if differ:
            told = [f"{name} {found.get(name)}, and not {wanted[name]}" for name in differ[:_TOLD]]
            raise InputError(
                f"{path}: is not of the {self._whole} of {self._source} ({'; '.join(told)})\n"
                f"  fix: remove this file, or {self._again}"
            )

    @property
    def _again(self) -> str:
        return f"make the {self._whole} again in another directory"
