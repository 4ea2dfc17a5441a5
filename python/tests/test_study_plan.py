"""Plans of studies: designs, what is refused, and that a plan reads back as itself."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

import burstlab as bl
from burstlab import _core
from burstlab.studies import plan as plans
from burstlab.studies.design import Range, columns


def read(**fields: Any) -> plans.Plan:
    return plans.read({"scenario": {}, **fields})


def test_a_grid_is_a_product_whose_last_parameter_varies_fastest():
    found = read(grid={"tcp.window": [10, 20], "edge": {"timer": ["1 ms", "5 ms"]}})
    assert [list(point.values()) for point in found.points] == [
        [10, "1 ms"], [10, "5 ms"], [20, "1 ms"], [20, "5 ms"],
    ]  # fmt: skip
    assert list(found.points[0]) == ["tcp.window", "edge.timer"]


def test_lists_are_points_or_columns_of_them():
    points = [{"tcp.window": 10, "edge.timer": "1 ms"}, {"tcp.window": 20}]
    assert list(read(list=points).points) == points
    zipped = read(list={"tcp.window": [10, 20], "edge.timer": ["1 ms", "1 ms"]})
    assert [point["tcp.window"] for point in zipped.points] == [10, 20]
    crossed = read(list=points, grid={"access.rate": ["1 Mb/s", "2 Mb/s"]})
    assert len(crossed.points) == 4
    assert crossed.points[1] == {**points[0], "access.rate": "2 Mb/s"}


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_range():
    ranges = {
        "edge.timer": {"from": "1 ms", "to": "20 ms", "scale": "log"},
        "loss.data.probability": {"from": 0.0, "to": 0.1},
    }
    found = read(latin_hypercube={"points": 20, "ranges": ranges}, seed=4)
    swept = columns(found.points)
    log = np.log(np.array(swept["edge.timer_s"]) / 1e-3) / np.log(20)
    for shares in (log, np.array(swept["loss.data.probability"]) / 0.1):
        # Values are written with six digits, which may move one across an edge of its part.
        assert sorted(np.floor(shares * 20 + 1e-4)) == pytest.approx(range(20), abs=1)
        assert len(set(np.round(shares * 20, 3))) == 20
    assert all(point["edge.timer"].endswith(" ms") for point in found.points)
    again = read(latin_hypercube={"points": 20, "ranges": ranges}, seed=4)
    other = read(latin_hypercube={"points": 20, "ranges": ranges}, seed=5)
    assert found.points == again.points != other.points


def test_random_designs_draw_whole_numbers_and_choices():
    ranges = {"tcp.window": {"from": 10, "to": 12}, "tcp.variant": ["reno", "sack"]}
    found = read(random={"points": 200, "ranges": ranges})
    windows = [point["tcp.window"] for point in found.points]
    assert {type(window) for window in windows} == {int}
    # 200 draws of three: each 67 times on average, with a standard deviation of 7.
    assert all(35 < windows.count(window) < 100 for window in (10, 11, 12))
    assert {point["tcp.variant"] for point in found.points} == {"reno", "sack"}


@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 1, exclude_max=True),
    st.sampled_from(["ps", "us", "ms", "s", "B", "KB", "Mb/s", "Gb/s"]), st.booleans(),
)  # fmt: skip
def test_what_a_range_draws_is_within_it_and_readable(a, more, share, unit, log):
    given_ = {"from": f"{a} {unit}", "to": f"{a + more} {unit}"}
    axis = Range.read({**given_, "scale": "log" if log else "linear"}, "here")
    found = _core.quantity(axis.at(share))
    assert found is not None
    low, high = (_core.quantity(text) for text in given_.values())
    assert low is not None and high is not None
    assert low[0] * (1 - 1e-9) <= found[0] <= high[0] * (1 + 1e-9)
    assert found[1] == low[1]


def test_columns_carry_units():
    points: list[dict[str, Any]] = [
        {"edge.timer": "1 ms", "access.rate": "1 Mb/s", "edge.size": "1 KB", "tcp.window": 4},
        {"edge.timer": "2 s", "access.rate": "1 Gb/s", "edge.size": "4 B", "tcp.variant": "reno"},
    ]
    assert columns(points) == {
        "edge.timer_s": [1e-3, 2.0],
        "access.rate_bps": [1e6, 1e9],
        "edge.size_bytes": [1000.0, 4.0],
        "tcp.window": [4, None],
        "tcp.variant": [None, "reno"],
    }


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"grid": {"tcp.window": 5}}, "grid.tcp.window", "not a list"),
    ({"grid": {"tcp.window": []}}, "grid.tcp.window", "empty"),
    ({"grid": {"tcp.window": [5, 5]}}, "grid.tcp.window", "twice"),
    ({"grid": {"run.seed": [1, 2]}}, "run.seed", "says that itself"),
    ({"grid": {"tcp.window": [5]}, "list": [{"tcp.window": 6}]}, "grid.tcp.window", "list varies"),
    ({"list": {"a": [1], "b": [1, 2]}}, "list", "a has 1, b has 2"),
    ({"random": {"points": 3, "ranges": {}}}, "random.ranges", "no range"),
    ({"random": {"points": 0, "ranges": {"a": [1]}}}, "random.points", "out of range"),
    ({"random": {"points": 3, "ranges": {"a": {"from": 1}}}}, "random.ranges.a.to", "missing"),
    (
        {"random": {"points": 3, "ranges": {"a": {"from": "1 ms", "to": "1 KB"}}}},
        "random.ranges.a.to",
        "not of the kind",
    ),
    (
        {"random": {"points": 3, "ranges": {"a": {"from": 0, "to": 1, "scale": "log"}}}},
        "random.ranges.a.from",
        "no zero",
    ),
    ({"replications": 0}, "replications", "use 1 to"),
    ({"replications": True}, "replications", "not a whole number"),
    ({"replications": 2, "precision": {}}, "replications", "keep one"),
    ({"precision": {"relative": 5, "metrics": ["x"]}}, "precision.relative", "between 0 and 1"),
    (
        {"precision": {"relative": 0.1, "metrics": ["x"], "of": "ratios"}},
        "precision.of",
        "no two schemes",
    ),
    ({"sheme": {}}, "sheme", "schemes"),
    ({"seeds": "comon"}, "seeds", "common"),
    ({"warmup": "msr"}, "warmup.rule", "mser"),
    ({"metrics": []}, "metrics", "nothing would be kept"),
    ({"metrics": {"point": "counters.events"}}, "metrics.point", "column"),
    ({"schemes": {"a": {"tcp.window": 3}}, "grid": {"tcp.window": [3]}}, "schemes.a", "swept"),
    ({"scenario": "none.toml"}, "none.toml", "no such file"),
    ({"scenario": 5}, "scenario", "not a file or a table"),
]


@pytest.mark.parametrize(("fields", "where", "what"), BAD)
def test_a_bad_plan_is_refused_with_field_and_fix(fields, where, what):
    with pytest.raises(bl.InputError) as refused:
        read(**fields)
    text = str(refused.value)
    assert where in text
    assert what in text


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"grid": {"tcp.window": [40, -3]}}, ["tcp.window", "point 1: tcp.window = -3"]),
        ({"grid": {"tcp.windw": [40]}}, ["windw", "window", "point 0"]),
        ({"schemes": {"a": {"tcp.variant": "sak"}}}, ["sak", "sack", "scheme a"]),
        ({"metrics": ["flows.mean.godput_bps"]}, ["godput", "flows.mean.goodput_bps"]),
        (
            {"warmup": {"series": "active"}, "set": {"run.duration": "1 s"}},
            ["warmup.series", "run.sample"],
        ),
    ],
)
def test_a_bad_point_is_refused_before_any_run(tmp_path, fields, expected):
    with pytest.raises(bl.PlanError) as refused:
        bl.study({"scenario": {}, **fields}, out=tmp_path / "out")
    for part in expected:
        assert part in str(refused.value)
    assert not list(tmp_path.rglob("*.parquet"))


def test_files_count_from_the_plan(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/scenario.toml").write_text('[run]\nduration = "1 s"\n')
    (tmp_path / "plan.toml").write_text('scenario = "deep/scenario.toml"\n[set]\ntcp.window = 7\n')
    found = plans.read(tmp_path / "plan.toml")
    assert json.loads(found.scenario(0, ""))["run"]["duration"] == "1 s"
    assert json.loads(found.scenario(0, ""))["tcp"]["window"] == 7


def test_seeds_are_common_or_keyed_by_the_point():
    grid = {"tcp.window": [10, 20]}
    assert {read(grid=grid, seed=9).seed_of(point) for point in (0, 1)} == {9}
    own = read(grid=grid, seed=9, seeds="independent")
    turned = read(grid={"tcp.window": [20, 10]}, seed=9, seeds="independent")
    assert own.seed_of(0) != own.seed_of(1)
    assert [own.seed_of(0), own.seed_of(1)] == [turned.seed_of(1), turned.seed_of(0)]


VALUES = st.lists(st.integers(1, 500), min_size=1, max_size=4, unique=True)
TIMES = st.lists(st.integers(1, 50).map("{} ms".format), min_size=1, max_size=3, unique=True)
PLANS = st.fixed_dictionaries(
    {"scenario": st.just({"edge": {"assembly": "timer", "timer": "7 ms"}, "tcp": {}})},
    optional={
        "seed": st.integers(0, 2**63 - 1),
        "seeds": st.sampled_from(["common", "independent"]),
        "replications": st.integers(1, 50),
        "grid": st.fixed_dictionaries({"tcp": st.fixed_dictionaries({"window": VALUES})}),
        "list": st.fixed_dictionaries({"edge.timer": TIMES}),
        "random": st.fixed_dictionaries(
            {
                "points": st.integers(1, 5),
                "ranges": st.just({"access.delay": {"from": "1 ms", "to": "9 ms"}}),
            }
        ),
        "schemes": st.just({"a": {}, "b": {"tcp.profile": "ns2"}}),
        "metrics": st.just(["counters.events"]),
        "warmup": st.sampled_from(["mser", {"series": "delivered", "interval": "10 ms"}]),
        "set": st.just({"run": {"duration": "2 s"}}),
    },
)


@given(PLANS)
def test_a_plan_reads_back_as_itself(document):
    found = plans.read(document)
    written = tomli_w.dumps(found.to_document())
    again = plans.read(tomllib.loads(written))
    assert again.to_document() == tomllib.loads(written)
    assert again.points == found.points
    last = len(found.points) - 1
    name = found.names[-1]
    assert again.scenario(last, name) == found.scenario(last, name)
    assert again.seed_of(last) == found.seed_of(last)


def test_a_grid_over_files_of_networks_takes_the_place_of_the_one_below(tmp_path):
    """The file below is read first, and its nodes and links went with the name of another."""
    for name, nodes in (("two", "AB"), ("three", "ABC")):
        pairs = "".join(f"  edge [ source {n} target {n + 1} ]\n" for n in range(len(nodes) - 1))
        places = "".join(f'  node [ id {n} label "{one}" ]\n' for n, one in enumerate(nodes))
        (tmp_path / f"{name}.gml").write_text(f"graph [\n{places}{pairs}]\n")
    (tmp_path / "plan.toml").write_text(
        '[scenario.network]\nfile = "two.gml"\nlengths = "hop"\n[scenario.run]\n'
        'duration = "1 ms"\n[grid]\n"network.file" = ["two.gml", "three.gml"]\n'
    )
    found = bl.study(tmp_path / "plan.toml", jobs=1)
    assert len(found.points) == 2
