"""Scenarios drawn from the schema run, hear Ctrl-C, or are refused with a fix."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bounds of memory are Linux's")

if sys.platform == "linux":
    from fuzz_scenarios import Draw, failures, outcome

DATA = Path(__file__).parent / "data" / "hostile"

FIRST, COUNT = 1, 200


@pytest.mark.slow
def test_drawn_scenarios_run_or_are_refused(tmp_path: Path) -> None:
    counts, failed = failures(range(FIRST, FIRST + COUNT), tmp_path, runs_s=0.2)
    assert not failed, "\n".join(failed)
    # Neither all refused, nor none.
    assert counts.get("refused", 0) > COUNT // 10, counts
    assert counts.get("ran", 0) + counts.get("stopped", 0) > COUNT // 4, counts


def test_a_seed_draws_the_same_scenario() -> None:
    assert repr(Draw(7).scenario()) == repr(Draw(7).scenario())
    assert repr(Draw(7).scenario()) != repr(Draw(8).scenario())


@pytest.mark.parametrize("file", sorted(DATA.glob("*.toml")), ids=lambda file: file.stem)
def test_scenarios_that_once_ended_badly(file: Path, tmp_path: Path) -> None:
    expected = file.read_text(encoding="utf-8", errors="replace").splitlines()[1]
    kinds = expected.removeprefix("# It is ").split(" or ")
    # A refused scenario ends by itself, however slow the machine is.
    found = outcome(file, tmp_path, runs_s=30.0 if kinds == ["refused"] else 0.5)
    assert found.fine, f"{found.kind}: {found.told}"
    assert found.kind in kinds, f"{found.kind}: {found.told}"
