"""Three questions from trackers of QUIC stacks, answered by runs: docs/howto/questions.md.

Usage: python examples/questions.py [QUESTION]; prints a line of CSV for each run. Needs an engine
with the stacks: make stacks. The lines are those of the example of this name of burstlab-net, in
Rust.
"""

import sys
from collections.abc import Iterator
from typing import Any

import burstlab as bl

SEEDS = range(1, 6)
SENDERS = (
    ("quinn", "cubic"),
    ("noq", "cubic"),
    ("noq", "bbr3"),
    ("quinn", "new-reno"),
    ("quinn", "bbr"),
)


def path(rate: str, delay: str, timer: str, queue: int) -> dict[str, Any]:
    """Return a path of two core nodes on which nothing is lost."""
    return {
        "network": {"core_nodes": 2, "link_rate": "10 Gb/s", "link_delay": delay},
        "access": {"rate": rate, "delay": "0.5 ms", "queue": queue},
        "edge": {"assembly": "timer", "timer": timer},
        "run": {"duration": "60 s"},
    }


def lost(share: float) -> dict[str, Any]:
    """Lose this share of all bursts of data, each by itself."""
    return {"data": {"process": "bernoulli", "probability": share}}


def outages(up: str, down: str) -> dict[str, Any]:
    """Lose all bursts of data in spells on a clock, of such mean lengths."""
    return {"data": {"process": "outages", "mean_up": up, "mean_down": down}}


def jitter() -> Iterator[tuple[str, float, dict[str, Any]]]:
    """100 Mb/s, 10 ms in each direction, a queue of one product of both, and growing assembly."""
    for ms in (0, 0.5, 1, 2, 5, 10):
        for share in (0.0, 0.005):
            scenario = path("100 Mb/s", "3 ms", f"{ms} ms", queue=170)
            scenario["flows"] = [{"bytes": "10 MB"}]
            if ms == 0:
                scenario["edge"] = {"assembly": "none"}
            if share > 0:
                scenario["loss"] = lost(share)
            yield f"{100 * share:g} % of bursts lost", ms, scenario


def spells() -> Iterator[tuple[str, float, dict[str, Any]]]:
    """2 % lost: each burst by itself (0), or in outages of so many milliseconds on average."""
    for length in (0, 2, 4, 8, 16):
        scenario = path("40 Mb/s", "3 ms", "1 ms", queue=70)
        loss = outages(f"{49 * length} ms", f"{length} ms") if length else lost(0.02)
        yield "2 % lost", length, scenario | {"flows": [{"bytes": "5 MB"}], "loss": loss}


def satellite() -> Iterator[tuple[str, float, dict[str, Any]]]:
    """12 Mb/s, half a second there and back, a queue of 1.2 products, 2.56 % of the time lost."""
    cases = (
        ("no loss", {}),
        ("each burst by itself", {"loss": lost(0.0256)}),
        ("outages of 16.7 ms", {"loss": outages("635.6 ms", "16.7 ms")}),
    )
    for place, (name, loss) in enumerate(cases):
        scenario = path("12 Mb/s", "83 ms", "2.78 ms", queue=600)
        long = {"flows": [{"bytes": "20 MB"}], "run": {"duration": "2000 s"}}
        yield name, place, scenario | long | loss


QUESTIONS = {"jitter": jitter, "spells": spells, "satellite": satellite}


def lines(question: str) -> Iterator[str]:
    """Run each point with each sender and each seed."""
    senders = SENDERS[:3] if question == "jitter" else SENDERS
    for series, x, scenario in QUESTIONS[question]():
        for stack, control in senders:
            scenario["flows"][0] |= {"stack": stack, "congestion_control": control}
            for seed in SEEDS:
                (flow,) = bl.run(scenario, seed=seed).summary["flows"]
                time = flow["acknowledged_after_s"]
                end = "" if time is None else f"{time:.6f}"
                losses = f"{flow['packets_lost']},{flow['timeouts']}"
                at = "" if flow["ended_s"] is None else f"{flow['ended_s']:.3f}"
                why = f"{flow['ended'] or ''},{at}"
                yield f"{question},{series},{x:g},{stack} {control},{seed},{end},{losses},{why}"


if __name__ == "__main__":
    print("question,series,x,sender,seed,time_s,packets_lost,timeouts,ended,ended_s")
    for asked in sys.argv[1:] or QUESTIONS:
        for line in lines(asked):
            print(line, flush=True)
