"""Studies on clusters: local ones, started as the page on clusters says."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import burstlab as bl

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/cluster.md").read_text()

PLAN: dict[str, Any] = {
    "scenario": {
        "edge": {"assembly": "timer"},
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "run": {"duration": "600 s"},
    },
    "grid": {"tcp.window": [10, 20, 40, 80, 120], "edge.timer": ["1 ms", "2 ms", "5 ms", "9 ms"]},
    "schemes": {"reno": {"tcp.variant": "reno"}, "sack": {"tcp.variant": "sack"}},
    "replications": 5,
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def content(directory: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(directory.iterdir())
        if path.name != "timing.json"
    }


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with the example's plan, where commands of the page are run."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The output of the example, only on this machine."""
    out = tmp_path_factory.mktemp("example") / "out"
    bl.study(ROOT / "examples/study.toml", out=out)
    return content(out)


def environment(**more: str) -> dict[str, str]:
    where = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": where, **more}


def test_a_worker_that_dies_changes_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    bl.study(PLAN, out=tmp_path / "here")
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill(progress: Any) -> None:
            if progress.done >= 3 and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        found = bl.study(PLAN, out=tmp_path / "there", client=client, progress=kill)
    assert killed
    assert found.done == 20
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_the_python_of_the_page_runs(here, tmp_path, example):
    (program,) = blocks("python")
    stored = program.replace('study.toml", client', 'study.toml", out="out/py", client')
    (here / "program.py").write_text(stored)
    answer = subprocess.run(
        [sys.executable, "program.py"], cwd=here, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    assert "<Study: 6 of 6 points, 3 schemes>" in answer.stdout
    assert content(here / "out/py") == example


def test_the_batch_script_of_the_page_runs(here, example):
    (script,) = blocks("bash")
    (here / "study.sh").write_text(script)
    # Slurm's srun starts the command in each of its tasks; here there are two.
    srun = here / "srun"
    srun.write_text('#!/bin/bash\n"$@" & a=$!\n"$@" & b=$!\ntrap "kill $a $b" TERM\nwait\n')
    srun.chmod(0o755)
    env = environment(SLURM_JOB_ID="7")
    env["PATH"] = f"{here}{os.pathsep}{env['PATH']}"
    answer = subprocess.run(
        ["bash", "study.sh"], cwd=here, env=env, capture_output=True, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "6 of 6 points" in answer.stdout
    assert content(here / "out/study") == example


def test_the_manifests_of_the_page_run(here, example):
    (text,) = blocks("yaml")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    service, *parts = yaml.safe_load_all(text)
    assert service["spec"]["ports"] == [{"port": 8786}]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for part in parts:
            template = part["spec"]["template"]
            if part["kind"] == "Deployment":
                labels = template["metadata"]["labels"]
                assert part["spec"]["selector"]["matchLabels"] == labels
            (container,) = template["spec"]["containers"]
            words = [
                word.replace("study-scheduler", "127.0.0.1").replace("8786", port)
                for word in container["command"]
            ]
            if part["kind"] == "Job":
                answer = subprocess.run(
                    words, cwd=here, env=environment(), capture_output=True, text=True
                )
                assert answer.returncode == 0, answer.stderr
                continue
            for _ in range(part["spec"].get("replicas", 1)):
                started.append(
                    subprocess.Popen(words, cwd=here, env=environment(), stdout=-3, stderr=-3)
                )
                time.sleep(0.5)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()
    assert content(here / "out/study") == example
