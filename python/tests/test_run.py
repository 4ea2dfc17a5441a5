"""The result of a run: contracts, determinism, conservation, causality."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab.loading import read_toml

TRACES = ("packets", "bursts", "cwnd", "ledger")


def test_the_json_of_a_run(burstlab, small_file):
    answer = burstlab("run", small_file, "--json")
    document = answer.json()
    assert answer.status == 0
    assert document["seed"] == 5
    for name in ("burstlab", "fingerprint", "simulated_s", "wall_s", "counters", "flows"):
        assert name in document
    (flow,) = document["flows"]
    for name in (
        "id",
        "variant",
        "goodput_bps",
        "throughput_bps",
        "packets_sent",
        "packets_delivered",
        "retransmissions",
        "timeouts",
        "fast_retransmits",
    ):
        assert name in flow
    assert flow["variant"] == "sack"
    # 1 Mb/s of access bounds it; half of that would be nonsense at this loss rate.
    assert 2e5 < flow["goodput_bps"] < 1e6


def test_the_json_of_replications(burstlab, small_file):
    document = burstlab("run", small_file, "--replications", 4, "--json").json()
    assert [one["replication"] for one in document["replications"]] == [0, 1, 2, 3]
    goodputs = [one["flows"][0]["goodput_bps"] for one in document["replications"]]
    assert len(set(goodputs)) > 1
    estimate = document["summary"]["goodput_bps"]
    assert set(estimate) == {"mean", "ci95", "n"}
    assert estimate["mean"] == pytest.approx(np.mean(goodputs))
    assert estimate["n"] == 4


def test_a_run_is_written_and_read_back(burstlab, small_file, tmp_path):
    out = tmp_path / "out"
    answer = burstlab(
        "run",
        small_file,
        "--trace",
        "packets,bursts,ledger",
        "--trace",
        "cwnd",
        "--out",
        out,
        "--replications",
        2,
    )
    assert answer.status == 0
    names = {path.name for path in out.iterdir()}
    assert names == {
        "scenario.toml",
        "summary.json",
        "flows.parquet",
        "packets.parquet",
        "packets_sack.parquet",
        "bursts.parquet",
        "cwnd.parquet",
        "ledger.parquet",
        "ledger_losses.parquet",
    }
    result = bl.read(out)
    again = bl.run(read_toml(out / "scenario.toml"), trace=TRACES)
    assert result.fingerprint == again.fingerprint
    for name in ("flows", *TRACES):
        ours, theirs = again.table(name).to_arrow(), result.table(name).to_arrow()
        assert ours.column_names == theirs.column_names
        assert ours.to_pylist() == theirs.to_pylist()
    assert json.loads((out / "summary.json").read_text())["fingerprint"] == again.fingerprint


def test_the_resolved_scenario_is_resolved(small):
    resolved = bl.resolve(small)
    assert bl.resolve(resolved) == resolved
    assert bl.run(small).fingerprint == bl.run(resolved).fingerprint
    assert resolved["tcp"]["rto_min"] == "1 s"


def test_the_same_numbers_again_and_for_any_number_of_workers(small):
    runs = [bl.run(small, replications=6, trace=TRACES, jobs=jobs) for jobs in (1, 1, 2, 5)]
    for other in runs[1:]:
        assert other.fingerprint == runs[0].fingerprint
        assert other.estimates() == runs[0].estimates()
        for name in ("flows", *TRACES):
            assert other.table(name).to_arrow().equals(runs[0].table(name).to_arrow())
    assert bl.run(small, seed=6).fingerprint != bl.run(small, seed=5).fingerprint


def test_common_random_numbers(small):
    """The same bursts die, whatever the sender does about it."""
    lost = []
    for variant in ("reno", "sack"):
        small["tcp"]["variant"] = variant
        bursts = bl.run(small, trace="bursts").bursts.where(direction="data")
        common = bursts["burst"] <= 150
        lost.append(set(bursts["burst"][common & (bursts["fate"] == "lost")].tolist()))
    assert lost[0] == lost[1]
    assert len(lost[0]) >= 3


def test_conversions(small):
    packets = bl.run(small, trace="packets").packets
    assert pa.table(packets).num_rows == len(packets)
    assert "<table>" in packets.to_html(rows=3)
    pytest.importorskip("polars")
    assert packets.to_polars().height == len(packets)
    pytest.importorskip("pandas")
    frame = packets.to_pandas()
    assert str(frame["acked_ps"].dtype) == "UInt64"
    assert np.asarray(frame["acked_ps"].isna()).any()


@pytest.mark.parametrize(
    "sender",
    [
        {"profile": "rfc"},
        {"variant": "linux", "window_law": "cubic"},
        {"variant": "linux", "window_law": "vegas"},
    ],
)
def test_the_mean_round_trip_is_that_of_the_trace(small, sender):
    small["run"] = {"duration": "30 s", "warmup": "4 s", "seed": 5}
    small["tcp"] = sender
    result = bl.run(small, trace="cwnd")
    (flow,) = result.replications[0].summary["flows"]
    cwnd = result.cwnd.to_arrow()
    samples = result.cwnd.seconds("sample_ps")
    measured = ~np.isnan(samples) & (result.cwnd.seconds("t_ps") >= 4.0)
    assert flow["round_trips"] == measured.sum() > 10
    assert flow["rtt_s"] == pytest.approx(samples[measured].mean(), rel=1e-12)
    assert cwnd.num_rows > measured.sum()


def test_what_was_not_recorded_is_told(small):
    with pytest.raises(bl.InputError, match="trace"):
        _ = bl.run(small).packets


def test_an_api_error_carries_its_parts(small):
    small["tcp"]["windw"] = 3
    with pytest.raises(bl.ScenarioError) as caught:
        bl.run(small)
    assert caught.value.path == "tcp.windw"
    assert "window" in caught.value.fix


scenarios = st.fixed_dictionaries(
    {
        "network": st.fixed_dictionaries({"core_nodes": st.integers(1, 4)}),
        "access": st.sampled_from(
            [
                {"rate": "1 Mb/s"},
                {"rate": "8 Mb/s", "queue": 10},
                {"rate": "3 Mb/s", "shared": True},
            ]
        ),
        "edge": st.sampled_from(
            [
                {},
                {"assembly": "timer", "timer": "40 ms"},
                {"assembly": "size", "size": "3 KB"},
                {
                    "assembly": "hybrid",
                    "timer": "20 ms",
                    "size": "5 KB",
                    "ack": {"assembly": "timer", "timer": "15 ms"},
                },
            ]
        ),
        "core": st.fixed_dictionaries(
            {"forwarding": st.sampled_from(["cut-through", "store-and-forward"])}
        ),
        "tcp": st.fixed_dictionaries(
            {
                "variant": st.sampled_from(["tahoe", "reno", "new-reno", "sack"]),
                "profile": st.sampled_from(["rfc", "ns2", "ns2-2003"]),
                "window": st.integers(1, 60),
            }
        ),
        "flows": st.lists(
            st.fixed_dictionaries(
                {"count": st.integers(1, 3), "start": st.sampled_from(["0 s", "0.3 s"])},
                optional={"bytes": st.sampled_from(["1 KB", "50 KB"])},
            ),
            min_size=1,
            max_size=2,
        ),
        "loss": st.fixed_dictionaries(
            {
                "data": st.sampled_from(
                    [
                        {"process": "none"},
                        {"process": "bernoulli", "probability": 0.1},
                        {"process": "batch", "n": 20, "size": 3},
                        {"process": "gilbert-elliott", "good_to_bad": 0.05, "bad_to_good": 0.4},
                        {"process": "bernoulli", "probability": 0.2, "node": 0},
                    ]
                ),
                "ack": st.sampled_from([{"process": "none"}, {"process": "every", "n": 9}]),
            }
        ),
        "run": st.fixed_dictionaries(
            {
                "duration": st.sampled_from(["0.05 s", "3 s", "7 s"]),
                "seed": st.integers(0, 2**63 - 1),
            }
        ),
    }
)


@settings(max_examples=60, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios)
def test_nothing_is_created_or_vanishes(scenario: dict[str, Any]):
    result = bl.run(scenario, trace=TRACES)
    counters: Any = result.counters
    for unit in ("packets", "acks", "bursts", "ack_bursts"):
        assert counters[f"{unit}_sent"] == (
            counters[f"{unit}_delivered"] + counters[f"{unit}_lost"] + counters[f"{unit}_in_flight"]
        )
    check_tables(result)


def check_tables(result: bl.Result) -> None:
    """The tables agree with the counters, and no effect is before its cause."""
    counters = result.counters
    for kind, unit in (("data", "packets"), ("ack", "acks")):
        rows = result.packets.where(kind=kind)
        assert len(rows) == counters[f"{unit}_sent"]
        for fate in ("delivered", "lost"):
            assert np.sum(rows["fate"] == fate) == counters[f"{unit}_{fate}"]
    for kind, unit in (("data", "bursts"), ("ack", "ack_bursts")):
        rows = result.bursts.where(direction=kind)
        assert len(rows) == counters[f"{unit}_sent"]
        assert np.sum(rows["fate"] == "lost") == counters[f"{unit}_lost"]
    landed = result.bursts.where(direction="data", fate="delivered")
    assert counters["packets_crossed"] == np.sum(landed["packets"])
    assert counters["core_events"] <= counters["events"]
    packets = result.packets
    order = ("sent_ps", "ingress_ps", "departed_ps", "delivered_ps")
    times = np.column_stack([packets.seconds(name) for name in order])
    for column in range(1, len(order)):
        earlier = np.nanmax(times[:, :column], axis=1)
        later = times[:, column]
        assert np.all((later >= earlier) | np.isnan(later))
    delivered = packets["fate"] == "delivered"
    assert np.array_equal(delivered, ~np.isnan(packets.seconds("delivered_ps")))
    acked = packets.seconds("acked_ps")
    assert np.all(np.isnan(acked) | (acked > packets.seconds("sent_ps")))
    bursts = result.bursts
    assert np.all(bursts["opened_ps"] <= bursts["closed_ps"])
    departed = bursts.seconds("departed_ps")
    assert np.all(np.isnan(departed) | (departed >= bursts.seconds("closed_ps")))


def test_bursts_do_not_overlap_on_a_fibre(small):
    small["edge"]["timer"] = "1 ms"
    small["access"] = {"rate": "100 Mb/s"}
    small["network"] = {"link_rate": "110 Mb/s"}
    small["flows"] = [{"count": 3}]
    small["loss"] = {}
    small["run"]["duration"] = "10 s"
    bursts = bl.run(small, trace="bursts").bursts.where(direction="data")
    order = np.argsort(bursts["burst"])
    start = bursts.seconds("departed_ps")[order]
    end = start + bursts["bytes"][order] * 8 / 110e6
    assert len(bursts) > 300
    assert np.all(start[1:] >= end[:-1] - 1e-12)


def test_ctrl_c_keeps_what_is_done(small_file, tmp_path):
    out = tmp_path / "out"
    code = (
        "import _thread, threading\n"
        "from burstlab.cli import main\n"
        "threading.Timer(1.5, _thread.interrupt_main).start()\n"
        f"main(['run', {str(small_file)!r}, '--set', 'run.duration=2000000 s', '--json',\n"
        f"      '--out', {str(out)!r}])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 130, done
    document = json.loads(done.stdout)
    assert document["interrupted"] is True
    assert 0 < document["simulated_s"] < 2e6
    assert json.loads((out / "summary.json").read_text())["interrupted"] is True
    assert "Traceback" not in done.stderr
