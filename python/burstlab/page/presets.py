"""Scenarios that the page shows without a file: those of papers (``presets.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from burstlab.errors import unknown
from burstlab.loading import Document, to_document
from burstlab.page.scenes import Scene, settled


@dataclass(frozen=True)
class Preset:
    """A scenario of a paper, as it is shortened for the page.

    Attributes
    ----------
    name
        In addresses.
    paper
        The source.
    label
        Its description.
    file
        Of its scenario, from the package of the papers on.
    set, drop
        Fields with other values than there, and fields that are left out.
    play
        Whether its sliders can be moved: it is a path.
    """

    name: str
    paper: str
    label: str
    file: str
    set: dict[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    play: bool = False

    @property
    def scenario(self) -> Document:
        """The scenario that is run."""
        with as_file(files("burstlab.papers").joinpath(*self.file.split("/"))) as path:
            return settled(to_document(path), self.set, self.drop)

    @property
    def note(self) -> str:
        """The differences from the paper's scenario."""
        parts = [f"{path} = {value}" for path, value in self.set.items()]
        parts += [f"without {path}" for path in self.drop]
        return f"{self.paper}. " + (f"Shortened: {', '.join(parts)}." if parts else "")

    @property
    def scene(self) -> Scene:
        """The scene that the page shows."""
        return Scene(self.label, self.scenario, note=self.note)

    def to_json(self) -> dict[str, Any]:
        """Return the entry for the list of the page."""
        return {"key": self.name, "label": self.label, "group": self.paper}


@cache
def presets() -> dict[str, Preset]:
    """Return all presets by name."""
    text = files("burstlab.page").joinpath("presets.toml").read_text("utf-8")
    listed: list[dict[str, Any]] = tomllib.loads(text)["preset"]
    for one in listed:
        one["drop"] = tuple(one.get("drop", ()))
    found = [Preset(**one) for one in listed]
    return {one.name: one for one in found}


def preset(name: str) -> Preset:
    """Return one.

    Parameters
    ----------
    name
        Its name; another is refused.
    """
    known = presets()
    if name not in known:
        raise unknown("preset", name, known)
    return known[name]
