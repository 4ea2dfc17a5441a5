"""The numbers of docs/errata.md are those that the code gives."""

import re
from pathlib import Path

import numpy as np
import pytest

from burstlab.analytic import yu2004

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
CALLS = re.findall(r"`(\w+\([^`]*\))`\s+=\s+(\d[\d.]*\d|[a-z]+)", PAGE)
COUNTS = ("paper", "half", "full")


def row(label, part=PAGE):
    """Cells of the row of the page that begins with this label."""
    found = re.findall(rf"^\| {re.escape(label)} \| (.*) \|$", part, flags=re.MULTILINE)
    assert len(found) == 1, label
    return [float(cell) for cell in found[0].split(" | ")]


def simulate(losses, p, assembly_s, period=None):
    return yu2004.round_level(
        p,
        10,
        seed=2004,
        losses=losses,
        assembly_s=assembly_s,
        period=period,
        replications=200 if losses == "random" else 20,
    )


def test_the_page_has_evidence_for_every_equation():
    assert len(CALLS) >= 25
    called = {call.split("(")[0] for call, _ in CALLS}
    assert called <= set(yu2004.__all__) and len(called) >= 10


@pytest.mark.parametrize(("call", "number"), CALLS)
def test_calls(call, number):
    value = eval(call, {name: getattr(yu2004, name) for name in yu2004.__all__})
    if number.isalpha():
        assert value == number
    else:
        decimals = len(number.partition(".")[2])
        assert f"{value:.{decimals}f}" == number


@pytest.mark.parametrize("window", [10, 20, 40])
def test_counts_of_slow_start(window):
    p = np.array([0.01, 10**-1.5, 0.1])
    simulated, _ = yu2004.round_level(
        p,
        window,
        seed=2004,
        losses="even",
        variants=("reno", "ble"),
        rounds=1000,
        warmup_rounds=400,
        replications=20,
    ).gain("ble")
    assert row(f"{window}, simulated") == pytest.approx(simulated, abs=0.00051)
    for count in COUNTS:
        gain = yu2004.gain_ble(p, window, rounds="delivered", slow_start=count)
        assert row(f"{window}, {count}") == pytest.approx(gain, abs=0.00051)


@pytest.mark.parametrize("table", ["III", "IV"])
def test_simulated_rows(table):
    part = PAGE[PAGE.index(f"| Table {table} (") :].split("\n\n")[0]
    p = 10.0 ** np.array([-3, -2.5, -2, -1.5, -1]) if table == "III" else 0.1
    assembly_s = 0.04 if table == "III" else np.array([0.01, 0.02, 0.04, 0.06, 0.08, 0.1])
    random = simulate("random", p, assembly_s)
    rows = {
        "BNAK, random, simulated": random.gain("bnak"),
        "BLE, random, simulated": random.gain("ble"),
        "BLE, even, simulated": simulate("even", p, assembly_s).gain("ble"),
        "BLE, even, simulated, one in 1/p + 1": simulate(
            "even", p, assembly_s, 1 / np.asarray(p) + 1
        ).gain("ble"),
        "BLE, batch, simulated": simulate("batch", p, assembly_s).gain("ble"),
    }
    for label, (mean, half_width) in rows.items():
        assert row(label, part) == pytest.approx(mean, abs=0.0051), label
        assert (half_width < 0.005).all()
