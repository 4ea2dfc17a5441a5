"""What the page on studies shows: its plans are read, its commands and its Python run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
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


def test_the_commands_and_the_python_run(here, burstlab):
    bl.study({"scenario": "path.toml", "set": {"edge.timer": "1 ms"}}, out="out/other")
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 4
    for line in lines:
        answer = burstlab(*shlex.split(line)[1:])
        assert answer.status == 0, answer.err
    (program,) = blocks("python")
    exec(compile(program, "study.md", "exec"), {})
    stored = bl.read_study("out/study")
    assert stored.runs.to_arrow() == bl.study("examples/study.toml").runs.to_arrow()
