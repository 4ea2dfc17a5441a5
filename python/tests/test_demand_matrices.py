"""Matrices of a demand from files: every format gives the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.demand_matrices import read
from burstlab.errors import ScenarioError

WEIGHTS = [
    {"from": "A", "to": "B", "weight": 195.0},
    {"from": "B", "to": "A", "weight": 5.0},
]

SNDLIB = """?SNDlib native format; type: network; version: 1.0
NODES ( A ( 0 0 ) B ( 1 0 ) )
LINKS ( L1 ( A B ) 0 0 0 0 ( ) )
DEMANDS (
  D1 ( A B ) 1 195.00 UNLIMITED
  D2 ( B A ) 1 5.00 UNLIMITED
)
"""

XML = """<network xmlns="http://sndlib.zib.de/network"><demands>
<demand id="1"><source>A</source><target>B</target><demandValue>195.0</demandValue></demand>
<demand id="2"><source>B</source><target>A</target><demandValue>5</demandValue></demand>
</demands></network>"""

TOTEM = """<TrafficMatrixFile><IntraTM ASID="20965">
<src id="A"><dst id="B">195.0</dst><dst id="A">7</dst></src>
<src id="B"><dst id="A">5.0</dst></src></IntraTM></TrafficMatrixFile>"""

REPETITA = "DEMANDS 2\nlabel src dest bw\nd0 0 1 195\nd1 1 0 5\n"

FILES = {
    "native.txt": SNDLIB,
    "sndlib.xml": XML,
    "totem.xml": TOTEM,
    "net.0000.demands": REPETITA,
    "three.csv": "from,to,weight\nA,B,195\nB,A,5\n",
    "bare.csv": "A,B,100\nA,B,95\nB,A,5\nB,B,3\n",
    "square.txt": "0 195\n5 0\n",
    "named.csv": "A,B\n0,195\n5,0\n",
    "both.csv": ",A,B\nA,0,195\nB,5,0\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_says_the_same(tmp_path: Path, name: str):
    (tmp_path / name).write_text(FILES[name])
    assert read(tmp_path / name, ["A", "B"]) == WEIGHTS


def test_a_scenario_takes_in_its_matrix(tmp_path: Path):
    (tmp_path / "net.txt").write_text(SNDLIB)
    file = str(tmp_path / "net.txt")
    entry: dict[str, Any] = {"destination": "matrix", "file": file, "size": {"mean": "9 KB"}}
    scenario = {"network": {"file": file}, "demand": [entry]}
    (demand,) = bl.resolve(scenario)["demand"]
    assert demand["matrix"] == WEIGHTS
    assert "file" not in demand
    entry["matrix"] = WEIGHTS
    with pytest.raises(ScenarioError, match="matrix is given too"):
        bl.resolve(scenario)


MISTAKES = [
    ("a.yaml", "", "the ending names no format"),
    ("a.csv", "", "there are no demands"),
    ("a.csv", "A,B,-1\n", "negative"),
    ("a.csv", "A,B,1\nA,B,much\n", "no number"),
    ("a.csv", "A,B,1\nA,B\n", "2 columns where 3"),
    ("a.csv", "from,to,weight\n", "there are no demands"),
    ("a.csv", "0,1\n2,0\n3,4\n", "3 rows"),
    ("a.csv", "0,1\n2\n", "1 columns, and 2 rows"),
    ("a.demands", "DEMANDS 1\nd0 0 7 1\n", "no such node"),
    ("a.demands", "d0 0 7 1\n", "no file of REPETITA"),
    ("a.xml", "<a/>", "holds no demands"),
    ("a.xml", "<a>", "not valid XML"),
    ("a.xml", "<demand><source>A</source></demand>", "<target> is missing"),
]


@pytest.mark.parametrize(("name", "text", "says"), MISTAKES)
def test_mistakes_are_named(tmp_path: Path, name: str, text: str, says: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(ScenarioError) as error:
        read(tmp_path / name, ["A", "B"])
    assert says in str(error.value)
    assert str(tmp_path / name) in error.value.path
    assert error.value.fix
