"""Window laws in Python with the sender of Linux: rates, marks, pacing and timers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from code_on_pages import bare, blocks

import burstlab as bl

LAWS = Path(__file__).parent / "laws" / "of_linux.py"
EXAMPLES = Path(__file__).parents[2] / "examples"

#: 10 Mb/s and some 22 ms of round trip.
PATH: dict[str, Any] = {
    "network": {"topology": "path", "core_nodes": 1, "link_rate": "10 Gb/s"},
    "access": {"rate": "10 Mb/s", "delay": "1 ms"},
    "edge": {"assembly": "none"},
    "tcp": {"profile": "linux", "receive_buffer": "16 MB", "receive_buffer_max": "16 MB"},
    "run": {"duration": "6 s"},
}
LOSSY: dict[str, Any] = {
    **PATH,
    "edge": {"assembly": "timer", "timer": "3 ms"},
    "loss": {
        "data": {"process": "bernoulli", "probability": 0.01},
        "ack": {"process": "bernoulli", "probability": 0.01},
    },
    "run": {"duration": "20 s", "replications": 3},
}


def having(scenario: dict[str, Any], **tcp: Any) -> dict[str, Any]:
    return {**scenario, "tcp": {**scenario["tcp"], **tcp}}


def law(name: str, file: Path = LAWS, **options: Any) -> dict[str, Any]:
    named = {"file": str(file), "class": name, "options": options}
    return {"window_law": "python", "window_law_class": named}


def written(tmp_path: Path, body: str, name: str = "Mine") -> dict[str, Any]:
    """Return the fields of a law whose methods are these lines."""
    file = tmp_path / "mine.py"
    file.write_text(f"class {name}:\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    return law(name, file)


def events(result: bl.Result) -> list[int]:
    return [one.summary["counters"]["events"] for one in result.replications]


@pytest.mark.parametrize("sack", [True, False])
def test_reno_written_out_is_reno_built_in(sack):
    built_in = bl.run(having(LOSSY, window_law="aimd", sack=sack))
    ours = bl.run(having(LOSSY, sack=sack, **law("Reno")))
    assert [one.summary["flows"] for one in ours.replications] == [
        one.summary["flows"] for one in built_in.replications
    ]
    # Of its packets each is an event: a class is never ahead of the clock.
    assert min(np.subtract(events(ours), events(built_in))) > 0


def test_a_class_without_methods_of_its_own_is_reno_too(tmp_path):
    ours = bl.run(
        having(LOSSY, **written(tmp_path, "def on_loss(self, event):\n    return event.window / 2"))
    )
    built_in = bl.run(having(LOSSY, window_law="aimd"))
    assert list(ours.flows["goodput_bps"]) == list(built_in.flows["goodput_bps"])


def test_a_paced_class_sends_evenly():
    result = bl.run(having(PATH, **law("Paced")), trace=("packets",))
    packets = result.packets.to_arrow().to_pydict()
    pairs = zip(packets["kind"], packets["sent_ps"], strict=True)
    sent = np.array(sorted(at for kind, at in pairs if kind == "data")[30:])
    gaps = np.diff(sent) / 1e9
    # 1448 bytes of data at 5 Mb/s: 2.3168 ms.
    payload = 5e6 * np.median(gaps) / 8e3
    assert payload == pytest.approx(1448, abs=1)
    assert np.ptp(gaps) < 1e-4, "to the nanosecond"
    assert result.flows["goodput_bps"][0] == pytest.approx(5e6, rel=0.02)


def waiting(result: bl.Result) -> Any:
    """Return the ms that packets waited for the access link, beyond the first second."""
    packets = result.packets.to_arrow().to_pydict()
    pairs = zip(packets["kind"], packets["sent_ps"], packets["ingress_ps"], strict=True)
    waits = [(there - sent) / 1e9 - 2.2 for kind, sent, there in pairs if kind == "data" and there]
    return np.array(waits[len(waits) // 3 :])


def test_a_law_by_marks_keeps_the_queue_near_the_threshold():
    marking = {**PATH, "access": {**PATH["access"], "marking": {"above": "30 KB"}}}
    ours = bl.run(having(marking, ecn=True, **law("Dctcp")), trace=("packets",))
    # 30 KB take 24 ms.
    waits = waiting(ours)
    assert 12 < np.median(waits) < 36
    assert np.quantile(waits, 0.99) < 48
    assert ours.replications[0].summary["counters"]["packets_lost"] == 0
    built_in = bl.run(having(marking, window_law="dctcp"), trace=("packets",))
    assert np.median(waits) == pytest.approx(np.median(waiting(built_in)), abs=6)


def test_a_timer_fires_at_its_time_and_opens_the_window():
    result = bl.run(having(PATH, **law("Timed", most=60)), trace=("cwnd",))
    cwnd = result.cwnd.to_arrow().to_pydict()["cwnd"]
    assert max(cwnd) == 60
    assert {17, 24, 31} <= {round(one) for one in cwnd}


def test_the_page_shows_the_example_as_it_is(root):
    example = bare((EXAMPLES / "laws/rate.py").read_text())
    assert example in blocks(root / "docs/howto/python-control.md")


def test_the_example_by_rate_fills_a_link_that_loses():
    rate = law("Rate", EXAMPLES / "laws" / "rate.py")
    found = bl.run(having(LOSSY, **rate)).flows["goodput_bps"].mean()
    cubic = bl.run(having(LOSSY, window_law="cubic")).flows["goodput_bps"].mean()
    assert found > 7e6 and found > 1.5 * cubic


@pytest.mark.parametrize(
    ("body", "stated"),
    [
        ("def pacing_rate(self, event):\n    return -1", "Mine.pacing_rate: it answered -1"),
        ("def pacing_rate(self, event):\n    return float('inf')", "above 0 and finite, or None"),
        ("def pacing_rate(self, event):\n    return 'fast'", "it answered 'fast'"),
        ("def pacing_rate(self, event):\n    return True", "it answered True"),
        (
            "def next_timer(self, event):\n    return -0.1\ndef on_timer(self, event):\n    pass",
            "Mine.next_timer: it answered -0.1, and seconds from now",
        ),
        (
            "def next_timer(self, event):\n    return 1e-4\n"
            "def on_timer(self, event):\n    return 'x'",
            "Mine.on_timer: it answered 'x', and a number of segments",
        ),
        ("def next_timer(self, event):\n    return 1", "Mine has next_timer and no on_timer"),
        ("def on_timer(self, event):\n    return 1", "Mine has on_timer and no next_timer"),
        ("def on_marks(self, event):\n    return 1", "did you mean on_mark?"),
    ],
)
def test_what_a_class_must_not_answer_is_told(tmp_path, body, stated):
    with pytest.raises(bl.ControlError) as error:
        bl.run(having(PATH, **written(tmp_path, body)))
    assert stated in str(error.value), error.value


@pytest.mark.parametrize("name", ["Paced", "Timed"])
def test_only_the_sender_of_linux_paces_and_has_timers(name):
    with pytest.raises(bl.ControlError, match='only the variant "linux" asks it') as error:
        bl.run({**PATH, "tcp": law(name)})
    assert 'variant = "linux"' in str(error.value)


def test_a_law_is_compared_on_the_sender_that_it_needs():
    marking = {**LOSSY, "run": {"duration": "5 s"}}
    ours = f"{LAWS}:Paced"
    found = bl.compare(["cubic", "bbr", ours, f"{LAWS}:Reno"], marking, replications=2)
    for name in found.names:
        assert bl.resolve(found.study.scenario(0, name))["tcp"]["variant"] == "linux"
    alone = bl.compare(["sack", ours], {**marking, "tcp": {}}, replications=1)
    assert bl.resolve(alone.study.scenario(0, "Paced"))["tcp"]["variant"] == "linux"
