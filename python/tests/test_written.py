"""Numbers with intervals as they are written, things that are counted, and fixes of errors."""

from __future__ import annotations

import csv
import math
import re

import pytest
from chromium import needs_chromium

import burstlab as bl
from burstlab.cli.numbers import count, measure, rate, seconds, share, spread
from burstlab.errors import for_the_command_line
from burstlab.measures.written import number, with_interval
from burstlab.plot import write
from burstlab.plot.study import figures, lowest, ratio_ticks
from burstlab.printable import several


@pytest.mark.parametrize(
    ("mean", "half", "unit", "least", "text"),
    [
        (278.51, 28.3, "Mb/s", 0.0, "279 ± 28 Mb/s"),
        (1.23e6, 6e4, "b/s", 0.0, "1,230,000 ± 60,000 b/s"),
        (1.3949, 0.0171, "Mb/s", 0.0, "1.395 ± 0.017 Mb/s"),
        (0.5, 0.7, "s", 0.0, "0.50 (0.00 to 1.20) s"),
        (0.5, 0.7, "s", -math.inf, "0.50 ± 0.70 s"),
        (763.0, 1537.0, "", 0.0, "763 (0 to 2,300)"),
        (12.0, 0.0, "", 0.0, "12 ± 0"),
        (3.25, None, "s", 0.0, "3.25 s"),
        (2.8e-6, 4.1e-7, "", 0.0, "2.8e-06 ± 4.1e-07"),
    ],
)
def test_a_mean_and_its_interval_have_one_unit_and_alike_digits(mean, half, unit, least, text):
    assert with_interval(mean, half, unit, least=least) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (7.0, "7"), (1234567.0, "1,234,567"), (0.12345, "0.1235"), (2.5, "2.5")],
)
def test_a_number_is_written_without_an_exponent(value, text):
    assert number(value) == text


def test_a_measure_of_several_runs_has_one_unit_and_none_below_zero():
    assert measure([1.0e6, 1.4e6, 1.2e6], rate) == "1.20 ± 0.50 Mb/s"
    assert measure([0.001, 0.5], seconds).startswith("250 (0 to ")
    assert measure([0.01, 0.03], share).endswith(" %") and "(0" in measure([0.01, 0.03], share)
    assert measure([4.0, 4.0], count) == "4"
    assert spread(0.0, 0.2, seconds, positive=True) == "0 (0 to 200) ms"


@pytest.mark.parametrize(
    ("values", "write", "old"),
    [
        (2.5e9, rate, "2.5 Gb/s"), (12.0, rate, "12 b/s"), (0.0, rate, "0 b/s"),
        (0.0, seconds, "0 s"), (2e-3, seconds, "2 ms"), (69.2e-12, seconds, "69.2 ps"),
    ],
)  # fmt: skip
def test_a_single_value_is_written_as_before(values, write, old):
    assert write(values) == old


def test_one_is_no_plural():
    assert several(1, "replication") == "1 replication"
    assert several(2, "replication") == "2 replications"
    assert several(1, "is", "are") == "1 is" and several(0, "is", "are") == "0 are"
    assert several(1234, "run") == "1,234 runs"


def test_what_a_run_prints_has_no_plural_of_one(burstlab, small_file, tmp_path):
    text = burstlab("run", small_file).out
    assert "1 replication ·" in text and "(s)" not in text
    plan = tmp_path / "plan.toml"
    plan.write_text(f'scenario = "{small_file}"\nreplications = 1\nmetrics = ["counters.events"]\n')
    text = burstlab("study", plan, "--out", tmp_path / "st").out
    assert "1 of 1 point · 1 run · 1 metric" in text
    assert burstlab("results", tmp_path / "st", "--verify").out.count("0 are damaged") == 1


def test_tables_of_a_study_have_units_and_plain_numbers(burstlab, small_file, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""scenario = "{small_file}"
replications = 3
metrics = ["flows.mean.goodput_bps", "flows.mean.timeouts"]
[grid]
tcp.window = [8, 40]
[schemes]
reno.tcp.variant = "reno"
sack.tcp.variant = "sack"
"""
    )
    text = burstlab("study", plan, "--out", tmp_path / "st").out
    assert re.search(r"[\d.]+ ± [\d.]+ [kM]b/s", text)
    assert not re.search(r"\de[+-]\d", text), "no exponents"
    page = (tmp_path / "st" / "report.html").read_text()
    cells = re.findall(r'<td class="n">([^<]* [kM]b/s)</td>', page)
    assert cells and not any(re.search(r"\de[+-]\d", cell) for cell in cells)
    for mean, half in re.findall(r"([\d.,]+) ± ([\d.,]+)", text):
        assert float(mean.replace(",", "")) >= float(half.replace(",", "")), (mean, half)


def test_results_that_are_compared_say_of_how_many_runs(burstlab, small_file, tmp_path):
    for name, window in (("a", 8), ("b", 40)):
        answer = burstlab(
            "run", small_file, "--replications", 5, "--out", tmp_path / name,
            "--set", f"tcp.window={window}", "--set", "loss.data.probability=0.01",
        )  # fmt: skip
        assert answer.status == 0
    text = burstlab("results", tmp_path / "a", tmp_path / "b").out
    heads = next(line for line in text.splitlines() if "p (Holm)" in line).split()
    assert heads[heads.index("difference") + 1] == "n"
    assert re.search(r" [kM]b/s +5 +\S+ +paired", text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("a\n  fix: go (--resume, resume=True), or stay", "a\n  fix: go (--resume), or stay"),
        ("a\n  fix: use --trace cwnd (trace=('cwnd',))", "a\n  fix: use --trace cwnd"),
        ("a\n  fix: run it with --out DIR (out=)", "a\n  fix: run it with --out DIR"),
        ("file (x=1)\n  fix: leave it", "file (x=1)\n  fix: leave it"),
        ("no fix (x=1)", "no fix (x=1)"),
    ],
)  # fmt: skip
def test_a_fix_on_the_command_line_is_no_python(message, text):
    assert for_the_command_line(message) == text


def test_no_command_prints_a_fix_in_python(burstlab, small_file, tmp_path):
    for trace, out in ((None, "bare"), ("packets", "traced")):
        more = ["--trace", trace] if trace else []
        assert burstlab("run", small_file, "--out", tmp_path / out, *more).status == 0
    asked = [
        ("run", small_file, "--out", tmp_path / "bare"),
        ("plot", tmp_path / "bare", "window", "--out", tmp_path / "w.svg"),
        ("export", "qlog", tmp_path / "bare", "--out", tmp_path / "q"),
        ("results", tmp_path / "bare", "--sql", "select * from cwnd"),
    ]
    for tokens in asked:
        answer = burstlab(*tokens)
        assert answer.status == 2, tokens
        assert not re.search(r"\b[a-z_]+=(True|\(|\))", answer.err), answer.err
    with pytest.raises(bl.InputError if hasattr(bl, "InputError") else ValueError) as found:
        _ = bl.read(tmp_path / "bare").cwnd
    assert "(trace=('cwnd',))" in str(found.value), "Python reads it in Python"


@pytest.mark.parametrize("command", [("what-if", "--spare", "all"), ("blame",)])
def test_surgery_has_settings(burstlab, root, tmp_path, command):
    name, *more = command
    scenario = root / "examples" / "one_burst.toml"
    plain = burstlab(name, scenario, *more, "--json").json()
    other = burstlab(name, scenario, *more, "--set", "tcp.variant=reno", "--json").json()
    assert plain != other
    changed = bl.load(scenario)
    changed["tcp"]["variant"] = "reno"
    fingerprint = bl.run(changed).fingerprint
    assert fingerprint in str(other)
    twice = burstlab(name, scenario, *more, "--set", "run.seed=4", "--seed", 3)
    assert (twice.status, "--seed 3 takes its place" in twice.err) == (2, True)
    bl.run(scenario, out=tmp_path / "done")
    answer = burstlab(name, tmp_path / "done", *more, "--set", "tcp.variant=reno")
    assert (answer.status, "--set works only with a scenario" in answer.err) == (2, True)


def test_figures_of_ratios_have_a_logarithmic_axis_and_intervals_above_zero(small_file, tmp_path):
    plan = {
        "scenario": bl.load(small_file),
        "replications": 2,
        "metrics": ["flows.mean.goodput_bps"],
        "grid": {"loss.data.probability": [0.02, 0.2]},
        "schemes": {name: {"tcp.variant": name} for name in ("reno", "new-reno", "sack")},
    }
    study = bl.study(plan, out=tmp_path / "st", report=False)
    _, ratio = figures(study, ["flows.mean.goodput_bps"])
    assert any(row["ratio"] < row["ratio_ci95"] for row in study.differences.to_pylist())
    rows = list(csv.DictReader(ratio.spec["data"]["values"].splitlines()))
    assert rows and all(0.0 < float(row["low"]) <= float(row["y"]) for row in rows)
    layers = [layer for panel in ratio.spec["concat"] for layer in panel["layer"]]
    scales = [layer["encoding"]["y"]["scale"] for layer in layers]
    assert {scale["type"] for scale in scales} == {"log"}
    ticks = layers[0]["encoding"]["y"]["axis"]["values"]
    assert 1.0 in ticks and len(ticks) >= 3
    write(ratio.spec, tmp_path / "ratio.svg")
    assert "NaN" not in (tmp_path / "ratio.svg").read_text()


@pytest.mark.parametrize("ends", [(0.98, 1.21), (0.5, 2.0), (0.01, 3.0), (1.0, 40.0), (1.0, 1.0)])
def test_ticks_of_ratios_lie_within_and_are_several(ends):
    low, high = ends
    ticks = ratio_ticks(low, high)
    assert all(low <= one <= high for one in ticks)
    assert len(ticks) >= (1 if low == high else 3)


def test_intervals_of_ratios_end_above_zero():
    assert lowest([(1.0, 0.4), (2.0, 1.5)]) == 0.4
    assert lowest([(0.5, -0.2), (2.0, 1.5)]) == 0.25


@needs_chromium
def test_reports_fit_a_narrow_screen(burstlab, browser, small_file, tmp_path):
    assert burstlab("reproduce", "yu2004/fig3", "--out", tmp_path / "fig3").status in (0, 1)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{small_file}"\nreplications = 2\n[grid]\ntcp.window = [4, 8]\n'
        '[schemes]\nreno.tcp.variant = "reno"\nsack.tcp.variant = "sack"\n'
    )
    assert burstlab("study", plan, "--out", tmp_path / "st").status == 0
    for name in ("fig3", "st"):
        tab = browser.new_page(viewport={"width": 420, "height": 800})
        tab.goto((tmp_path / name / "report.html").as_uri())
        tab.wait_for_timeout(300)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 420, name
        tab.close()
