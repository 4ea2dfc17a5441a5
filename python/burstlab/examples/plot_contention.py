"""Draw the wavelengths of a fibre of a ring where bursts meet, and how long its bursts are.

Usage: python examples/plot_contention.py [DIRECTORY]; writes contention-*.svg and .png there.
"""

import sys
from pathlib import Path

import burstlab as bl
from burstlab.plot import distribution_chart, occupancy_chart, write

scenario = bl.load(Path(__file__).with_name("deflection.toml"))
scenario["core"] = {"scheduler": "lauc-vf"}
scenario["signalling"] = {"guard": "60 us"}
scenario["bursts"][0]["erlangs"] = 0.12
scenario["run"] = {"duration": "100 ms"}
ring = bl.run(scenario, trace="bursts")

nsfnet = bl.load(Path(__file__).with_name("nsfnet.toml"))
nsfnet["run"] = {"duration": "2 s"}
timer = bl.run(nsfnet, trace=("packets", "bursts"))
nsfnet["edge"]["timer"] = "1 ms"
shorter = bl.run(nsfnet, trace=("packets", "bursts"))

directory = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
charts = {
    "contention-fibre": occupancy_chart(ring, start_s=0.05, end_s=0.053),
    "contention-bursts": distribution_chart({"assembly 5 ms": timer, "assembly 1 ms": shorter}),
}
for name, chart in charts.items():
    for kind in (".svg", ".png"):
        print(write(chart, directory / (name + kind)))
