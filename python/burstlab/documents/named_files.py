"""Files that a scenario names, from the directory where their paths count, or from a plan."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from burstlab.documents.provenance import came_with
from burstlab.errors import PlanError
from burstlab.storage.files import Reader, decoded, named_bytes


class NamedFiles:
    """Files by the name under which a scenario knows them.

    Parameters
    ----------
    base
        The directory that their paths are relative to.
    held
        Files that a plan holds itself; these are not looked for.
    keep
        Read each file once, and keep its content, because a plan uses it many times.
    """

    def __init__(
        self, base: Path, held: Mapping[str, bytes] | None = None, *, keep: bool = False
    ) -> None:
        self.base = base
        self.keeps = keep
        self._inside = frozenset(held or ())
        self._known: dict[str, bytes] = dict(held or {})

    def where(self, name: str) -> Path:
        """Return the path of a file."""
        return self.base / name

    def read(self, name: str, field: str = "") -> bytes:
        """Return the content of a file; an error names the field that names it."""
        found = self._known.get(name)
        if found is None:
            found = named_bytes(self.where(name), field)
            if self.keeps:
                self._known[name] = found
        return found

    def reader(self, name: str) -> Reader:
        """Return what reads a file, whatever the path it is asked for."""
        return lambda _where: self.read(name)

    def text(self, name: str, field: str = "") -> str:
        """Return the text of a file, as `read` does."""
        return decoded(self.read(name, field), self.where(name), field)

    def is_foreign(self, name: str) -> bool:
        """Whether a file is in the plan itself, or came with a result or a study."""
        if name in self._inside or self._base_is_foreign:
            return True
        return came_with(self.where(name)) is not None

    @cached_property
    def _base_is_foreign(self) -> bool:
        return came_with(self.base) is not None

    def described(self) -> list[tuple[str, str]]:
        """Return the name of each file that was kept, with its length and checksum."""
        import hashlib

        return [
            (name, f"{len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()[:12]}")
            for name, content in sorted(self._known.items())
        ]

    def to_document(self) -> dict[str, Any]:
        """Return the files that were kept, as a plan holds them."""
        return {name: _written(content) for name, content in sorted(self._known.items())}


def held(table: Mapping[str, Any], path: str) -> dict[str, bytes]:
    """Read the table of a plan that holds files: texts by name, or ``{ base64 = "..." }``."""
    import base64

    found: dict[str, bytes] = {}
    for name, given in table.items():
        coded = given.get("base64") if isinstance(given, Mapping) else None
        try:
            if isinstance(given, str):
                found[name] = given.encode()
            elif isinstance(coded, str) and len(given) == 1:
                found[name] = base64.b64decode(coded, validate=True)
            else:
                raise ValueError("neither a text nor { base64 }")
        except ValueError as error:
            fix = "write the text of the file, or leave it out and put the file where it is named"
            raise PlanError(f"{path}.{name}", "", f"no file ({error})", fix) from None
    return found


def _written(content: bytes) -> str | dict[str, str]:
    import base64

    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}
