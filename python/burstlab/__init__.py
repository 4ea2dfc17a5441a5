"""Burstlab: a laboratory for TCP over optical burst-switched networks.

>>> import burstlab as bl
>>> result = bl.run("scenario.toml", seed=1)  # doctest: +SKIP
>>> result.flows.to_pandas()  # doctest: +SKIP

The names of the package stand in ``__init__.pyi`` alone, one a line. Each is imported on first
use, so the command line answers ``--help`` without numpy.
"""

from __future__ import annotations

import importlib
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def _homes() -> dict[str, str]:
    """Return the module of each name: a line is ``from MODULE import NAME as NAME``."""
    from pathlib import Path

    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    return {line.split()[-1]: line.split()[1] for line in lines if line.startswith("from ")}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name not in _homes():
        raise AttributeError(f"module 'burstlab' has no attribute {name!r}")
    if _homes()[name] == "burstlab":
        return importlib.import_module(f"burstlab.{name}")
    return getattr(importlib.import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes(), "__all__"})
