"""Standard streams that are closed, of another encoding, or gone; text that nobody can write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "one_burst.toml"


def run(shell: str, where: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = shell.replace("burstlab ", f"{sys.executable} -m burstlab ")
    env = {**os.environ, "EXAMPLE": str(EXAMPLE), **environment}
    return subprocess.run(
        ["bash", "-c", command], cwd=where, env=env, capture_output=True, timeout=120, check=False
    )


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_no_result(tmp_path, closed):
    done = run(f'burstlab run "$EXAMPLE" --out out {closed}', tmp_path)
    assert done.returncode == 0, done
    assert {one.name for one in (tmp_path / "out").iterdir()} >= {"summary.json", "flows.parquet"}
    # Printed text lands in no file that was opened meanwhile.
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["seed"] == 1
    assert (b"fingerprint" in done.stdout) == (closed == "2>&-")


def test_a_mistake_is_one_with_closed_streams_too(tmp_path):
    assert run("burstlab run nothing.toml 2>&-", tmp_path).returncode == 2
    assert run("burstlab run nothing.toml <&- >&- 2>&-", tmp_path).returncode == 2


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_what_an_encoding_lacks_looks_alike(tmp_path, environment):
    done = run('burstlab run "$EXAMPLE" --replications 2', tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"------" in done.stdout and b"seed 1 " in done.stdout
    assert b"?" not in done.stdout
    label = 'burstlab run "$EXAMPLE" --set \'flows=[{label="\\u00e9\\u4e2d"}]\''
    done = run(label, tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    assert b"\\u4e2d" in done.stdout


def test_text_that_the_locale_cannot_write_is_a_mistake(tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    (tmp_path / "named.toml").write_text(
        '[network]\ntopology = "custom"\nfile = "né.toml"\n', encoding="utf-8"
    )
    for command in (
        "burstlab run named.toml",
        'burstlab run "$EXAMPLE" --out out && burstlab results out --sql "select \'é\'"',
    ):
        done = run(command, tmp_path, **plain)
        assert done.returncode == 2, done
        assert b"Traceback" not in done.stderr and b"error: " in done.stderr
        assert b"fix: " in done.stderr, done.stderr
    # The fix.
    done = run("burstlab results out --sql \"select 'é'\"", tmp_path, LC_ALL="C", PYTHONUTF8="1")
    assert done.returncode == 0


def test_a_class_that_prints_is_no_part_of_the_answer(tmp_path, burstlab):
    (tmp_path / "law.py").write_text(
        "import sys\nprint('as it is read')\n"
        "class Talks:\n    def on_ack(self, event):\n        print('an ACK')\n"
        "        sys.stdout.write('and more')\n        return event.cwnd + 1\n"
    )
    (tmp_path / "talks.toml").write_text(
        "[tcp]\nwindow_law = 'python'\ninitial_ssthresh = 2\n"
        "window_law_class = { file = 'law.py', class = 'Talks' }\n[run]\nduration = '3 s'\n"
    )
    for more in ([], ["--replications", "2"], ["--out", "out", "--trace", "packets"]):
        done = run(f"burstlab run talks.toml --json {' '.join(more)}", tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["seed"] == 1
        for words in (b"an ACK", b"and more", b"as it is read"):
            assert words in done.stderr and words not in done.stdout
    answer = burstlab("run", tmp_path / "talks.toml", "--json")
    assert answer.json()["seed"] == 1 and "an ACK" in answer.err
