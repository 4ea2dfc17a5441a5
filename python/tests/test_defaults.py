"""The reference of `[tcp]` lists the default of every field in every profile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import burstlab as bl
from burstlab.scenario import Profile

PAGE = Path(__file__).parents[2] / "docs/reference/scenario.md"

#: Values that the page writes otherwise than `resolve`.
WRITTEN = {"131072 B": "128 KiB", "6291456 B": "6 MiB"}


@pytest.fixture(scope="module")
def shown():
    table = PAGE.read_text().partition("\n## Tcp: ")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*?) \|$", table, re.MULTILINE)
    assert len(rows) > 60
    return {
        name: re.sub(r"(\d),(\d)", r"\1\2", text.partition("Default")[2]) for name, text in rows
    }


def names(text, value, fields):
    """Whether a text names a value, or another field that has it."""
    if isinstance(value, bool):
        value = str(value).lower()
    word = re.escape(WRITTEN.get(value, str(value)))
    if re.search(rf"(?<![\w.]){word}(?![\w.]\w)(?!\w)", text):
        return True
    return any(fields.get(other) == value for other in re.findall(r"`(\w+)`", text))


@pytest.mark.parametrize("profile", get_args(Profile))
def test_every_default_of_a_profile_is_in_the_reference(shown, profile):
    fields = bl.resolve({"tcp": {"profile": profile}})["tcp"]
    assert fields.pop("profile") == profile
    untold = {
        name: value for name, value in fields.items() if not names(shown[name], value, fields)
    }
    assert untold == {}
