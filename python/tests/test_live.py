"""Live hosts: what a scenario may say of them, and programs over a kernel in virtual time.

Tests that need a kernel are skipped where none was built: `burstlab kernel build` makes one.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from burstlab import InputError, read, resolve, run
from burstlab.live import kernels, live, network, running, virtual
from burstlab.live.shared_kernel import CAUSES, compare_senders
from burstlab.loading import to_document
from burstlab.oracle.live import live_linux

# The tests have a cache of their own; kernels are in that of whoever runs them.
HOME = os.environ.get(kernels.VARIABLE) or Path.home() / ".cache" / "burstlab" / "kernels"
BUILT = [image for image in sorted(Path(HOME).glob("*/linux")) if not kernels.lacks(image)]
if not BUILT:
    warnings.warn(
        "no kernel: tests of live hosts are skipped (burstlab kernel build)", stacklevel=1
    )
needs_kernel = pytest.mark.skipif(not BUILT, reason="no kernel was built: burstlab kernel build")
pytestmark = pytest.mark.slow

#: Whether runs by the wall clock are possible.
MAY_BE_ROOT = os.geteuid() == 0 and network.TUN.exists()

BULK = [sys.executable, "-m", "burstlab.live.bulk"]
EXAMPLES = Path(__file__).parents[2] / "examples"
LINUX = Path(running.__file__).parents[1] / "data" / "oracles" / "linux"


@pytest.fixture(autouse=True)
def _kernels(monkeypatch):
    monkeypatch.setenv(kernels.VARIABLE, str(HOME))


def scenario(**changes: Any) -> dict[str, Any]:
    """Two hosts on a path of 20 Mb/s, of which one sends 300 kB to the other."""
    return {
        "network": {"topology": "path", "link_rate": "10 Gb/s"},
        "access": {"rate": "20 Mb/s", "delay": "1 ms"},
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "live": [
            {"address": "10.9.0.1", "command": [*BULK, "send", "10.9.0.2", "5001", "300000"]},
            {"address": "10.9.0.2", "command": [*BULK, "receive", "5001"]},
        ],
        "run": {"duration": "20 s"},
        **changes,
    }


def written(tmp_path, document):
    import tomli_w

    path = tmp_path / "scenario.toml"
    path.write_bytes(tomli_w.dumps(document).encode())
    return path


def program(code):
    return [sys.executable, "-c", code]


def test_each_two_hosts_at_different_nodes_have_a_flow():
    hosts = [{"address": f"10.0.0.{n}", "node": node} for n, node in enumerate("1441", 1)]
    mesh = {
        "network": {"topology": "line", "nodes": 4},
        "live": hosts,
        "flows": [{"count": 2}],
    }
    found = resolve(mesh)
    labels = [flow["label"] for flow in found["flows"][1:]]
    assert labels == [f"10.0.0.{one} - 10.0.0.{other}" for one, other in ("12", "13", "24", "34")]
    assert [(flow["from"], flow["to"]) for flow in found["flows"][1:3]] == [("1", "4")] * 2
    assert resolve(found) == found, "what is resolved stays as it is"
    turned = scenario()
    turned["live"][0]["node"], turned["live"][1]["node"] = "egress", "ingress"
    assert resolve(turned)["flows"][0]["label"] == "10.9.0.2 - 10.9.0.1", "the ingress sends data"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"address": "10.9.0"}, "live[0].address"),
        ({"address": "127.0.0.1"}, "live[0].address"),
        ({"address": "10.9.0.2"}, "live[1].address"),
        ({"node": "nowhere"}, "live[0].node"),
        ({"node": "egress"}, "live"),
        ({"command": []}, "live[0].command"),
        ({"command": [""]}, "live[0].command"),
        ({"start": "21 s"}, "live[0].start"),
        ({"environment": ["PORT"]}, "live[0].environment"),
        ({"sysctls": ["kernel.panic=1"]}, "live[0].sysctls"),
        ({"sysctls": ["net.../../x=1"]}, "live[0].sysctls"),
        ({"congestion_control": "a b"}, "live[0].congestion_control"),
        ({"mtu": "100 B"}, "live[0].mtu"),
    ],
)
def test_a_mistake_is_named_with_its_field(burstlab, tmp_path, change, path):
    document = scenario()
    document["live"][0] |= change
    answer = burstlab("live", written(tmp_path, document))
    assert answer.status == 2
    assert answer.err.startswith(f"error: {path}"), answer.err
    assert "\n  fix: " in answer.err


def test_what_is_missing_is_said(burstlab, tmp_path, monkeypatch):
    path = written(tmp_path, scenario())
    assert "burstlab live" in burstlab("run", path).err
    assert burstlab("run", path).status == 2
    with pytest.raises(InputError, match="run\\.replications"):
        run(scenario(run={"replications": 2}))
    absent = scenario()
    absent["live"][0]["command"] = ["no-such-program"]
    answer = burstlab("live", written(tmp_path, absent))
    assert (answer.status, "no such program" in answer.err) == (2, True)
    path = written(tmp_path, scenario())
    wrong = burstlab("live", path, "--kernel", sys.executable)
    assert (wrong.status, "wrong kernel" in wrong.err) == (2, True)
    monkeypatch.setenv(kernels.VARIABLE, str(tmp_path / "none"))
    for flags in (["--clock", "virtual"], ["--kernel", "6.1"]):
        answer = burstlab("live", path, *flags)
        assert answer.status == 2
        assert "kernel" in answer.err
        assert "fix: " in answer.err
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "only root may do" in burstlab("live", path, "--clock", "wall").err
    # Root has the wall clock too, and is not given it unasked.
    for user in (1000, 0):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        answer = burstlab("live", path)
        assert (answer.status, "no kernel was built" in answer.err) == (2, True)
        assert "fix: burstlab kernel build" in answer.err and "--clock wall" in answer.err
    listed = burstlab("kernel", "list")
    assert (listed.status, "no kernel was built" in listed.out) == (0, True)
    nothing = burstlab("kernel", "build", "--source", tmp_path / "nothing")
    assert nothing.status == 2


def test_what_a_killed_build_left_is_removed_and_what_goes_on_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv(kernels.VARIABLE, str(tmp_path))
    monkeypatch.setattr(kernels, "missing", list)
    left, other = tmp_path / ".build-killed", tmp_path / ".build-other"
    (left / "source").mkdir(parents=True)
    other.mkdir()
    here = tmp_path / "source"
    here.mkdir()
    held = os.open(other, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with pytest.raises(InputError, match="no source of Linux"):
            kernels.build(here, jobs=1, progress=None)
    finally:
        os.close(held)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".build-other", "source"]


def kernel_of_shell(tmp_path, code):
    """A program that stands for a kernel: it is started with the same words."""
    image = tmp_path / "linux"
    image.write_text(f"#!/bin/sh\n{code}\n")
    image.chmod(0o700)
    room = tmp_path / "room"
    room.mkdir()
    return virtual.fails(image, room)


def test_a_kernel_that_runs_a_program_passes_its_trial(tmp_path):
    first = 'for word; do case "$word" in init=*) exec "${word#init=}";; esac; done'
    assert kernel_of_shell(tmp_path, first) == []


def test_a_kernel_that_runs_none_is_refused_with_what_it_says(tmp_path):
    console = """
        echo 'userspace - ptrace set fp regs failed, errno = 14'
        for line in $(seq 30); do echo " [<60034d11>] ? unblock_signals+0x0/0xdf"; done"""
    said = kernel_of_shell(tmp_path, console)
    assert said == ["userspace - ptrace set fp regs failed, errno = 14"]


def test_a_source_without_a_place_for_what_is_set_is_refused(tmp_path):
    file = tmp_path / "user-offsets.c"
    file.write_text("\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n")
    kernels.put_number(file, kernels.REGISTERS, 12_288, "the room for registers")
    assert file.read_text() == "\tDEFINE_LONGS(HOST_FP_SIZE, 12288);\n"
    with pytest.raises(InputError, match="no place for the room for registers"):
        kernels.put_number(file, kernels.REGISTERS, 12_288, "the room for registers")
    file.write_text("\t\t\t\t      time_travel_time + delta);\n")
    kernels.put(file, kernels.EXPIRES, kernels.EXPIRED, "the steps of the clock")
    assert file.read_text().strip() == "roundup(time_travel_time + delta, TIMER_MULTIPLIER));"
    with pytest.raises(InputError, match="no place for the steps of the clock"):
        kernels.put(file, kernels.EXPIRES, kernels.EXPIRED, "the steps of the clock")


def test_no_command_of_a_result_runs_without_leave(burstlab, tmp_path):
    resolved = resolve(scenario())
    path = written(tmp_path, resolved)
    refused = burstlab("live", path)
    assert refused.status == 2
    assert "live[0].command" in refused.err
    assert "--allow-code" in refused.err
    # One that looks like a scenario of a user, but lies in a study.
    (tmp_path / "study.json").write_text("{}")
    assert "--allow-code" in burstlab("live", written(tmp_path, scenario())).err


@needs_kernel
def test_programs_run_in_virtual_time_with_the_same_result_twice(burstlab, tmp_path):
    document = scenario(loss={"data": {"process": "script", "bursts": [9]}})
    path = written(tmp_path, document)
    shown = []
    for name in ("one", "two"):
        flags = ["--out", tmp_path / name, "--trace", "packets,cwnd,ledger", "--json"]
        answer = burstlab("live", path, *flags)
        assert answer.status == 0, answer.err
        shown.append(answer.json())
    found = read(tmp_path / "one")
    flow = found.flows.to_pandas().iloc[0]
    assert flow["bytes_delivered"] == 300_000
    assert flow["packets_sent"] == flow["packets_delivered"] + flow["packets_lost"]
    assert flow["packets_lost"] > 0
    rows = found.ledger.to_pandas().to_dict("records")
    assert [row["kind"] for row in rows] == ["fast-retransmit"], "a row for the one repair"
    assert (rows[0]["reduction"], rows[0]["lost_bursts"]) == ("one-burst", 1)
    assert rows[0]["lost_packets"] == flow["packets_lost"]
    told_of = shown[0]["flows"][0]
    assert (told_of["fast_retransmits"], told_of["reductions"]["one_burst"]) == (1, 1)
    assert told_of["reductions"]["one_burst_segments"] == rows[0]["cost"] > 0
    losses = found.ledger_losses.to_pandas()
    assert set(losses["burst"]) == {9}, "what was sent again leads back to the lost burst"
    assert len(losses) == flow["packets_lost"]
    assert (tmp_path / "one" / "live" / "10.9.0.2.out").read_text() == "received 300000 bytes\n"
    programs = shown[0]["live"]["programs"]
    assert [(one["status"], one["signal"]) for one in programs] == [(0, None)] * 2
    rows = [
        pq.read_table(tmp_path / name / "live" / "connections.parquet") for name in ("one", "two")
    ]
    assert rows[0].equals(rows[1])
    ack = rows[0].to_pandas().query("event == 'ack'")
    assert ack["cwnd"].min() >= 1
    assert (ack["srtt"].dropna() > 20_000).all(), "no round trip is shorter than the path"
    assert len(found.cwnd.to_pandas()) > 50
    drawn = burstlab("plot", tmp_path / "one", "window", "--out", tmp_path / "window.svg")
    assert drawn.status == 0, drawn.err


@contextmanager
def stopped_now_and_then(directory):
    """Stop the kernel below a directory for some ms, again and again, at no certain times."""
    over = threading.Event()

    def stop():
        drawn = np.random.default_rng()
        while not over.wait(drawn.uniform(0.02, 0.2)):
            for pid in map(int, kernels_now(directory)):
                with suppress(OSError):
                    # Its processes are traced by it, and would tell it of a signal.
                    if "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text():
                        os.kill(pid, signal.SIGSTOP)
                        over.wait(drawn.uniform(0.001, 0.1))
                        os.kill(pid, signal.SIGCONT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        yield
    finally:
        over.set()
        stopper.join()


@needs_kernel
def test_a_run_repeats_to_the_byte_whatever_the_machine_does_meanwhile(
    burstlab, tmp_path, monkeypatch
):
    document = scenario(run={"duration": "1.5 s"}, loss={"data": {"process": "every", "n": 40}})
    document["live"][0] |= {"command": [*BULK, "send", "10.9.0.2", "5001"]}
    document["live"][0]["congestion_control"] = "bbr"
    draws = "import os, random, time; print(os.urandom(9), random.random(), hash('a'), time.time())"
    document["live"].append({"address": "10.9.0.3", "command": program(draws), "start": "20 ms"})
    path = written(tmp_path, document)
    looks = []
    for name in ("one", "another-whose-name-is-longer"):
        out = tmp_path / name
        flags = ["--out", out, "--trace", "packets,cwnd,bursts,ledger"]
        with stopped_now_and_then(tmp_path) if looks else nullcontext():
            answer = burstlab("live", path, *flags)
        assert answer.status == 0, answer.err
        tables = {file.name: pq.read_table(file) for file in sorted(out.rglob("*.parquet"))}
        texts = {file.name: file.read_text() for file in sorted((out / "live").glob("*.out"))}
        looks.append((tables, texts, read(out).replications[0].summary["fingerprint"]))
        monkeypatch.setenv("FILLS_THE_STACK", "x" * 5_000)
    (tables, texts, mark), (tables_again, texts_again, mark_again) = looks
    assert tables["connections.parquet"].num_rows > 1_000
    assert tables.keys() == tables_again.keys()
    for name, table in tables.items():
        assert table.equals(tables_again[name]), name
    assert (texts, mark) == (texts_again, mark_again)
    assert texts["10.9.0.3.out"].startswith("b")


@needs_kernel
def test_what_a_kernel_draws_moves_no_segment_of_cubic(burstlab, tmp_path):
    document = scenario(run={"duration": "0.6 s"})
    document["live"][0]["command"].pop()
    path, looks = written(tmp_path, document), []
    for seed in range(1, 5):
        out = tmp_path / f"{seed}"
        answer = burstlab("live", path, "--seed", seed, "--out", out)
        assert answer.status == 0, answer.err
        looks.append(pq.read_table(out / "live" / "connections.parquet"))
    assert len({table["port"][0].as_py() for table in looks}) > 1, "ports follow from the seed"
    first, *others = (table.drop_columns(["port", "other_port"]) for table in looks)
    for other in others:
        assert other.equals(first)


@needs_kernel
@pytest.mark.parametrize(
    ("code", "status", "shown"),
    [
        ("import os; os.kill(os.getpid(), 9)", 2, "by signal 9"),
        ("raise SystemExit(3)", 1, "with status 3"),
        ("while True: pass", 2, "the run hung: a program has computed"),
        ("open('/proc/sysrq-trigger', 'w').write('c')", 2, "ended before its end"),
    ],
)
def test_programs_that_fail_are_told_and_leave_nothing(burstlab, tmp_path, code, status, shown):
    document = scenario()
    document["live"][0]["command"] = program(f"print('begun', flush=True)\n{code}")
    document["live"][1]["server"] = True
    out = tmp_path / "out"
    # Only a run that hangs takes all of it.
    patience = "5 s" if shown.startswith("the run hung") else "20 s"
    answer = burstlab("live", written(tmp_path, document), "--out", out, "--patience", patience)
    assert answer.status == status, answer.err
    assert shown in answer.err
    assert "fix: " in answer.err
    assert kernels_below(tmp_path) == [], "no process is left"
    assert [one.name for one in out.iterdir() if one.name.startswith(".live")] == []
    assert (out / "live").is_dir(), "the recorded events are kept"


@pytest.mark.slow
@pytest.mark.parametrize(("clock", "needs"), [("virtual", bool(BUILT)), ("wall", True)])
@pytest.mark.parametrize("one", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("flood", [True, False])
def test_a_signal_ends_a_run_and_is_named(tmp_path, one, clock, needs, flood):
    if not needs or (clock == "wall" and not MAY_BE_ROOT):
        pytest.skip("it needs a kernel, or root and /dev/net/tun")
    if clock == "virtual" and not flood:
        pytest.skip("time that nobody uses goes by at once")
    document = scenario(run={"duration": "600 s"})
    loop = "import socket\ns = socket.socket(2, 2)\n"
    loop += "while True: s.sendto(b'x' * 1400, ('10.9.0.2', 9))"
    document["live"][0]["command"] = program(loop) if flood else ["sleep", "600"]
    document["live"][1]["command"] = ["sleep", "600"]
    document["access"]["queue"] = 100
    words = [
        "live",
        str(written(tmp_path, document)),
        "--clock",
        clock,
        "--out",
        str(tmp_path / "o"),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "burstlab", *words], stderr=subprocess.PIPE, text=True
    ) as process:
        begun = time.monotonic()
        while not list(tmp_path.glob("o/.live-*/share")) and time.monotonic() < begun + 60:
            time.sleep(0.1)
        time.sleep(2)
        number = getattr(signal, one)
        process.send_signal(number)
        _, reported = process.communicate(timeout=60)
    assert process.returncode == 128 + number, reported
    assert (
        "interrupted" in reported
        and "ended before its end" not in reported
        and "fix" not in reported
    )
    if "without a result" in reported or "killed" in reported:
        assert "after 0.0% of it" in reported
    else:
        assert read(tmp_path / "o").interrupted
    assert kernels_below(tmp_path) == [], "no process is left"


@needs_kernel
@pytest.mark.parametrize(("waits_for", "least_s"), [("an answer", 3.0), ("acknowledgments", 0.6)])
def test_a_connection_that_the_kernel_gives_up_has_ended(burstlab, tmp_path, waits_for, least_s):
    document = scenario(run={"duration": "60 s"})
    document["live"][0]["sysctls"] = ["net.ipv4.tcp_syn_retries=1", "net.ipv4.tcp_retries2=2"]
    document["live"][0]["command"][-1] = "3000000"
    document["live"][1]["server"] = True
    outage = {"process": "outages", "mean_up": "1 us", "mean_down": "1000 s"}
    if waits_for == "acknowledgments":
        outage = {"process": "script", "bursts": list(range(20, 2000))}
    document["loss"] = {"data": outage}
    out = tmp_path / "out"
    answer = burstlab("live", written(tmp_path, document), "--out", out)
    assert answer.status == 1, answer.err
    (flow,) = read(out).replications[0].summary["flows"]
    assert flow["ended"] == "timed-out"
    assert flow["ended_s"] is not None
    assert least_s < flow["ended_s"] < 20
    assert "flow 0" in answer.err and "sent its data again too often" in answer.err
    assert "TimeoutError" in (out / "live" / "10.9.0.1.err").read_text()
    # The kernel gives up as its program hears of it.
    reported = json.loads((out / "live" / "live.json").read_text())["programs"][0]
    assert flow["ended_s"] == pytest.approx(reported["ended_s"], abs=0.05)


@pytest.mark.slow
@pytest.mark.skipif(not MAY_BE_ROOT, reason="it needs root and /dev/net/tun")
def test_by_the_wall_clock_a_host_that_sends_without_end_stops_nothing(burstlab, tmp_path):
    document = scenario(run={"duration": "2 s"})
    loop = "import socket\ns = socket.socket(2, 2)\n"
    loop += "while True: s.sendto(b'x' * 1400, ('10.9.0.2', 9))"
    document["live"][0] |= {"command": program(loop), "server": True}
    document["live"][1] |= {"command": program("print('went')"), "start": "0.5 s"}
    out = tmp_path / "out"
    answer = burstlab("live", written(tmp_path, document), "--clock", "wall", "--out", out)
    assert answer.status == 0, answer.err
    (flow,) = read(out).replications[0].summary["flows"]
    assert flow["packets_sent"] > 1000
    assert (out / "live" / "10.9.0.2.out").read_text() == "went\n", "its turn came"


def kernels_below(directory):
    """The processes of user-mode kernels below a directory, once those that are killed are gone.

    The files of a crashed kernel go when a busy machine comes to it, which is given 5 s.
    """
    until = time.monotonic() + 5.0
    while (found := kernels_now(directory)) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def kernels_now(directory):
    """The processes of user-mode kernels whose files are below a directory: those of one test."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        place_of = f"uml_dir={directory}/".encode()
        if any(word.startswith(place_of) for word in words):
            found.append(place.parent.name)
    return found


@needs_kernel
def test_a_setting_that_the_kernel_refuses_is_named():
    document = scenario()
    document["live"][1]["sysctls"] = ["net.ipv4.tcp_no_such_thing=1"]
    with pytest.raises(InputError, match=r"live\[1\]\.sysctls.*no such setting"):
        live(document)


@needs_kernel
def test_without_loss_our_cubic_has_the_rate_of_the_kernels():
    document = scenario()
    document["live"][0]["command"][-1] = "6000000"
    found = compare_senders(document, seeds=[1])
    (theirs,), (ours,) = found.kernel["goodput_bps"], found.ours["goodput_bps"]
    assert 10e6 < theirs < 20e6
    assert ours == pytest.approx(theirs, rel=0.005)
    assert found.kernel["retransmissions"] == found.ours["retransmissions"] == [0]
    assert not any(found.kernel[f"reductions_{cause}"] != [0] for cause in CAUSES)


@needs_kernel
def test_the_window_of_the_kernel_is_reduced_for_what_ours_is():
    document = scenario(loss={"data": {"process": "every", "n": 150}})
    document["live"][0]["command"][-1] = "1000000"
    found = compare_senders(document, seeds=[1])
    reduced = {name: (found.kernel[name], found.ours[name]) for name in found.ours}
    assert reduced["reductions_one_burst"][0][0] > 0, "a burst was lost"
    for cause in CAUSES:
        theirs, ours = reduced[f"reductions_{cause}"]
        assert theirs == ours, cause


@pytest.mark.skipif(not MAY_BE_ROOT, reason="it needs root and /dev/net/tun")
def test_by_the_wall_clock_lateness_is_told_and_nothing_is_left(burstlab, tmp_path):
    document = scenario()
    document["live"][0]["start"] = "3 s"
    path = written(tmp_path, document)
    answer = burstlab("live", path, "--clock", "wall", "--out", tmp_path / "out", "--json")
    assert answer.status == 0, answer.err
    shown = answer.json()["live"]
    late = shown["lateness_s"]
    assert 0 <= late["p50"] <= late["p99"] <= late["most"]
    assert shown["late"] == (late["p99"] > running.LATE_S)
    assert answer.json()["flows"][0]["bytes_delivered"] == 300_000
    assert "live0" not in Path("/proc/net/dev").read_text()


@needs_kernel
def test_recorded_connections_are_made_anew():
    chosen = ("reno-tail-004", "vegas-packets-002", "one-cubic-burst-011", "one-dctcp-both-001")
    outcomes = live_linux(LINUX, only=lambda case: case.name in chosen)
    assert len(outcomes) == len(chosen)
    assert [outcome.case.name for outcome in outcomes if not outcome.match] == []
    assert sum(outcome.rows for outcome in outcomes) > 500


@needs_kernel
@pytest.mark.skipif(shutil.which("curl") is None, reason="it needs curl")
def test_a_web_server_answers_curl_over_one_connection_and_over_many(
    burstlab, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    files = [sys.executable, EXAMPLES / "live" / "web_files.py", "out/web", "12"]
    subprocess.run(files, check=True)
    document = to_document(EXAMPLES / "live" / "web.toml", [])
    for client in (1, 3):
        address = document["live"][client - 1]["address"]
        document["live"][client]["command"][-1] = f"http://{address}/[1-12]"
    answer = burstlab("live", written(tmp_path, document), "--out", "result", "--json")
    assert answer.status == 0, answer.err
    sizes = [(tmp_path / "out" / "web" / str(number)).stat().st_size for number in range(1, 13)]
    connects = []
    for address in ("10.9.0.2", "10.9.0.4"):
        lines = (tmp_path / "result" / "live" / f"{address}.out").read_text().splitlines()
        rows = [line.split(",") for line in lines]
        assert [int(row[0]) for row in rows] == sizes
        assert all(float(row[2]) > 0.06 for row in rows), "no file is faster than light"
        connects.append(sum(int(row[1]) for row in rows))
    assert connects == [1, 12]
    received = [flow["bytes_delivered"] for flow in answer.json()["flows"]]
    assert len([one for one in received if one > sum(sizes)]) == 2, "two of four pairs talk"
