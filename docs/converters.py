"""Draw the pictures of wavelength converters in docs/models/mesh.md.

    python docs/converters.py

It runs one output with each number of converters, and draws the loss together with the Markov
chain. It runs NSFNET with each number of nodes that convert.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import burstlab as bl
from burstlab.analytic.erlang import converter_pool
from burstlab.plot import Curve, CurvePanel, theme
from burstlab.plot.curves import Axes, Dot, curve_chart
from burstlab.plot.saving import write
from burstlab.statistics import mean_ci95

IMAGES = Path(__file__).parent / "images"
EXAMPLE = Path(bl.__file__).parent / "examples/converters.toml"

WAVELENGTHS = 8
#: Load of a wavelength, in Erlang.
LOADS = (0.3, 0.5, 0.7)


def scenario(number: int, load: float) -> Mapping[str, Any]:
    """Return an output that bursts come to on any of its wavelengths."""
    length = {"distribution": "exponential", "mean": "125 KB"}
    erlangs = load * WAVELENGTHS
    return {
        "network": {"topology": "line", "nodes": 2, "wavelengths": WAVELENGTHS},
        "edge": {"port": "shared", "wavelength": "random"},
        "core": {"converters": {"number": number, "shared": "output"}},
        "bursts": [{"from": "1", "to": "2", "erlangs": erlangs, "length": length}],
        "run": {"duration": "200 ms", "warmup": "20 ms", "replications": 10},
    }


def curves() -> Iterator[Curve]:
    """Give the chain and the runs of each load."""
    for load, colour in zip(LOADS, theme.SERIES, strict=False):
        numbers = range(WAVELENGTHS + 1)
        chain = [converter_pool(load * WAVELENGTHS, WAVELENGTHS, number) for number in numbers]
        exact = [Dot(n, float(one.contention + one.no_converter)) for n, one in enumerate(chain)]
        yield Curve(f"{load} Erlang, chain", colour, exact, "line")
        found: list[Dot] = []
        for number in numbers:
            networks = bl.run(scenario(number, load)).network
            loss = mean_ci95([one["all"]["burst_loss_ratio"] for one in networks])
            found.append(Dot(number, loss.mean, loss.ci95, loss.n))
        yield Curve(f"{load} Erlang, simulated", colour, found, "points")


def sparse() -> Iterator[Curve]:
    """Give the runs of NSFNET for each order of its nodes."""
    network = bl.load(EXAMPLE)
    network["run"] |= {"replications": 4}
    (group,) = network["core"]["group"]
    for order, colour in zip(("degree", "routes"), theme.SERIES, strict=False):
        found: list[Dot] = []
        for first in range(15):
            group |= {"first": first, "by": order}
            loss = mean_ci95([one["all"]["burst_loss_ratio"] for one in bl.run(network).network])
            found.append(Dot(first, loss.mean, loss.ci95, loss.n))
        yield Curve(order, colour, found)


def main() -> None:
    """Run, and write the pictures."""
    axes = Axes(f"converters of an output of {WAVELENGTHS} wavelengths", "bursts lost", log_y=True)
    print(write(curve_chart([CurvePanel("", list(curves()))], axes), IMAGES / "converters.svg"))
    axes = Axes("nodes of NSFNET that convert", "bursts lost", legend="order of nodes")
    chart = curve_chart([CurvePanel("", list(sparse()))], axes)
    print(write(chart, IMAGES / "sparse-conversion.svg"))


if __name__ == "__main__":
    main()
