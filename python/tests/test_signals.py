"""SIGINT, SIGTERM and SIGHUP end each command soon, and leave nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import numpy
import pytest

from burstlab.page import exporting
from burstlab.storage import sums

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: Time on processors that may go by from the signal to the end, in s: half a second is wanted, and
#: a machine that does other work takes up to twice as long for the same instructions.
SOON_S = 1.0

LONG = """
[network]
topology = "nsfnet"
[[flows]]
from = "1"
to = "2"
[[flows]]
from = "3"
to = "2"
[edge]
assembly = "timer"
timer = "5 ms"
[run]
duration = "100000 s"
"""

LAW = """
class Loop:
    def on_ack(self, event):
        while True:
            pass

class Stubborn:
    def on_ack(self, event):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
"""


def _work_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _works(process: int) -> bool:
    """Whether a process is there, and is no remainder that nobody has asked about."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _usual() -> None:
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@contextmanager
def _started(*words: object, where: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "burstlab", *map(str, words)]
    (where / "tmp").mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(where / "tmp"), **env}
    with (where / "said").open("wb") as said, subprocess.Popen(
        command, cwd=where, env=env, stdout=said, stderr=said, preexec_fn=_usual
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            with suppress(OSError):
                process.kill()


def _ended(process: subprocess.Popen[bytes], one: int, after_s: float) -> tuple[int, float]:
    """Send a signal once a process has worked so long; return its status, and the work it took."""
    deadline = time.monotonic() + 240
    while _work_s(process.pid) < after_s:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    before_s = _work_s(process.pid)
    process.send_signal(one)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime - before_s


def _files(where: Path) -> list[str]:
    return sorted(str(one.relative_to(where)) for one in (where / "tmp").rglob("*"))


ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("one", "status"), ENDS)
def test_a_run_keeps_what_is_done(tmp_path, one, status):
    (tmp_path / "long.toml").write_text(LONG)
    with _started("run", "long.toml", "--out", "out", where=tmp_path) as process:
        ended, work_s = _ended(process, one, 1.5)
    said = (tmp_path / "said").read_text()
    assert (ended, "Traceback" in said) == (status, False), said
    assert "interrupted: the numbers cover only the part that was done" in said
    assert work_s < SOON_S
    assert (tmp_path / "out" / "summary.json").is_file()


PLAN = """
[scenario.run]
duration = "2000000 s"
[grid]
"tcp.window" = [10, 20]
"""

#: Commands by their long phases, with the work after which a signal comes.
PHASES = [
    (("run", "long.toml", "--replications", "3", "--json"), 1.5),
    (("what-if", "long.toml", "--kill", "100000000"), 1.5),
    (("blame", "long.toml", "--out", "prices"), 1.5),
    (("size", "long.toml", "--for", "burst loss < 1e-3", "--over", "tcp.window=1..3"), 1.5),
    (("check", "long.toml", "--ties"), 1.5),
    (("view", "long.toml", "--no-open"), 2.0),
    (("play", "flow.toml", "--no-open"), 2.5),
    (("study", "plan.toml", "--out", "study"), 1.5),
    (("reproduce", "lu-hunter/fig8", "--full", "--out", "out"), 2.0),
]


@pytest.mark.parametrize(("words", "after_s"), PHASES, ids=lambda one: str(one)[:14])
def test_each_long_phase_hears_sigterm(tmp_path, words, after_s):
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "flow.toml").write_text("[run]\nduration = '2000000 s'\n[tcp]\nwindow = 3\n")
    with _started(*words, where=tmp_path) as process:
        status, work_s = _ended(process, signal.SIGTERM, after_s)
    said = (tmp_path / "said").read_text()
    assert (status, "Traceback" in said) == (143, False), said
    assert work_s < SOON_S
    assert _files(tmp_path) == []


@pytest.mark.parametrize("after_s", [0.6, 1.2])
def test_a_long_file_of_a_network_hears_sigterm(tmp_path, after_s):
    """It is read first, and then looked at."""
    nodes = [{"id": f"n{number}"} for number in range(100_000)]
    links = [
        {"source": one["id"], "target": other["id"], "length_km": 1}
        for one, other in pairwise(nodes)
    ]
    document = {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": links}
    (tmp_path / "long.json").write_text(json.dumps(document))
    with _started("topology", "long.json", where=tmp_path) as process:
        status, work_s = _ended(process, signal.SIGTERM, after_s)
    said = (tmp_path / "said").read_text()
    assert (status, "Traceback" in said) == (143, False), said
    assert work_s < SOON_S


@pytest.mark.parametrize(("one", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_a_page_ends(tmp_path, one, status):
    with _started("demo", "--no-open", where=tmp_path) as process:
        while b"Ctrl-C ends it" not in (tmp_path / "said").read_bytes():
            assert process.poll() is None
            time.sleep(0.05)
        ended, work_s = _ended(process, one, 0.0)
    assert (ended, _files(tmp_path)) == (status, [])
    assert work_s < SOON_S


@pytest.mark.parametrize("name", ["Loop", "Stubborn"])
def test_a_class_that_never_returns_is_left(tmp_path, name):
    (tmp_path / "law.py").write_text(LAW)
    (tmp_path / "law.toml").write_text(
        "[tcp]\nwindow_law = 'python'\ninitial_ssthresh = 2\n"
        f"window_law_class = {{ file = 'law.py', class = '{name}' }}\n"
    )
    with _started("run", "law.toml", "--out", "out", where=tmp_path) as process:
        status, work_s = _ended(process, signal.SIGINT, 1.0)
    assert status == 130 and work_s < SOON_S
    assert (tmp_path / "out" / "summary.json").is_file() == (name == "Loop")


LEAVES_A_THREAD = """
import threading, time

class Leaves:
    def __init__(self):
        threading.Thread(target=time.sleep, args=(60,)).start()

    def on_ack(self, event):
        return 4
"""


@pytest.mark.parametrize(("one", "status"), ENDS)
def test_a_thread_that_a_class_leaves_ends_by_a_signal(tmp_path, one, status):
    (tmp_path / "law.py").write_text(LEAVES_A_THREAD)
    (tmp_path / "law.toml").write_text(
        "[tcp]\nwindow_law = 'python'\ninitial_ssthresh = 2\n"
        "window_law_class = { file = 'law.py', class = 'Leaves' }\n[run]\nduration = '1 s'\n"
    )
    with _started("run", "law.toml", "--out", "out", where=tmp_path) as process:
        # The command is done once it has said so and works no more; Python waits for the thread.
        done, before_s = False, 0.0
        while not done:
            assert process.poll() is None
            before_s = _work_s(process.pid)
            time.sleep(0.5)
            said = (tmp_path / "said").read_bytes()
            done = b"out" in said and _work_s(process.pid) == before_s
        ended, work_s = _ended(process, one, 0.0)
    said = (tmp_path / "said").read_text()
    assert (ended, "Traceback" in said) == (status, False), said
    assert work_s < SOON_S


def test_the_numbers_of_many_flows_do_not_hold_the_end_up(tmp_path):
    """The run itself is at its end at once; to read, to write and to print what it says is not."""
    text = "[[flows]]\ncount = 65535\nstart = '3 s'\n[run]\nduration = '3 ms'\n"
    (tmp_path / "many.toml").write_text(text)
    with _started("run", "many.toml", "--out", "out", where=tmp_path) as process:
        status, work_s = _ended(process, signal.SIGINT, 1.2)
    assert status == 130, (tmp_path / "said").read_text()
    assert work_s < 3 * SOON_S  # it is said by then that it was heard


def _heard_within(work: Callable[[], object]) -> tuple[float, float]:
    """Return what a piece of work takes, and what goes by from a signal in it to its end."""

    def heard(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    start_s = time.process_time()
    work()
    whole_s = time.process_time() - start_s
    before = signal.signal(signal.SIGVTALRM, heard)
    # A tenth of it, of the processor time that this process has.
    signal.setitimer(signal.ITIMER_VIRTUAL, whole_s / 10)
    start_s = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return whole_s, time.process_time() - start_s


def test_a_long_document_is_read_and_sealed_by_calls_that_hear_signals():
    flow = {f"number{at}": at / 7 for at in range(40)}
    text = json.dumps({"flows": [flow] * 20_000})
    assert sums.heeding(text) == json.loads(text)
    whole_s, heard_s = _heard_within(lambda: sums.heeding(text))
    assert heard_s < whole_s / 2


def test_a_page_iscompressed_by_calls_that_hear_signals():
    content = numpy.random.default_rng(1).bytes(5_000_000)
    assert exporting.compressed(content) == gzip.compress(content, mtime=0)
    assert exporting.compressed(b"") == gzip.compress(b"", mtime=0)
    whole_s, heard_s = _heard_within(lambda: exporting.compressed(content))
    assert heard_s < whole_s / 2


def test_a_second_sigterm_asks_for_nothing_more(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    with _started("run", "long.toml", "--out", "out", where=tmp_path) as process:
        while _work_s(process.pid) < 1.0:
            time.sleep(0.01)
        for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
            process.send_signal(one)
        assert process.wait(60) in (129, 143)  # whichever Python takes first
    assert (tmp_path / "out" / "summary.json").is_file()


def test_nohup_is_heeded(tmp_path):
    (tmp_path / "one.toml").write_text("[run]\nduration = '2000000 s'\n[tcp]\nwindow = 3\n")
    shell = f"trap '' HUP; exec {sys.executable} -m burstlab run one.toml --out out"
    with subprocess.Popen(["bash", "-c", shell], cwd=tmp_path, preexec_fn=_usual) as process:
        while _work_s(process.pid) < 0.5:
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        alive = process.poll() is None
        process.terminate()
        assert alive and process.wait(60) == 143


MAKE = """#!/bin/bash
[ "${!#}" = linux ] || exit 0
mkdir -p "$2/objects"; for n in $(seq 300); do echo $n > "$2/objects/$n"; done
sleep 600 & sleep 600 &
echo $! $$ > "$STARTED"; wait
"""


@pytest.mark.parametrize(("one", "status"), ENDS)
def test_the_build_of_a_kernel_leaves_nothing(tmp_path, one, status):
    source = tmp_path / "source"
    from burstlab.live import kernels

    texts = {
        "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
        "arch/x86/um/user-offsets.c": "\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n",
        "arch/um/os-Linux/util.c": "\treturn getrandom(buf, len, flags);\n",
        "drivers/char/random.c": "\tblake2s_update(&input_pool.hash, buf, len);\n",
        "arch/um/kernel/time.c": "\t\ttime_travel_time + delta);\n",
        "init/do_mounts.c": "int root_mountflags = MS_RDONLY | MS_SILENT;\n",
        "scripts/config": "#!/bin/bash\n",
    }
    for name, text in texts.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "scripts/config").chmod(0o755)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in kernels.TOOLS:
        (tools / name).write_text(MAKE if name == "make" else "#!/bin/bash\n")
        (tools / name).chmod(0o755)
    env = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "BURSTLAB_KERNELS": str(tmp_path / "kernels"),
        "STARTED": str(tmp_path / "started"),
    }
    words = ("kernel", "build", "--source", source)
    with _started(*words, where=tmp_path, **env) as process:
        while not re.fullmatch(
            r"\d+ \d+\n",
            (tmp_path / "started").read_text() if (tmp_path / "started").exists() else "",
        ):
            assert process.poll() is None, (tmp_path / "said").read_text()
            time.sleep(0.02)
        ended, work_s = _ended(process, one, 0.0)
    assert ended == status and work_s < SOON_S
    assert list((tmp_path / "kernels").iterdir()) == []
    # A process that was killed is there until the kernel has taken it down.
    latest = time.monotonic() + 10
    for number in map(int, (tmp_path / "started").read_text().split()):
        while _works(number):
            assert time.monotonic() < latest, "a process of the build goes on"
            time.sleep(0.02)
