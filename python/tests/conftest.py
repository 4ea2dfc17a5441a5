"""Fixtures that several tests need: a small scenario, and the command line in this process."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium, quiet_tab
from hypothesis import settings

from burstlab.cli import main

ROOT = Path(__file__).parents[2]

# The same cases in every run of the tests, so that a failure repeats; `make fuzz` draws others.
# No test fails because a machine is slow.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("random", database=None, print_blob=True, deadline=None)
settings.load_profile("random" if "BURSTLAB_FUZZ" in os.environ else "fixed")


def pytest_configure() -> None:
    """Hear Ctrl-C, which a shell ignores for jobs in its background, and what `nohup` ignores.

    The commands that tests start inherit this, and would never end at such a signal.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the file with the longest test first, so that other workers do the rest meanwhile."""
    longest = {item.path for item in items if item.get_closest_marker("longest")}
    items.sort(key=lambda item: item.path not in longest)


@dataclass
class Answer:
    """The output of a command, and its exit status."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one document on standard output."""
        return json.loads(self.out)


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory):
    """Keep what is only kept for speed out of the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def burstlab(capsys):
    """Run a command in this process."""

    def call(*tokens: object) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(token) for token in tokens])
        printed = capsys.readouterr()
        return Answer(left.value.code or 0, printed.out, printed.err)  # pyright: ignore

    return call


@pytest.fixture(scope="module")
def browser():
    """Run a Chromium for the tests of one file."""
    with chromium() as running:
        yield running


@pytest.fixture
def tab(browser):
    """Open a tab that has to stay quiet."""
    with quiet_tab(browser) as found:
        yield found


@pytest.fixture
def small() -> dict[str, Any]:
    """A short run with random losses."""
    return {
        "edge": {"assembly": "timer", "timer": "40 ms"},
        "tcp": {"variant": "sack", "window": 40},
        "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
        "run": {"duration": "20 s", "seed": 5},
    }


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(
        """
[edge]
assembly = "timer"
timer = "40 ms"
[tcp]
variant = "sack"
window = 40
[loss.data]
process = "bernoulli"
probability = 0.05
[run]
duration = "20 s"
seed = 5
"""
    )
    return path
