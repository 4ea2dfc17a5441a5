"""Pages whose runs need a kernel say what the runs give, where one is built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.live import connections, kernels, live
from burstlab.live.times import own_times

ROOT = Path(__file__).parents[2]
HOME = os.environ.get(kernels.VARIABLE) or Path.home() / ".cache" / "burstlab" / "kernels"
BUILT = [image for image in sorted(Path(HOME).glob("*/linux")) if not kernels.lacks(image)]
needs_kernel = pytest.mark.skipif(not BUILT, reason="no kernel was built: burstlab kernel build")
PROGRAM = ROOT / "stacks/target/release/quinn-bulk"


def _knows_quinn() -> bool:
    try:
        bl.resolve({"flows": [{"stack": "quinn"}]})
    except bl.ScenarioError:
        return False
    return True


@needs_kernel
@pytest.mark.skipif(not PROGRAM.is_file(), reason="no program: make quinn-bulk")
@pytest.mark.skipif(not _knows_quinn(), reason="this engine does not know quinn: make stacks")
def test_the_page_of_a_quic_program_says_what_comes_out(tmp_path):
    page = (ROOT / "docs/live.md").read_text(encoding="utf-8")
    page = page.split("\n## A QUIC program in the kernel")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if " ± " in line]
    for place, (loss, words) in enumerate((("1 %", []), ("5 %", ["0.05"]))):
        command = [sys.executable, "examples/live/quinn.py", "6", str(tmp_path), *words]
        environment = os.environ | {kernels.VARIABLE: str(HOME)}
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
        )
        means = re.findall(r"kernel: (.+?) \(n = 6\)  .+?value: (.+?) \(n = 6\)", done.stdout)
        assert [tuple(row[1 + 2 * place : 3 + 2 * place]) for row in rows] == means
        apart = done.stdout.split("apart in each seed: ")[1].splitlines()[0].split(", ")
        most = max(abs(float(one)) for one in apart)
        assert f"at most {most:.1f} Mb/s apart with {loss}" in " ".join(page.split())


def _scenario() -> dict[str, object]:
    """One host sends and is done; the other goes on until the run ends 4 s later."""
    bulk = [sys.executable, "-m", "burstlab.live.bulk"]
    later = "import subprocess, sys, time; subprocess.run(sys.argv[1:], check=True); time.sleep(4)"
    return {
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        "live": [
            {"address": "10.9.0.1", "command": [*bulk, "send", "10.9.0.2", "5001", "300000"]},
            {
                "address": "10.9.0.2",
                "command": [sys.executable, "-c", later, *bulk, "receive", "5001"],
            },
        ],
        "run": {"duration": "20 s"},
    }


@needs_kernel
def test_goodput_of_a_live_flow_is_over_its_own_time(monkeypatch, tmp_path):
    monkeypatch.setenv(kernels.VARIABLE, str(HOME))
    done = live(_scenario(), out=tmp_path / "out", trace="packets")
    (flow,) = done.result.summary["flows"]
    packets = done.result.packets.to_pylist()
    first = min(row["sent_ps"] for row in packets)
    full = [row for row in packets if row["kind"] == "data" and row["size_bytes"] > 100]
    own_s = (max(row["delivered_ps"] for row in full) - first) / 1e12
    assert flow["goodput_bps"] == pytest.approx(8 * flow["bytes_in_order"] / own_s, rel=1e-9)
    assert own_s < 1 < 4 < done.result.summary["simulated_s"]
    assert flow["completed_s"] == max(one["ended_s"] for one in done.outcome["programs"])
    table = connections(done.result)
    assert table.to_pylist() == connections(tmp_path / "out").to_pylist()
    assert {"t_ns", "cwnd", "srtt"} <= set(table.columns)
    assert {row["event"] for row in table.to_pylist()} == {"sent", "ack"}


def _own(programs, carried, warmup="0 s"):
    flow = {"variant": "live", "label": "a - b", "goodput_bps": 8e6, "throughput_bps": 9e6}
    summary = {"simulated_s": 10.0, "flows": [{"variant": "sack"}, flow | {"completed_s": None}]}
    resolved = {"run": {"warmup": warmup}}
    return own_times(summary, resolved, {"programs": programs}, [carried])["flows"][1]


def test_own_times_are_those_of_the_flow_and_of_its_programs():
    def program(address: str, ended_s: float = 3.0, **more: Any) -> dict[str, Any]:
        usual = {"address": address, "server": False, "status": 0, "stopped": False}
        return usual | {"ended_s": ended_s} | more

    both = [program("a"), program("b", 4.0)]
    flow = _own(both, [1 * 10**12, 5 * 10**12])
    assert (flow["goodput_bps"], flow["throughput_bps"]) == (2e7, 2.25e7)
    assert flow["completed_s"] == 4.0
    # In a warm-up nothing is measured; a flow without data has no time of its own.
    assert _own(both, [1 * 10**12, 5 * 10**12], "3 s")["goodput_bps"] == 8e6 * 7 / 2
    assert _own(both, [None, None])["goodput_bps"] == 8e6
    # A server is not waited for; who was stopped or failed has completed nothing.
    assert _own([program("a"), program("b", server=True)], [0, 1])["completed_s"] == 3.0
    others: list[dict[str, Any]] = [{"stopped": True}, {"status": 1}, {"status": None}]
    for more in others:
        assert _own([program("a"), program("b", **more)], [0, 1])["completed_s"] is None


def test_connections_are_refused_where_there_are_none(tmp_path):
    with pytest.raises(bl.InputError, match="there is no such file"):
        connections(tmp_path)
