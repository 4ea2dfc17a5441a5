"""Draw what Reno, New-Reno and SACK do after the loss of one burst.

Usage: python examples/plot_one_burst.py [DIRECTORY]; writes one-burst.png, .svg and .csv there.
"""

import sys
from pathlib import Path

import burstlab as bl
from burstlab.plot import Panel, panel_rows, save, trace_chart

scenario = bl.load(Path(__file__).with_name("one_burst.toml"))
panels = []
for label, variant in (("Reno", "reno"), ("New-Reno", "new-reno"), ("SACK", "sack")):
    scenario["tcp"]["variant"] = variant
    result = bl.run(scenario, trace=("packets", "cwnd"))
    panels.append(Panel(label, result, start_s=3.0, end_s=9.0))

directory = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
directory.mkdir(parents=True, exist_ok=True)
rows = [row for panel in panels for row in panel_rows(panel)]
for path in save(trace_chart(panels), rows, directory / "one-burst"):
    print(path)
