"""Draw goodput against the receiver's window, with 95 % intervals, and the bound that it sets.

Usage: python examples/plot_window_sweep.py [DIRECTORY]; writes window-sweep.svg and .png there.
"""

import sys
from pathlib import Path

import burstlab as bl
from burstlab.plot import Curve, Dot, sweep_chart, write
from burstlab.plot.theme import INK

WINDOWS = (5, 10, 20, 40, 60)
scenario = bl.load(Path(__file__).with_name("one_burst.toml"))
scenario["access"]["rate"] = "10 Mb/s"
scenario["edge"]["timer"] = "5 ms"
scenario["loss"]["data"] = {"process": "bernoulli", "probability": 0.005}
scenario["run"] = {"duration": "30 s", "replications": 8}

results = []
for variant in ("reno", "sack"):
    for window in WINDOWS:
        scenario["tcp"] = {"variant": variant, "window": window, "delayed_ack": False}
        results.append(bl.run(scenario))

# Propagation there and back, assembly, and a segment in each direction on the access links.
round_trip_s = 2 * (0.010 + 0.010 + 0.010) + 0.005 + 2 * 8000 / 10e6
bound = Curve(
    "window / round trip",
    INK,
    [Dot(window, window * 960 * 8 / round_trip_s / 1e6) for window in WINDOWS],
    "dashed",
)
chart = sweep_chart(results, "tcp.window", by="tcp.variant", beside=[bound])

directory = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
for kind in (".svg", ".png"):
    print(write(chart, directory / ("window-sweep" + kind)))
