"""What a study costs beside its runs, and what a second worker of a cluster brings.

    .venv/bin/python benches/study.py            # 1,000 points of ten runs, long and short ones
    .venv/bin/python benches/study.py --cluster  # 200 points by one and by two Dask workers

The share outside the engine is of processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import burstlab as bl

PATH = {
    "edge": {"assembly": "timer"},
    "tcp": {"variant": "sack"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
}


def plan(points: int, duration: str) -> dict[str, Any]:
    return {
        "scenario": {**PATH, "run": {"duration": duration}},
        "grid": {
            "tcp.window": list(range(10, 10 + points // 10)),
            "edge.timer": [f"{timer} ms" for timer in range(1, 11)],
        },
        "replications": 10,
    }


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def alone() -> None:
    for duration in ("200 s", "20 s"):
        with tempfile.TemporaryDirectory() as out:
            started, cpu = time.perf_counter(), time.process_time()
            bl.study(plan(1000, duration), out=out)
            wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
            (session,) = json.loads((Path(out) / "timing.json").read_text())["sessions"]
            size = sum(file.stat().st_size for file in Path(out).iterdir())
        engine_s = session["engine_cpu_s"]
        print(
            f"1,000 points, 10 runs of {duration}: {wall_s:.1f} s, {cpu_s:.1f} s of processor, "
            f"{1 - engine_s / cpu_s:.1%} of it outside the engine ({engine_s / 1e4 * 1e3:.2f} ms a "
            f"run), {size / 1e6:.1f} MB; {load()}"
        )


def cluster() -> None:
    from distributed import Client, LocalCluster

    took: dict[int, float] = {}
    for workers in (1, 2, 1, 2):
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as local,
            Client(local) as client,
            tempfile.TemporaryDirectory() as out,
        ):
            # The first task of a worker imports what it needs.
            client.run(lambda: __import__("burstlab.studies"))
            started = time.perf_counter()
            bl.study(plan(200, "1000 s"), out=out, client=client)
            wall_s = time.perf_counter() - started
        took[workers] = min(wall_s, took.get(workers, wall_s))
        print(f"200 points, {workers} worker(s): {wall_s:.1f} s; {load()}", flush=True)
    print(f"two workers are {took[1] / took[2]:.2f} times one")


if __name__ == "__main__":
    cluster() if "--cluster" in sys.argv else alone()
