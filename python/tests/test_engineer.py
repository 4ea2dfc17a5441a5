"""The engineer's task: the size of a fabric and its bottleneck, in three commands."""

from __future__ import annotations

import pyarrow.parquet as pq


def test_how_large_a_fabric_has_to_be_in_three_commands(tmp_path, root, burstlab):
    scenario, out = root / "examples" / "fabric.toml", tmp_path / "fabric"
    ran = burstlab("run", scenario, "--out", out)
    assert ran.status == 0, ran.err
    assert "queries" in ran.out and "slow-down" in ran.out
    for table in ("queues", "ports", "wavelengths", "connections"):
        assert pq.read_metadata(out / f"{table}.parquet").num_rows > 100, table

    drawn = burstlab("plot", out, "load")
    assert drawn.status == 0, drawn.err
    assert (out / "load.svg").stat().st_size > 10_000

    goal = ("--for", "burst loss < 2%", "--over", "network.wavelengths=1..32")
    # As the guide has it, but for fewer and shorter runs.
    briefly = ("--replications", "2", "--most", "4", "--set", "run.duration=30 ms")
    sized = burstlab("size", scenario, *goal, *briefly, "--json").json()
    assert sized["least"] is not None
    assert 1 < sized["least"]["value"] <= 32
    assert sized["least"]["high"] < 0.02
    assert sized["below"]["value"] == sized["least"]["value"] - 1
    assert sized["binding"][0]["part"] in ("wavelengths", "ingress port")
