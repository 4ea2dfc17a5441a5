"""The JSON schema of a scenario. Its file is generated from the types of the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def schema() -> str:
    """Return the JSON schema of a scenario, for editors and other tools.

    Returns
    -------
    str
        JSON, with a line a value.
    """
    file = resources.files("burstlab").joinpath("data/scenario.schema.json")
    return file.read_text(encoding="utf-8")


@cache
def scenario_schema() -> Mapping[str, Any]:
    """Return the schema. Its tables are under ``$defs``, by the names of their types."""
    return json.loads(schema())
