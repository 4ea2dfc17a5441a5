"""What a study costs beside its runs, and what a second worker of a cluster brings.

    .venv/bin/python benches/study.py            # 1,000 points of ten runs, long and short ones
    .venv/bin/python benches/study.py --cluster  # 200 points by one and by two Dask workers
    .venv/bin/python benches/study.py --kill     # 50 studies killed at random, and resumed

The share outside the engine is of processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

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
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as local,
            Client(local) as client,
            tempfile.TemporaryDirectory() as out,
        ):
            # The first task of a worker imports what it needs.
            client.run(lambda: __import__("burstlab.studies"))
            started = time.perf_counter()
            bl.study(plan(200, "3000 s"), out=out, client=client)
            wall_s = time.perf_counter() - started
        took[workers] = min(wall_s, took.get(workers, wall_s))
        print(f"200 points, {workers} worker(s): {wall_s:.1f} s; {load()}", flush=True)
    print(f"two workers are {took[1] / took[2]:.2f} times one")


KILLS = 50

#: There when a point is stored.
STORED = "points/[0-9]*.parquet"


def kill() -> None:
    """End a study of 20 points of some 0.2 s with SIGKILL, evenly over the time that it takes."""
    import tomli_w

    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        given = plan(20, "1000 s") | {"schemes": {"reno": {"tcp.variant": "reno"}, "sack": {}}}
        (root / "plan.toml").write_text(tomli_w.dumps(given))
        _, whole_s = begun(root, "whole", STORED, None)
        whole = content(root / "whole")
        print(f"undisturbed: {whole_s:.1f} s from the first point to the end; {load()}")
        moments = np.random.default_rng(50).uniform(0.0, whole_s, KILLS)
        met = Counter[str]()
        for number, moment_s in enumerate(moments):
            out = f"killed-{number}"
            # One in five is counted from the first file, before there is a point.
            begun(root, out, STORED if number % 5 else "study.json", moment_s)
            where, points = state(root / out, 20)
            met[where] += 1
            again = subprocess.run(
                study_command(root, out, "--resume"), capture_output=True, text=True
            )
            same = again.returncode == 0 and content(root / out) == whole
            told = "the same bytes" if same else f"{again.stderr}NOT THE SAME"
            place = f"killed after {moment_s:5.2f} s, {where}, {points} points stored"
            print(f"{number:2} {place}: {told}", flush=True)
            met["the same bytes"] += same
            shutil.rmtree(root / out)
        print(", ".join(f"{name}: {count}" for name, count in sorted(met.items())))
        if met["the same bytes"] != KILLS:
            sys.exit(1)


def begun(root: Path, out: str, first: str, most_s: float | None) -> tuple[int, float]:
    """Start a study, and kill it so long after a first file; return its end, and after how long.

    To start Python takes as long as a third of the study, and is no part of it.
    """
    process = subprocess.Popen(study_command(root, out), stdout=-3, stderr=-3)
    while not any((root / out).glob(first)) and process.poll() is None:
        time.sleep(0.005)
    started = time.perf_counter()
    try:
        process.wait(most_s)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait(), time.perf_counter() - started


def study_command(root: Path, out: str, *more: str) -> list[str]:
    words = ["study", str(root / "plan.toml"), "--out", str(root / out), *more]
    return [sys.executable, "-m", "burstlab", *words]


def state(out: Path, points: int) -> tuple[str, int]:
    """Tell what a kill left: whether nothing, some points, or all were stored."""
    if (out / "report.html").exists():
        return "when all was written", points
    if not (out / "study.json").exists():
        return "before the first run", 0
    done = bl.read_study(out).done
    if done == points:
        return "while it was finished", done
    return ("with some points" if done else "with no point yet"), done


def content(directory: Path) -> dict[str, bytes]:
    """Everything that a study leaves, but how long it took."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in files
        if path.name != "timing.json"
    }


if __name__ == "__main__":
    if "--kill" in sys.argv:
        kill()
    elif "--cluster" in sys.argv:
        cluster()
    else:
        alone()
