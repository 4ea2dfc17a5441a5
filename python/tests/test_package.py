"""What the package offers at its top, and that it costs nothing to ask."""

from __future__ import annotations

import subprocess
import sys

import burstlab as bl
from burstlab import scenario


def test_every_name_is_there():
    for name in bl.__all__:
        assert getattr(bl, name) is not None


def test_every_table_of_a_scenario_is_at_the_top():
    classes = {name for name in scenario.__all__ if isinstance(getattr(scenario, name), type)}
    assert classes <= set(bl.__all__)


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
