"""The numbers of docs/errata.md are those that the code gives."""

import re
from pathlib import Path

import numpy as np
import pytest

from burstlab.analytic import lu_hunter, ramantas, shihada, yu2004

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
SECTIONS = {
    "Yu, Qiao and Liu": yu2004,
    "Shihada, Zhang and Ho": shihada,
    "Lu and Hunter": lu_hunter,
    "Ramantas, Vlachos": ramantas,
}
COUNTS = ("paper", "half", "full")


def section(title):
    """The section of the page about a paper."""
    (found,) = [part for part in PAGE.split("\n## ") if part.startswith(title)]
    return found


def calls(title):
    """Calls that the page makes for a paper, and the numbers that it says they give."""
    pattern = r"`(\w+\([^`]*\))`\s+=\s+(\d(?:[\d.]*\d)?|[a-z]+)"
    return [(SECTIONS[title], *found) for found in re.findall(pattern, section(title))]


CALLS = [call for title in SECTIONS for call in calls(title)]


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


@pytest.mark.parametrize(
    ("title", "count", "functions"),
    [
        ("Yu, Qiao and Liu", 25, 10),
        ("Shihada, Zhang and Ho", 15, 7),
        ("Lu and Hunter", 30, 14),
        ("Ramantas, Vlachos", 30, 11),
    ],
)
def test_the_page_has_evidence_for_every_equation(title, count, functions):
    assert len(calls(title)) >= count
    called = {call.split("(")[0] for _, call, _ in calls(title)}
    assert called <= set(SECTIONS[title].__all__) and len(called) >= functions


@pytest.mark.parametrize(("module", "call", "number"), CALLS)
def test_calls(module, call, number):
    value = eval(call, {name: getattr(module, name) for name in module.__all__})
    if number.isalpha():
        assert str(value) == number
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


def test_throughput_of_vegas():
    p = np.array([0.001, 0.005, 0.01])
    path = (2 * p, 128, 0.1, 0.11, 0.2, p)
    every = shihada.retransmission_throughput(*path, as_printed=True)
    assert row("B_2, (21), (22) and (25) printed") == pytest.approx(every, abs=0.051)
    printed = shihada.retransmission_throughput(*path, as_printed=["(25)"])
    assert row("B_2, (25) printed") == pytest.approx(printed, abs=0.051)
    corrected = shihada.retransmission_throughput(*path)
    assert row("B_2, corrected") == pytest.approx(corrected, abs=0.051)
    simulated = [
        shihada.round_level(
            2 * loss, p=loss, seed=2006, form="retransmission", duration_s=1e6
        ).throughput()[0]
        for loss in p
    ]
    assert row("B_2, simulated") == pytest.approx(simulated, abs=0.051)
    assert (np.round(100 * (1 - printed / corrected)) == [7, 27, 42]).all()


def test_losses_of_flows_out_of_step():
    share, rtt = np.array([0.1, 0.1, 0.4, 0.4]), np.array([0.06, 0.56, 0.06, 0.56])
    path = (10e9, share, rtt)
    printed = lu_hunter.crowd_loss(*path, 10_000, as_printed=True)
    corrected = lu_hunter.crowd_loss(*path, 10_000)
    kept = lu_hunter.crowd_controlled_loss(*path)
    assert row("out of step, printed") == pytest.approx(printed, abs=0.051)
    assert row("out of step, corrected") == pytest.approx(corrected, abs=0.051)
    assert row("out of step, with DLCC") == pytest.approx(kept, abs=0.051)
    assert np.round([(corrected / kept).min(), (corrected / kept).max()], 1).tolist() == [6.6, 27]
    assert np.round([(printed / kept).min(), (printed / kept).max()], 1).tolist() == [6.8, 37.5]
