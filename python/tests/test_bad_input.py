"""Bad input: exit status 2, a message with field, value and fix, and never a traceback."""

from __future__ import annotations

import json
import re

import pytest

import burstlab as bl
from burstlab.errors import InputError

FIELDS = [
    # setting, what the message names
    ("tcp.windw=3", "windw", "window"),
    ("netwrk.core_nodes=3", "netwrk", "network"),
    ("access.rate=1", "access.rate", "Gb/s"),
    ("access.rate=1 parsec", "access.rate", "parsec"),
    ("access.rate=-1 Mb/s", "access.rate", "-1"),
    ("access.rate=0 b/s", "access.rate", "0"),
    ("network.link_rate=5 ms", "network.link_rate", "5 ms"),
    ("network.core_nodes=0", "network.core_nodes", "0"),
    ("network.core_nodes=two", "network.core_nodes", "two"),
    ("network.topology=rng", "network.topology", "ring"),
    ('network.link_delays=["1 ms"]', "network.link_delays", "3"),
    ("edge.timer=0 s", "edge.timer", "0"),
    ("edge.assembly=timr", "edge.assembly", "timer"),
    ("edge.size=1 KB", "edge.size", "1 KB"),
    ("tcp.window=0", "window", "0"),
    ("tcp.window=1.5", "window", "1.5"),
    ("tcp.variant=cubic", "variant", 'tcp.profile = "linux" and tcp.window_law = "cubic"'),
    ("tcp.variant=taho", "variant", 'did you mean "tahoe"?'),
    ("tcp.rto_min=70 s", "rto_min", "rto_max"),
    ("loss.data.probability=1.5", "loss.data.probability", "1.5"),
    ("loss.data.probability=-0.1", "loss.data.probability", "-0.1"),
    ("loss.data.probability=nan", "loss.data.probability", "nan"),
    ("loss.data.n=3", "loss.data.n", "bernoulli"),
    ("flows=[]", "flows", "0"),
    ("run.duration=0 s", "run.duration", "0"),
    ("run.seed=-1", "run.seed", "-1"),
    ("run.replications=0", "run.replications", "0"),
    ("run=3", "run", "3"),
    ("tcp.detector=bel", "detector", "ble"),
    ("tcp.detector_window_min=-1", "detector_window_min", "-1"),
    ('tcp={variant="tahoe", detector="ble"}', "tcp.detector", "Tahoe"),
    ("tcp.rto_fixed=-1 s", "rto_fixed", "-1"),
    ("tcp.bnak_delay=5 ms", "bnak_delay", "rtt"),
    ("tcp.rto_backoff_end=never", "rto_backoff_end", "progress"),
    ("edge.offset=-1 ms", "edge.offset", "-1"),
    ("edge.notices=inband", "edge.notices", "in-band"),
    ("network.link_delay=-10 ms", "network.link_delay", "-10"),
    ("access.delay=-10 ms", "access.delay", "-10"),
    ("traffic=[{}]", "access.shared", "true"),
]


@pytest.mark.parametrize(("setting", "names", "says"), FIELDS)
@pytest.mark.parametrize("command", ["run"])
def test_a_wrong_field(burstlab, small_file, command, setting, names, says):
    answer = burstlab(command, small_file, "--set", setting)
    assert answer.status == 2, answer
    assert answer.out == ""
    assert names in answer.err
    assert says in answer.err
    assert "Traceback" not in answer.err


FLAGS = [
    (("--set", "tcp.window"), "="),
    (("--set", "=3"), "field"),
    (("--set", "flows[7].label=x"), "flows"),
    (("--trace", "pakets"), "packets"),
    (("--trace", "packets,cwdn"), "cwnd"),
    (("--seed", "-1"), "seed"),
    (("--seed", str(2**63)), "seed"),
    (("--seed", "one"), "one"),
    (("--seed", "1.5"), "1.5"),
    (("--replications", "1e3"), "1e3"),
    (("--replications", "0"), "replications"),
    (("--jobs", "0"), "jobs"),
    (("--colour", "red"), "--colour"),
    (("--out", "/dev/null/x"), "/dev/null/x"),
]


@pytest.mark.parametrize(("flags", "says"), FLAGS)
def test_a_wrong_flag(burstlab, small_file, flags, says):
    answer = burstlab("run", small_file, *flags)
    assert answer.status == 2, answer
    assert answer.out == ""
    assert says in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("command", ["run", "check"])
def test_files_that_are_no_scenario(burstlab, tmp_path, command):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)) * 4)
    broken = tmp_path / "broken.toml"
    broken.write_text('[run]\nduration = "1 s\n')
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("run = [1, 2]\n")
    dated = tmp_path / "dated.toml"
    dated.write_text("[run]\nduration = 2024-01-01\n")
    plan = tmp_path / "plan.toml"
    plan.write_text('seed = 1\n[scenario.run]\nduration = "1 s"\n')
    for path, says in [
        (plan, f"fix: burstlab study {plan}"),
        (tmp_path / "absent.toml", "no such file"),
        (tmp_path, "directory"),
        (binary, "binary.toml"),
        (broken, "line 2, column"),
        (wrong, "run"),
        (dated, "run.duration"),
    ]:
        answer = burstlab(command, path)
        assert answer.status == 2, (path, answer)
        assert says in answer.err
        assert answer.out == ""


def test_burst_acks_need_bursts(burstlab, small_file):
    settings = ("--set", "tcp.detector=back", "--set", 'edge={assembly="none"}')
    answer = burstlab("run", small_file, *settings)
    assert answer.status == 2
    assert "tcp.detector" in answer.err
    assert "back" in answer.err
    assert "fix: " in answer.err


def test_a_burst_that_never_comes_is_a_warning(burstlab, small_file):
    answer = burstlab(
        "run", small_file, "--json", "--set", 'loss.data={process="script", bursts=[999999]}'
    )
    assert answer.status == 0
    (warning,) = answer.json()["warnings"]
    assert "999999" in warning
    assert "999999" in answer.err


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (("reproduce", "yu2004/tabel1"), "yu2004/table1"),
        (("reproduce",), "target"),
        (("reproduce", "yu2004/fig3", "--quick", "--full"), "exclude"),
        (("reproduce", "yu2004/fig3", "--seed", "-4"), "seed"),
        (("model", "reno"), "reno"),
        (("oracle", "/nowhere"), "/nowhere"),
        (("simulate",), "simulate"),
        (("run",), "SCENARIO"),
    ],
)
def test_other_commands(burstlab, tokens, says):
    answer = burstlab(*tokens)
    assert answer.status == 2, answer
    assert answer.out == ""
    assert says.lower() in answer.err.lower()
    assert "Traceback" not in answer.err


def test_a_directory_that_cannot_be_written_is_told_before_the_run(burstlab, small_file, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = burstlab("run", small_file, "--out", blocked)
    assert answer.status == 2
    assert "cannot be written" in answer.err


READERS = [
    ("export", "DIR"), ("plot", "DIR", "window"), ("view", "DIR", "--no-open"), ("results", "DIR"),
]  # fmt: skip


@pytest.mark.parametrize("words", READERS, ids=[words[0] for words in READERS])
def test_a_directory_that_is_no_result_is_refused_with_a_fix(burstlab, tmp_path, words):
    (tmp_path / "empty").mkdir()
    damaged = tmp_path / "damaged"
    bl.run({"run": {"duration": "1 s"}}, trace=("cwnd", "bursts"), out=damaged)
    (damaged / "cwnd.parquet").write_bytes(b"PAR1")
    for name in ("none", "empty", "damaged"):
        given = [str(tmp_path / name) if word == "DIR" else word for word in words]
        answer = burstlab(*given)
        assert answer.status == 2
        assert answer.err.startswith(f"error: {tmp_path / name}")
        assert "\n  fix: " in answer.err
    assert f"{damaged / 'cwnd.parquet'}: damaged" in answer.err


@pytest.mark.parametrize("words", READERS[:2], ids=["export", "plot"])
def test_a_study_in_place_of_a_result_is_refused_with_a_fix(burstlab, tmp_path, words):
    bl.study({"scenario": {"run": {"duration": "1 s"}}}, out=tmp_path / "study", report=False)
    where = str(tmp_path / "study")
    answer = burstlab(*(where if word == "DIR" else word for word in words))
    assert answer.status == 2
    assert f"{where}: is a study, not the result of a run" in answer.err
    answer = burstlab("run", where)
    assert answer.status == 2
    assert f"fix: burstlab run {where} --point 0" in answer.err
    answer = burstlab("run", where, "--scheme", "reno")
    assert answer.status == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("flows",), 5),
        (("counters",), None),
        (("flows", 0, "goodput_bps"), "fast"),
        (("flows", 0), {"id": 0, "colour": "red"}),
        (("counters", "events"), True),
        (("warnings",), 1),
        (("network", "links", 0), {}),
    ],
)
def test_a_summary_that_was_changed_is_refused_by_the_path_of_the_change(tmp_path, path, value):
    mesh = {
        "network": {"topology": "line", "nodes": 2},
        "flows": [{"from": "1", "to": "2"}],
        "run": {"duration": "200 ms"},
    }
    bl.run(mesh, out=tmp_path / "run")
    assert bl.read(tmp_path / "run").flows
    summary = tmp_path / "run" / "summary.json"
    document = json.loads(summary.read_text())
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    summary.write_text(json.dumps(document))
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
    with pytest.raises(InputError, match=rf"{re.escape(where)} differs from what a run writes"):
        bl.read(tmp_path / "run")


def test_a_device_that_never_ends_is_no_scenario(burstlab):
    answer = burstlab("run", "/dev/zero")
    assert answer.status == 2
    assert "/dev/zero" in answer.err and "fix: give a file" in answer.err
