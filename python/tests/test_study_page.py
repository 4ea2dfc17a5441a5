"""The plans that the page on studies shows are plans."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from burstlab.studies import plan as plans

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/study.md").read_text()


PATH = """
[edge]
assembly = "timer"
timer = "7 ms"
[loss.data]
process = "bernoulli"
probability = 0.01
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "path.toml").write_text(PATH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", range(len(blocks("toml"))))
def test_the_plans_are_plans(here, number):
    document: dict[str, Any] = {"scenario": "path.toml"}
    document.update(tomllib.loads(blocks("toml")[number]))
    if "precision" in document:
        document["metrics"] = document["precision"]["metrics"]
    found = plans.read(document)
    assert plans.read(found.to_document()).to_document() == found.to_document()
    for point in range(0, len(found.points), 7):
        found.scenario(point, found.names[0])
