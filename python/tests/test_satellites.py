"""Losses of bursts between ten satellites: 18 settings of a published simulation."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import burstlab as bl

PUBLISHED = Path(__file__).parent / "data/satellites"
RATE_BPS = 1e9
BURST_BYTES = 4295
SATELLITES = range(1, 11)


def _rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def _network() -> dict[str, Any]:
    """Return satellites, each a core node whose own edge node has a fibre there and back."""
    links = [
        {"from": one["a"], "to": one["b"], "delay": f"{one['delay_ms']} ms"}
        for one in _rows("links")
    ]
    own = [
        {"from": f, "to": t, "delay": "0 s", "one_way": True}
        for number in SATELLITES
        for f, t in ((f"E{number}", f"{number}"), (f"{number}", f"E{number}"))
    ]
    return {
        "topology": "custom",
        "link_rate": "1 Gb/s",
        "node": [
            *({"name": f"{number}", "role": "core"} for number in SATELLITES),
            *({"name": f"E{number}", "role": "edge"} for number in SATELLITES),
        ],
        "link": [*links, *own],
        "route": [
            {"from": f"E{one['from']}", "to": f"E{one['to']}", "via": one["satellites"].split()}
            for one in _rows("routes")
        ],
    }


def _scenario(setting: dict[str, str], **lines: Any) -> dict[str, Any]:
    """Return a setting as it is published, but for fields of `core.delay_lines`, or packets."""
    packets = lines.pop("packets", 3)
    per_burst_s = 3e-6 * float(setting["send_interval_us"])
    core: dict[str, Any] = {
        "scheduler": "lauc-vf" if setting["void_filling"] == "yes" else "horizon"
    }
    if setting["fdl_us"] != "none":
        delays = [f"{float(setting['fdl_us'])} us"]
        core |= {
            "contention": ["delay-line"],
            "delay_lines": {"delays": delays, "passes_on_path": 1, **lines},
        }
    late = setting["offsets"] == "async"
    return {
        "network": _network(),
        "signalling": {
            "offset": "700 us" if late else "1 ms",
            "processing": "1 us",
            "header_size": "0 B",
            "switching": "1.5 us",
        },
        "edge": {"class_offsets": [f"{30 * late * number} us" for number in range(10)]},
        "core": core,
        "bursts": [
            {
                "from": f"E{number}",
                "per": "node",
                "class": number - 1,
                "erlangs": BURST_BYTES * 8 / RATE_BPS / per_burst_s,
                "packets": packets,
                "length": {"mean": f"{BURST_BYTES} B"},
            }
            for number in SATELLITES
        ],
        "run": {"duration": "2 s", "warmup": "50 ms"},
    }


def _losses(**change: Any) -> list[tuple[float, float]]:
    """Return the published loss and ours of each setting."""
    found: list[tuple[float, float]] = []
    for setting in _rows("ring"):
        result = bl.run(_scenario(setting, **change), replications=2)
        ours = mean(network["all"]["burst_loss_ratio"] for network in result.network)
        found.append((float(setting["end_to_end_loss"]), ours))
    return found


def _off(losses: list[tuple[float, float]]) -> float:
    """Return the mean distance of both, in points."""
    return 100 * sum(abs(ours - theirs) for theirs, ours in losses) / len(losses)


@pytest.mark.slow
def test_losses_between_satellites_are_those_published():
    losses = _losses()
    off = _off(losses)
    assert off < 0.75, losses
    for setting, (theirs, ours) in zip(_rows("ring"), losses, strict=True):
        # With unequal offsets the published horizon loses a point more; its cause is not known.
        unequal = setting["offsets"] == "async" and setting["void_filling"] == "no"
        assert abs(ours - theirs) < (0.017 if unequal else 0.01), (setting, ours)
    pairs = list(combinations(losses, 2))
    right = sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs)
    assert right >= 0.99 * len(pairs), losses
    # Two mechanisms make the difference: the times between bursts, and a single pass.
    assert _off(_losses(packets=1)) > off + 0.3
    assert _off(_losses(passes_on_path=3)) > off + 0.2
