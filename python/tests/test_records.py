"""The recorded full runs are those of this engine: what takes seconds is run anew."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import burstlab
from burstlab.reproduce.engine import Options, reproduce
from burstlab.reproduce.paper import papers, select

RECORDED = {
    one["target"]: one
    for paper in papers()
    for one in (paper.recorded or {"targets": ()})["targets"]
}


def _short() -> tuple[str, ...]:
    path = Path(__file__).parents[2] / "docs" / "full_runs.py"
    spec = importlib.util.spec_from_file_location("full_runs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SHORT


@pytest.mark.parametrize("name", _short())
def test_a_recorded_full_run_has_the_numbers_of_this_engine(name):
    ((paper, target),) = select([name])
    record = RECORDED[name]
    found = reproduce(paper, target, Options("full", jobs=1)).to_json()
    again = "python docs/full_runs.py --rerun"
    assert [row["label"] for row in found["rows"]] == [row["label"] for row in record["rows"]], (
        again
    )
    for new, old in zip(found["rows"], record["rows"], strict=True):
        assert new["measured"] == pytest.approx(old["measured"], rel=1e-6, nan_ok=True), again
        assert new["n"] == old["n"], again
    verdicts = {claim["id"]: claim["verdict"] for claim in record["claims"]}
    assert {claim["id"]: claim["verdict"] for claim in found["claims"]} == verdicts, again
    if record["burstlab"] == burstlab.__version__:
        assert found["fingerprint"] == record["fingerprint"], again


def test_every_record_names_its_version_and_effort():
    for name, one in RECORDED.items():
        assert one["burstlab"], name
        assert one["effort"] == "full", name
