"""How a run of live hosts is watched: what computes is alive, and what never stops is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from burstlab import errors
from burstlab.live import running, wall, watching


def run(tmp_path, code, patience_s):
    """Watch a program; return what it is ended with, and how long that took, in s."""
    begun = time.monotonic()
    try:
        watching.watched([sys.executable, "-c", code], tmp_path, os.environ, patience_s, None)
    except (watching.Hung, watching.Printed) as end:
        return end, time.monotonic() - begun
    return None, time.monotonic() - begun


def test_what_computes_has_longer_than_what_waits(tmp_path):
    waits, seconds = run(tmp_path, "import time; time.sleep(60)", 4)
    assert isinstance(waits, watching.Hung) and not waits.computes and seconds < 15
    assert "no processor time" in str(running.too_long(waits))
    code = "import time\nend = time.process_time() + 3\nwhile time.process_time() < end: pass"
    ended, _ = run(tmp_path, code, 2.5)
    assert ended is None, "it ends by itself"


def test_the_processor_time_of_children_counts():
    code = "import os\nwhile os.times().user < 0.5: pass\ninput()"
    words = [
        sys.executable,
        "-c",
        f"import subprocess; subprocess.run({[sys.executable, '-c', code]})",
    ]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while watching.processor_s(process.pid) < 0.5 and time.monotonic() < until:
            time.sleep(0.1)
        assert watching.processor_s(process.pid) >= 0.5
        process.communicate(b"\n")


def test_what_prints_without_end_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "MOST_PRINTED", 1000)
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "10.9.0.1.out").write_bytes(bytes(2000))
    ended, _ = run(tmp_path, "import time; time.sleep(60)", 20)
    assert isinstance(ended, watching.Printed) and str(ended) == "10.9.0.1.out"


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("import time; time.sleep(60)", "did not end within 0.5 s of the signal, and was killed"),
        ("import os\nwhile not os.path.exists('stop'): pass", "ended without a result"),
        ("import os\nwhile not os.path.exists('stop'): pass\nopen('done.json', 'w')", None),
    ],
)
def test_a_run_that_a_signal_stops_says_so(tmp_path, monkeypatch, code, reported):
    monkeypatch.setattr(watching, "_GRACE_S", 0.5)
    code = f"import os; os.chdir({str(tmp_path)!r})\n{code}"
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        if reported is None:
            assert run(tmp_path, code, 30)[0] is None, "it has ended as it was asked to"
        else:
            with pytest.raises(KeyboardInterrupt) as stopped:
                run(tmp_path, code, 30)
            assert f"{reported} after 0.0% of it; nothing was kept" in str(stopped.value)
    finally:
        timer.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="others are refused before")
def test_a_capability_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(wall, "_allowed", lambda: ~(1 << 12))
    with pytest.raises(errors.InputError, match="CAP_NET_ADMIN") as refused:
        wall.refuse()
    assert "--cap-add NET_ADMIN" in str(refused.value)
