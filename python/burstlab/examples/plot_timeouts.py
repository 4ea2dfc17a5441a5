"""Draw what a sender does at false and true time-outs: segments over time, and its window.

Usage: python examples/plot_timeouts.py [DIRECTORY]; writes timeouts-*.svg, .pdf and .png there.
"""

import sys
from pathlib import Path

import burstlab as bl
from burstlab.plot import sequence_chart, window_chart, write

scenario = bl.load(Path(__file__).with_name("one_burst.toml"))
scenario["access"]["rate"] = "2 Mb/s"
scenario["access"]["queue"] = 12  # a full queue makes the losses of a true time-out
scenario["tcp"] = {"variant": "reno", "window": 40}
scenario["loss"] = {
    "data": {"process": "bernoulli", "probability": 0.04},
    "ack": {"process": "bernoulli", "probability": 0.1},
}
scenario["run"] = {"duration": "40 s", "seed": 7}
result = bl.run(scenario, trace=("packets", "cwnd", "ledger"))

directory = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
charts = {
    "timeouts-sequence": sequence_chart(result, start_s=15, end_s=36),
    "timeouts-window": window_chart(result),
}
for name, chart in charts.items():
    for kind in (".svg", ".pdf", ".png"):
        print(write(chart, directory / (name + kind)))
