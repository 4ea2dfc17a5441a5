"""Figures: the numbers behind them, that each can be drawn, and that their colours differ."""

from __future__ import annotations

import itertools
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import burstlab as bl
from burstlab import plot
from burstlab.plot import theme
from burstlab.plot.distributions import PACKETS, SEGMENTS, samples
from burstlab.plot.saving import specification
from burstlab.report.titles import titled
from burstlab.reproduce.engine import Options
from burstlab.reproduce.paper import select

ALL = ("packets", "bursts", "cwnd", "ledger")


@pytest.fixture(scope="module")
def one_burst():
    """Segments 400 to 404 die in one burst; Reno waits for its timer."""
    scenario = {
        "edge": {"assembly": "timer", "timer": "40 ms"},
        "tcp": {"variant": "reno", "window": 40},
        "loss": {"data": {"process": "script", "carrying": [400]}},
        "run": {"duration": "10 s"},
    }
    return bl.run(scenario, trace=ALL)


@pytest.fixture(scope="module")
def mesh():
    scenario = bl.load("examples/deflection.toml")
    scenario["core"] = {"scheduler": "lauc-vf"}
    scenario["run"] = {"duration": "5 ms"}
    scenario["bursts"][0]["erlangs"] = 0.3
    return bl.run(scenario, trace=("bursts",))


@pytest.fixture(autouse=True)
def at_the_root(root, monkeypatch):
    monkeypatch.chdir(root)


def test_a_sequence_diagram_has_what_the_sender_sent(one_burst):
    rows = plot.sequence_rows(one_burst)
    sent = [row for row in rows if row["kind"] != "ACK"]
    facts = one_burst.summary["flows"][0]
    assert len(sent) == facts["packets_sent"]
    lost = [row["segment"] for row in sent if row["kind"] == "lost"]
    assert len(lost) == 5 and 400 in lost
    again = [row for row in sent if row["kind"] == "retransmission"]
    assert len(again) == facts["retransmissions"] > 0
    acks = [row["segment"] for row in rows if row["kind"] == "ACK"]
    assert acks == sorted(acks)
    (timeout,) = plot.timeout_rows(one_burst, 0, plot.Span())
    assert (timeout["truth"], timeout["lost"]) == ("false", 4)
    part = plot.sequence_rows(one_burst, span=plot.Span(3.0, 4.0))
    assert part == [row for row in rows if 3.0 <= row["t_s"] <= 4.0]


def test_a_window_diagram_has_every_event(one_burst):
    rows = plot.window_rows(one_burst)
    assert len(rows) == len(one_burst.cwnd)
    assert [row["cwnd"] for row in rows] == one_burst.cwnd["cwnd"].tolist()
    measured = [row["measured"] for row in rows if row["measured"]]
    assert 100 < min(measured) < max(measured) < 1000


def test_a_fibre_holds_its_bursts_side_by_side(mesh):
    busiest = plot.fibres(mesh)[0]
    held = plot.held_rows(mesh, span=plot.Span())
    assert held == plot.held_rows(mesh, busiest, plot.Span())
    table = mesh.table("bursts_hops").where(**{"from": busiest[0], "to": busiest[1]})
    assert len(held) == len(table)
    for lane in range(2):
        mine = [row for row in held if row.wavelength == lane]
        assert len(mine) > 3
        assert all(a.end_s <= b.start_s + 1e-12 for a, b in itertools.pairwise(mine))
    refused = [row for row in held if row.sign == "refused here"]
    assert refused and all(row.cause == "contention" for row in refused)
    for row in refused:
        # Both wavelengths are taken where it would have been.
        lanes = {
            other.wavelength
            for other in held
            if other.wavelength is not None
            and other.start_s < row.end_s
            and row.start_s < other.end_s
        }
        assert lanes == {0, 1}
    offsets = [row.start_s - row.closed_s for row in held if row.closed_s is not None]
    assert offsets and min(offsets) > 1e-6, "headers go ahead of their bursts"


def test_distributions_are_those_of_the_tables(one_burst):
    found = samples(one_burst)
    data = one_burst.bursts.where(direction="data")
    assert found[PACKETS].tolist() == data["packets"].tolist()
    # One flow: what is in a burst is its own, less what still waits.
    assert found[SEGMENTS].sum() == pytest.approx(data["packets"].sum(), abs=5)
    rows = plot.distribution_rows({"": one_burst})
    for panel in {row["panel"] for row in rows}:
        shares = [row["share"] for row in rows if row["panel"] == panel]
        assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0


def test_a_sweep_has_means_and_intervals():
    runs = [
        bl.run({**_lossy(window), "run": {"duration": "5 s", "replications": 3}})
        for window in (10, 40)
    ]
    (curve,) = plot.sweep_curves(runs[::-1], "tcp.window")
    assert [dot.x for dot in curve.dots] == [10.0, 40.0]
    for dot, run in zip(curve.dots, runs, strict=True):
        estimate = run.estimates()["goodput_bps"]
        assert dot.y == pytest.approx(estimate["mean"] / 1e6)
        assert dot.ci95 == pytest.approx(estimate["ci95"] / 1e6)
        assert dot.n == 3
    with pytest.raises(bl.InputError, match="no such field"):
        plot.sweep_curves(runs, "edge.tmer")
    with pytest.raises(bl.InputError, match="no metric"):
        plot.sweep_curves(runs, "tcp.window", "good")
    with pytest.raises(bl.InputError, match="two results have 10 ms"):
        plot.sweep_curves(runs, "edge.timer")
    curves = plot.sweep_curves(runs, "edge.timer", by="tcp.window")
    assert [curve.dots[0].x for curve in curves] == [10.0, 10.0]


def test_a_sweep_takes_the_names_of_metrics_of_studies():
    runs = [
        bl.run({**_lossy(window), "flows": [{"count": 2}], "run": {"duration": "2 s"}})
        for window in (10, 40)
    ]
    (of_all,) = plot.sweep_curves(runs, "tcp.window")
    (of_each,) = plot.sweep_curves(runs, "tcp.window", "flows.mean.goodput_bps")
    for whole, each in zip(of_all.dots, of_each.dots, strict=True):
        assert whole.y == pytest.approx(2 * each.y) and each.y > 0
    for name, title in (
        ("goodput_bps", "goodput of all flows (Mb/s)"),
        ("flows.mean.goodput_bps", "flows.mean.goodput (Mb/s)"),
    ):
        assert title in plot.sweep_chart(runs, "tcp.window", name).to_json()


def test_a_sweep_of_what_a_replication_cannot_tell_is_refused():
    cell = {"loss": "residual", "probability": 1.0}
    run = bl.run({"wlan": [cell], "access": {"rate": "10 Mb/s"}, "run": {"duration": "2 s"}})
    with pytest.raises(bl.InputError, match="a replication has no such value"):
        plot.sweep_curves([run], "tcp.window", "wlan.receiver.down.wait_s")


def _lossy(window):
    loss = {"data": {"process": "bernoulli", "probability": 0.02}}
    edge = {"assembly": "timer", "timer": "10 ms"}
    return {"edge": edge, "tcp": {"window": window}, "loss": loss}


def test_every_figure_is_drawn(one_burst, mesh, tmp_path):
    published = plot.Curve("published", theme.INK, [plot.Dot(10, 0.5)], "published")
    charts = {
        "sequence": plot.sequence_chart(one_burst, start_s=3.0, end_s=6.0),
        "window": plot.window_chart(one_burst),
        "path": plot.occupancy_chart(one_burst),
        "mesh": plot.occupancy_chart(mesh),
        "bursts": plot.distribution_chart({"path": one_burst, "ring": mesh}),
        "sweep": plot.sweep_chart([one_burst], "tcp.window", beside=[published]),
    }
    for name, chart in charts.items():
        svg = plot.write(chart, tmp_path / f"{name}.svg").read_text()
        assert svg.startswith("<svg") and svg.count("<path") > 20, name
        assert "NaN" not in svg and "undefined" not in svg, name
    svg = (tmp_path / "sequence.svg").read_text()
    for word in ("first transmission", "retransmission", "lost", "false time-out", "time (s)"):
        assert f">{word}</text>" in svg
    assert plot.write(charts["mesh"], tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert plot.write(charts["mesh"], tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(bl.InputError, match=r"the ending is no picture format"):
        plot.write(charts["mesh"], tmp_path / "x.gif")
    assert specification(charts["sequence"])["config"]["font"] == theme.FONT


def test_a_figure_for_a_column_has_its_width_and_type_of_seven_points(one_burst, mesh, tmp_path):
    rows = [
        plot.NamedPoint("seconds", f"a long name of a category, number {i}", "measured", 7.0 + i)
        for i in range(4)
    ]
    dots = [plot.Dot(1.0, 9.0, 0.5), plot.Dot(2.0, 10.0, 0.5)]
    panels = [plot.CurvePanel(title, [plot.Curve("a", theme.INK, dots)]) for title in "xyz"]
    charts = {
        "sequence": plot.sequence_chart(one_burst, start_s=3.0, end_s=6.0),
        "window": plot.window_chart(one_burst),
        "mesh": plot.occupancy_chart(mesh),
        "bursts": plot.distribution_chart({"path": one_burst, "ring": mesh}),
        "rows": plot.dot_chart(rows, plot.DotAxes({"measured": theme.INK}, from_zero=False)),
        "curves": plot.curve_chart(panels, plot.Axes("x", "y", columns=3)),
    }
    for name, chart in charts.items():
        svg = plot.write(chart, tmp_path / f"{name}.svg", column=True).read_text()
        width, box = re.findall(r'<svg [^>]*width="([\d.]+)cm"[^>]*viewBox="0 0 ([\d.]+) ', svg)[0]
        points = float(width) / 2.54 * 72.0 / float(box)
        assert float(width) == 8.5
        sizes = [points * float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
        assert min(sizes) >= 6.99, name
    svg = (tmp_path / "rows.svg").read_text()
    assert "…" not in svg and "number 3" in svg
    head = plot.write(charts["rows"], tmp_path / "rows.png", column=True).read_bytes()[16:24]
    assert int.from_bytes(head[:4], "big") == pytest.approx(8.5 / 2.54 * 300, abs=2)


def test_an_axis_that_does_not_begin_at_zero_is_marked():
    def marked(*values):
        dots = [plot.Dot(float(i), value) for i, value in enumerate(values)]
        axes = plot.Axes("x", "y")
        chart = plot.curve_chart([plot.CurvePanel("", [plot.Curve("a", theme.INK, dots)])], axes)
        return '"broken"' in json.dumps(specification(chart))

    assert marked(9.0, 10.0)
    assert not marked(1.0, 10.0)
    assert not marked(-1.0, 10.0)


@pytest.mark.parametrize(
    ("ends", "rounded"),
    [
        ((9.1, 10.2), (9.0, 10.2)),
        ((1.0, 10.0), (0.0, 10.0)),
        ((-0.3, 0.7), (-0.4, 0.8)),
        ((0.98, 1.31), (0.9, 1.4)),
        ((5.0, 5.0), (4.0, 6.0)),
    ],
)
def test_ends_of_an_axis_are_round(ends, rounded):
    low, high = theme.rounded(*ends)
    assert (low, high) == pytest.approx(rounded)
    assert low <= ends[0] and ends[1] <= high


@pytest.mark.parametrize(
    ("ends", "rounded", "ticks"),
    [
        ((72.0, 1110.0), (50.0, 2000.0), [50, 100, 200, 500, 1000, 2000]),
        ((1.0, 10.0), (1.0, 10.0), [1, 2, 5, 10]),
        ((3e-5, 0.4), (2e-5, 0.5), [1e-4, 1e-3, 1e-2, 0.1]),
        ((0.7, 0.7), (0.5, 1.0), [0.5, 1.0]),
        ((5.0, 5.0), (2.5, 10.0), [5.0, 10.0]),
    ],
)
def test_a_logarithmic_axis_has_round_ends_and_labels(ends, rounded, ticks):
    low, high = theme.rounded_log(*ends)
    assert (low, high) == pytest.approx(rounded)
    assert low <= ends[0] and ends[1] <= high
    assert theme.ticks_log(low, high) == pytest.approx(ticks)


def test_an_interval_below_zero_does_not_stretch_a_logarithmic_axis():
    dots = [plot.Dot(1.0, 300.0, 400.0), plot.Dot(2.0, 800.0, 100.0)]
    panels = [plot.CurvePanel("", [plot.Curve("a", theme.INK, dots)])]
    chart = specification(plot.curve_chart(panels, plot.Axes("x", "y", log_y=True)))
    assert '"domain": [200.0, 1000.0]' in json.dumps(chart)


def test_a_mark_that_the_legend_lacks_is_refused():
    legend = theme.Legend([theme.Sign("a", theme.INK, theme.SOLID)])
    legend.inline([{"sign": "a"}], ["sign"])
    with pytest.raises(AssertionError, match="would not be drawn"):
        legend.inline([{"sign": "a"}, {"sign": "b"}], ["sign"])


def test_series_of_a_row_differ_in_place_and_shape():
    def chart(*series):
        points = [plot.NamedPoint("seconds", "a", one, 7.0, 1.0) for one in series]
        axes = plot.DotAxes(dict(zip(series, theme.SERIES, strict=False)))
        return json.dumps(specification(plot.dot_chart(points, axes)))

    assert '"yOffset"' not in chart("published", "measured")
    several = chart("published", "one pair", "all pairs")
    assert '"yOffset"' in several
    assert all(shape in several for shape in theme.FULL[:2])


def test_rows_with_names_have_a_rule_and_mark_an_axis_that_does_not_begin_at_zero():
    def chart(*values, **more):
        rows = [plot.Named(str(i), value, 0.1, 3) for i, value in enumerate(values)]
        return json.dumps(specification(plot.named_chart(rows, "ratio", **more)))

    assert '"broken"' in chart(1.2, 2.2, rule=1.0)
    assert '"broken"' not in chart(0.2, 2.2)
    # The axis extends to the rule.
    assert '"domain": [1.0, 2.5]' in chart(1.4, 2.2, rule=1.0)
    assert '"title": "round trip"' in chart(1.2, 2.2, rows="round trip")


def test_panels_of_a_column_have_all_titles_and_names(tmp_path):
    dots = [plot.Dot(1.0, 9.0, 0.5), plot.Dot(2.0, 10.0, 0.5)]
    panels = [plot.CurvePanel(title, [plot.Curve("a", theme.INK, dots)]) for title in "xyz"]
    long = "the goodput of one sender over the goodput of another sender, with B = 32"
    charts = {
        "curves": plot.curve_chart(panels, plot.Axes(long, "packets", columns=3)),
        "rows": plot.dot_chart(
            [plot.NamedPoint(panel, "a name", "m", 1.0) for panel in ("s", "Mb/s")],
            plot.DotAxes({"m": theme.INK}),
        ),
    }
    pictures = {
        name: plot.write(chart, tmp_path / f"{name}.svg", column=True).read_text()
        for name, chart in charts.items()
    }
    assert pictures["curves"].count(">packets</text>") == 3
    assert pictures["rows"].count(">a name</text>") == 2
    assert "…" not in pictures["curves"]
    assert "B\u00a0=\u00a032" in pictures["curves"]


def test_the_title_of_a_picture_says_what_its_bars_are():
    ((paper, target),) = select(["lu-hunter/length"])
    report = SimpleNamespace(paper=paper, target=target, name="lu-hunter/length", seed=1)

    def subtitle(*rows):
        spec = titled({}, report, Options("quick"), rows)  # type: ignore[arg-type]
        return spec["title"]["subtitle"][1]

    assert subtitle({"y": 1.0, "ci95": 0.1}).endswith(", seed 1; bars are 95 % intervals")
    assert subtitle({"value": 1.0, "low": 0.9, "high": 1.1}).endswith("intervals")
    assert subtitle({"y": 1.0, "ci95": None}).endswith(", seed 1")


def test_the_command_draws_each_kind(burstlab, one_burst, tmp_path):
    one_burst.write(tmp_path / "runs" / "one")
    for kind in ("sequence", "window", "occupancy", "bursts"):
        answer = burstlab("plot", tmp_path / "runs" / "one", kind, "--out", tmp_path / "x.svg")
        assert answer.status == 0, answer.err
    run = tmp_path / "runs" / "one"
    part = ["--start", "3 s", "--end", "4 s"]
    assert burstlab("plot", run, "sequence", *part).out.strip() == str(run / "sequence.svg")
    answer = burstlab(
        "plot", tmp_path / "runs", "sweep", "--x", "tcp.window", "--by", "tcp.variant"
    )
    assert answer.status == 0, answer.err


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["sequence", "--flow", "1"], "there is no such flow"),
        (["sequence", "--start", "20 s"], "sends nothing in this time"),
        (["window", "--start", "20 s"], "nothing happens to flow 0 in this time"),
        (["window", "--end", "4"], '"4"'),
        (["occupancy", "--fibre", "1-2"], "a path has one fibre in each direction"),
        (["occupancy", "--fibre", "x"], "is no fibre"),
        (["bursts", "--flow", "0"], "--flow is of sequence and window"),
        (["sweep"], "a sweep needs a parameter"),
        (["sweep", "--x", "tcp.window"], "holds no directories of results"),
        (["bursts", "--out", "x.gif"], "the ending is no picture format"),
        (["picture"], "Choose from"),
    ],
)
def test_the_command_refuses(burstlab, one_burst, tmp_path, tokens, said):
    one_burst.write(tmp_path / "run")
    answer = burstlab("plot", tmp_path / "run", *tokens)
    assert answer.status == 2
    assert said in answer.err


def test_a_fibre_is_named_by_numbers_or_names(burstlab, tmp_path):
    result = bl.run("examples/fabric.toml", trace=("bursts",))
    result.write(tmp_path / "run")
    names = [node["name"] for node in result.summary["network"]["nodes"]]
    there, to = plot.fibres(result)[0]
    drawn = []
    for text in (f"{there}-{to}", f"{names[there - 1]}-{names[to - 1]}"):
        answer = burstlab(
            "plot", tmp_path / "run", "occupancy", "--fibre", text, "--out", tmp_path / "x.svg"
        )
        assert answer.status == 0, answer.err
        drawn.append((tmp_path / "x.svg").read_bytes())
    assert drawn[0] == drawn[1]
    answer = burstlab("plot", tmp_path / "run", "occupancy", "--fibre", f"{names[0]}-{names[0]}")
    assert answer.status == 2 and "is no fibre" in answer.err


def test_a_study_is_no_directory_of_a_sweep(burstlab, tmp_path):
    plan = {"scenario": {"run": {"duration": "100 ms"}}, "grid": {"tcp.window": [4, 8]}}
    bl.study(plan, out=tmp_path / "study", jobs=1)
    answer = burstlab("plot", tmp_path / "study", "sweep", "--x", "tcp.window")
    assert answer.status == 2 and "is a study" in answer.err and "report.html" in answer.err


#: The appearance of a colour to those who lack a receptor (Viénot, Brettel and Mollon, 1999;
#: Machado, Oliveira and Fernandes, 2009, severity 1), in linear light.
_SEEN = {
    "all": np.eye(3),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def _lab(colour, seen):
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(seen @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    x, y, z = np.cbrt(np.maximum(to_xyz @ linear / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", _SEEN)
def test_states_can_be_told_by_everybody(seen):
    together = {
        "segments": (theme.FIRST, theme.AGAIN, theme.LOST),
        "bursts": (theme.FIRST, theme.AGAIN, theme.LOST, theme.PENDING),
        "windows": (theme.FIRST, theme.AGAIN, theme.MUTED),
        "time-outs": (theme.FALSE, theme.TIMEOUT, theme.MUTED),
        "series": theme.SERIES,
    }
    for name, colours in together.items():
        for one, other in itertools.combinations(colours, 2):
            apart = np.linalg.norm(_lab(one, _SEEN[seen]) - _lab(other, _SEEN[seen]))
            assert apart > 15, f"{name}: {one} and {other} look alike with {seen}: {apart:.1f}"
