"""The names of the package at its top, and that importing them costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import burstlab as bl
from burstlab import scenario

NAMES: list[str] = getattr(bl, "__all__")  # noqa: B009  a type checker reads the names themselves


def test_every_name_is_there_and_is_told():
    assert len(NAMES) > 40 and len(set(NAMES)) == len(NAMES)
    assert all(getattr(bl, name) is not None and hasattr(bl, name) for name in NAMES)
    assert set(NAMES) <= set(dir(bl))


def test_a_name_is_that_of_its_module():
    assert bl.read_study is __import__("burstlab.studies").studies.read
    assert bl.statistics is __import__("burstlab.statistics").statistics
    assert bl.Scenario is scenario.Scenario


def test_what_is_not_there_is_missed_as_in_any_module():
    assert not hasattr(bl, "Nothing")
    with pytest.raises(AttributeError, match="module 'burstlab' has no attribute 'Nothing'"):
        getattr(bl, "Nothing")  # noqa: B009
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from burstlab import Nothing")


def test_a_star_brings_all_of_them():
    found: dict[str, object] = {}
    exec("from burstlab import *", found)
    assert set(NAMES) == set(found) - {"__builtins__"}


def test_every_table_of_a_scenario_is_at_the_top():
    classes = {name for name in scenario.__all__ if isinstance(getattr(scenario, name), type)}
    assert classes <= set(NAMES)


def test_a_scenario_of_classes_is_the_one_of_its_file(small):
    built = bl.Scenario(
        edge=bl.Edge(assembly="timer", timer="40 ms"),
        tcp=bl.Tcp(variant="sack", window=40),
        loss=bl.Loss(data=bl.LossRule(process="bernoulli", probability=0.05)),
        run=bl.Run(duration="20 s", seed=5),
    )
    assert bl.resolve(built) == bl.resolve(small)
    assert bl.run(built).fingerprint == bl.run(small).fingerprint


def test_help_is_answered_without_the_heavy_packages():
    code = (
        "import sys\n"
        "from burstlab.cli import main\n"
        "try:\n"
        "    main(['run', '--help'])\n"
        "except SystemExit:\n"
        "    heavy = {'numpy', 'pyarrow', 'scipy', 'altair', 'pandas'} & set(sys.modules)\n"
        "    sys.exit(', '.join(heavy) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
