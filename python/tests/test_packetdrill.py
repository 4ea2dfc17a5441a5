"""Scripts of packetdrill: the reader, what it refuses, and what a run compares."""

import json
import os
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from burstlab.errors import InputError
from burstlab.oracle.packetdrill import run_scripts
from burstlab.oracle.packetdrill.assertions import check
from burstlab.oracle.packetdrill.events import (
    CallEvent,
    CodeEvent,
    Differs,
    NotModelled,
    PacketEvent,
)
from burstlab.oracle.packetdrill.reading import read_script
from burstlab.oracle.packetdrill.settings import Settings

OWN = Path(str(files("burstlab"))) / "data" / "oracles" / "packetdrill"

DOCS = Path(__file__).parents[2] / "docs"
#: The outcome of each public script, here and with the kernel itself.
PUBLIC = json.loads((Path(__file__).parent / "data" / "packetdrill.json").read_text())["scripts"]

OPEN = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32000 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 300
+0 accept(3, ..., ...) = 4
"""


@pytest.fixture
def outcome(tmp_path):
    def run(text, name="one.pkt"):
        path = tmp_path / name
        path.write_text(text)
        (one,) = run_scripts(path)
        return one

    return run


def test_our_own_scripts_pass(burstlab):
    answer = burstlab("oracle", "--packetdrill", OWN, "--json")
    document = answer.json()
    assert answer.status == 0
    assert [one["outcome"] for one in document["scripts"]] == ["passed"] * 8
    assert all(one["events"] > 5 for one in document["scripts"])
    assert document["features"]["recovery"] == {"passed": 2, "differs": 0, "not modelled": 0}
    assert "8 of 8 scripts pass" in burstlab("oracle", "--packetdrill", OWN).out


@pytest.mark.parametrize("name", sorted(path.stem for path in OWN.rglob("*.pkt")))
def test_a_script_of_ours_is_no_empty_one(name, tmp_path):
    """With a number changed in its last expectation it differs."""
    (path,) = OWN.rglob(f"{name}.pkt")
    script = read_script(path)
    wanted = [e for e in script.events if isinstance(e, PacketEvent) and not e.inbound]
    last = wanted[-1]
    lines = path.read_text().splitlines()
    packet = last.packet
    text = f"{packet.seq}:{packet.seq + packet.length}({packet.length})"
    assert text in lines[last.line - 1]
    other = f"{packet.seq + 7}:{packet.seq + 7 + packet.length}({packet.length})"
    lines[last.line - 1] = lines[last.line - 1].replace(text, other)
    (tmp_path / "x").mkdir()
    (tmp_path / "host.sh").write_text((OWN / "host.sh").read_text())
    (tmp_path / "x" / path.name).write_text("\n".join(lines) + "\n")
    (one,) = run_scripts(tmp_path)
    assert (one.outcome, one.feature) == ("differs", "x")
    assert f"line {last.line}" in one.reason


def test_the_language_is_read(tmp_path):
    path = tmp_path / "one.pkt"
    path.write_text(
        "--tolerance_usecs=9000\n// a comment\n`sysctl -q net.ipv4.tcp_sack=0\n tc qdisc`\n"
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3 // another\n"
        "+.1...0.250 read(4, ..., 2000) = -1 EAGAIN (Resource temporarily unavailable)\n"
        "+.3~+.31 > FP. 1:11(10) ack 5 win 7 <nop,nop,TS val 3 ecr 4,sack 1:2 7:9>\n"
        "* < [ect1] SEW 0:0(0) win 9 <...>\n"
        "+0 sendmsg(4, {msg_name(...)=...,\n  msg_iov(2)=[{..., 3}, {..., 4}], f=0}, 0) = 7\n"
        "+0 %{ assert tcpi_rtt > 0,\\\n tcpi_rtt }%\n"
    )
    script = read_script(path)
    assert script.options == {"tolerance_usecs": "9000"}
    assert "tcp_sack=0" in script.setup
    call, read, sent, syn, message, code = script.events
    assert isinstance(call, CallEvent) and call.arguments[1] == "SOCK_STREAM"
    assert isinstance(read, CallEvent) and (read.returns, read.error) == ("-1", "EAGAIN")
    assert (read.when.start_us, read.when.end_us, read.when.blocks) == (100_000, 250_000, True)
    assert isinstance(sent, PacketEvent) and not sent.inbound
    assert (sent.packet.flags, sent.packet.ack, sent.packet.window) == ("FP", 5, 7)
    assert sent.when.end_us == 310_000 and not sent.when.blocks
    assert [option.name for option in sent.packet.options or ()] == ["nop", "nop", "TS", "sack"]
    assert isinstance(syn, PacketEvent) and syn.when.kind == "any"
    assert (syn.packet.ecn, syn.packet.flags, syn.packet.options) == ("ect1", "ESW", None)
    assert isinstance(message, CallEvent) and len(message.arguments) == 3
    assert isinstance(code, CodeEvent) and code.line == 11


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no event"),
        ("hello world\n", "does not begin with a time"),
        ("+0 > P. 1:9(7) ack 1\n", "wrong length"),
        ("+0 > no packet\n", "is no packet"),
        ("+0 %{ assert 1\n", "does not end"),
        ("+0 write(4, ..., 5\n", "do not end"),
        ("+0 write(4, ..., 5)\n", "returns nothing"),
        ("{}\n", "does not begin with a time"),
    ],
)
def test_a_file_that_is_none_is_refused(burstlab, tmp_path, text, says):
    path = tmp_path / "one.pkt"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        run_scripts(path)
    answer = burstlab("oracle", "--packetdrill", path)
    assert answer.status == 2
    assert "one.pkt" in answer.err and "fix:" in answer.err and "Traceback" not in answer.err


def test_a_directory_without_scripts_is_refused(burstlab, tmp_path):
    answer = burstlab("oracle", "--packetdrill", tmp_path)
    assert answer.status == 2 and "no file *.pkt" in answer.err
    answer = burstlab("oracle", tmp_path, "--packetdrill", OWN)
    assert answer.status == 2 and "--packetdrill" in answer.err
    assert burstlab("oracle").status == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("`sysctl -q net.ipv4.tcp_fwmark_accept=1`\n" + OPEN, "tcp_fwmark_accept"),
        ("`tc qdisc replace dev tun0 root pfifo limit 0`\n" + OPEN, "takes no packet"),
        ("`rm -rf /`\n" + OPEN, "the shell line 'rm -rf /'"),
        (OPEN + "+0 epoll_create(1) = 5\n", "epoll_create"),
        (OPEN + "+0 > . 1:1(0) ack 1 <md5 00>\n", "md5"),
        (OPEN + "+0 %{ assert tcpi_snd_wnd == 1 }%\n", "tcpi_snd_wnd"),
        (OPEN + "+0 %{ import os }%\n", "import os"),
        (OPEN + "+0 %{ open('x') }%\n", "open"),
        ("--unheard_of=3\n" + OPEN, "unheard_of"),
    ],
)
def test_what_the_model_has_not_is_said_and_is_no_pass(outcome, text, says):
    one = outcome(text)
    assert one.outcome == "not modelled"
    assert says in one.reason


def test_a_script_alone_that_is_not_modelled_is_no_success(burstlab, tmp_path):
    (tmp_path / "one.pkt").write_text(OPEN + "+0 epoll_create(1) = 5\n")
    answer = burstlab("oracle", "--packetdrill", tmp_path)
    assert answer.status == 1
    assert "0 of 1 scripts pass" in answer.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("+0 write(4, ..., 1000) = 999\n", "write() returns 1000, not 999"),
        ("+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n", "P. 1:1001(1000)"),
        ("+0 write(4, ..., 1000) = 1000\n+.1 > P. 1:1001(1000) ack 1\n", "leaves at 0.100002 s"),
        ("+0 > P. 1:1001(1000) ack 1\n", "nothing leaves"),
        ("+0 read(4, ..., 10) = 10\n", "has to wait"),
        ("+0...0.100 read(4, ..., 10) = 10\n", "does not return"),
        ("+0 %{ assert tcpi_snd_cwnd == 3, tcpi_snd_cwnd }%\n", "tcpi_snd_cwnd is 10"),
        ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [900], [4]) = 0\n", "is 1000, not 900"),
        ("+0 < P. 1:11(10) ack 1 win 9\n+0 > . 1:1(0) ack 12\n", "ack 11 leaves"),
    ],
)
def test_a_difference_names_line_and_both_sides(outcome, text, says):
    one = outcome(OPEN + text)
    assert one.outcome == "differs"
    assert says in one.reason and one.reason.startswith("line ")


def test_a_call_that_waits_returns_when_it_may(outcome):
    waits = OPEN + "+0...0.300 read(4, ..., 10) = 10\n+.2 < P. 1:11(10) ack 1 win 300\n"
    assert outcome(waits).outcome == "passed" or "returns at" in outcome(waits).reason
    late = waits.replace("0...0.300", "0...0.500")
    assert "returns at" in outcome(late).reason


def test_nothing_of_a_shell_line_is_run(outcome, tmp_path):
    there = tmp_path / "there"
    one = outcome(f"`touch {there}`\n" + OPEN)
    assert one.outcome == "not modelled"
    assert not there.exists()


def test_settings_come_from_shell_lines(tmp_path):
    (tmp_path / "more.sh").write_text("sysctl -q net.ipv4.tcp_sack=0\n# a comment\n")
    settings = Settings()
    settings.read(
        './more.sh\nsysctl -q net.ipv4.tcp_rmem="4096 1 $((3*1024))"\n'
        "x.py /proc/sys/net/ipv4/tcp_min_tso_segs=7 \\\n /proc/sys/net/ipv4/tcp_recovery=0",
        tmp_path,
    )
    assert (settings.sack, settings.rack, settings.group_least) == (False, False, 7)
    assert settings.receive_most == 3072
    with pytest.raises(NotModelled, match="not there"):
        settings.read("./other.sh", tmp_path)


def test_assertions_know_a_small_part_of_python():
    state, variables = {"tcpi_rtt": 7, "two": 2}, {}
    check("x = tcpi_rtt * two; x += 1", state, variables)
    assert variables == {"x": 15}
    check("assert 1 < x <= 15 and not x == 3, 'x=%d' % x", state, variables)
    with pytest.raises(Differs, match="tcpi_rtt is 7"):
        check("assert tcpi_rtt == 8", state, variables)
    for text in (
        "__import__('os')",
        "assert (lambda: 1)()",
        "assert x.real",
        "assert 1 / 0",
        "a b",
    ):
        with pytest.raises(NotModelled):
            check(text, state, variables)


def test_the_matrix_tells_features_by_folder_and_by_name(tmp_path):
    text = OPEN + "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1\n"
    (tmp_path / "sack").mkdir()
    (tmp_path / "sack" / "one.pkt").write_text(text)
    (tmp_path / "tcp_slow_start_some-name.pkt").write_text(text)
    found = {one.script: one.feature for one in run_scripts(tmp_path)}
    assert found == {"sack/one.pkt": "sack", "tcp_slow_start_some-name.pkt": "slow_start"}
    assert json.dumps([one.to_json() for one in run_scripts(tmp_path)])


def test_the_page_counts_the_outcomes_that_are_kept():
    found: dict[str, Counter[str]] = {}
    for name, one in PUBLIC.items():
        for row in (name.split("/")[0].replace("_", " "), "all"):
            counts = found.setdefault(row, Counter(scripts=0, linux=0, here=0))
            counts["scripts"] += 1
            if one["linux"] == "passed":
                counts["linux"] += 1
                counts["here"] += one["outcome"] == "passed"
    page = (DOCS / "models" / "packetdrill.md").read_text()
    row = r"^\| \**([a-z0-9 ]+?)\** (?:\(.*\) )?\| (\d+) \| (\d+) \| (\d+) \|"
    rows = re.findall(row, page, re.M)
    shown = {name: tuple(map(int, counts)) for name, *counts in rows}
    assert shown.pop("congestion and recovery") == (33, 29, 26)
    assert shown == {row: tuple(counts.values()) for row, counts in found.items()}


@pytest.mark.skipif("PACKETDRILL" not in os.environ, reason="PACKETDRILL names no directory")
def test_the_public_scripts_come_out_as_they_are_kept():
    found = {one.script: one for one in run_scripts(os.environ["PACKETDRILL"])}
    kept = {name: (one["outcome"], one["reason"]) for name, one in PUBLIC.items()}
    assert {name: (found[name].outcome, found[name].reason) for name in kept} == kept


@pytest.mark.parametrize(
    ("calls", "flags"),
    [
        ("+0 send(4, ..., 1100, MSG_MORE) = 1100\n", "."),
        ("+0 send(4, ..., 1000, MSG_MORE) = 1000\n", "."),
        ("+0 send(4, ..., 1000, 0) = 1000\n", "P."),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n+0 write(4, ..., 1100) = 1100\n", "."),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n+0 write(4, ..., 1000) = 1000\n", "P."),
    ],
)
def test_a_segment_pushes_where_its_call_ends_and_announces_no_more(outcome, calls, flags):
    assert outcome(OPEN + calls + f"+0 > {flags} 1:1001(1000) ack 1\n").outcome == "passed"


def test_so_much_that_all_has_to_go_is_pushed_though_more_is_announced(outcome):
    """Half the receiver's window was written since the last push (`forced_push`)."""
    window = "+.1 < . 1:1(0) ack 1 win 300\n"
    assert window in OPEN
    small = OPEN.replace(window, "+.1 < . 1:1(0) ack 1 win 23\n")
    call = "+0 send(4, ..., 1000, MSG_MORE) = 1000\n"
    calls = call + "+0 > . 1:1001(1000) ack 1\n" + call + "+0 > P. 1001:2001(1000) ack 1\n"
    assert outcome(small + calls).outcome == "passed"
    assert outcome(OPEN + calls).outcome == "differs"


def test_the_kept_record_shows_its_commit():
    document = json.loads((Path(__file__).parent / "data" / "packetdrill.json").read_text())
    page = (DOCS / "models" / "packetdrill.md").read_text()
    assert f"commit {document['commit']}" in page
