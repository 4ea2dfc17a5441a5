"""Entry of the paper in the list of models: its arithmetic at one point, corrected and printed."""

from __future__ import annotations

from collections.abc import Mapping

from burstlab.analytic.declared import declared
from burstlab.analytic.ramantas import assembly, slow_start, sources
from burstlab.analytic.ramantas.stated import ACCESS_BPS, NODES, SEGMENT_BITS
from burstlab.analytic.registry import Model, Parameter, Quantity, count, number

PARAMETERS = (
    Parameter("assembly", "s", 0.001, "assembly time, above 0 (3: 0.001, 0.005, 0.01)"),
    Parameter("path", "s", 0.017, "time there and back without assembly, above 0 (implied by 4)"),
    Parameter("access", "bit/s", ACCESS_BPS, "rate of an access link, above 0 (3)"),
    Parameter(
        "segment", "bits", SEGMENT_BITS, "segment on the access link, above 0 (implied by 3)"
    ),
    Parameter("window", "segments", 500, "window, at least 1 (4: 128, 500)"),
    Parameter("medium", "segments", 32, "window B of the middle assembly time, at least 1 (5)"),
    Parameter("fast", "segments", 100, "window C of the longest assembly time, at least B (5)"),
    Parameter("file", "segments", 2000, "segments of a file, at least 1 (4: 2 MB)"),
    Parameter("flows", "1/s", 50, "flows that begin at a node in a second, above 0 (3)"),
    Parameter("completion", "s", 1.25, "mean completion time, at least 0 (4: 1.25, 1.6, 6.7)"),
    Parameter("active", "", 800, "active sources of a node, at least 0 (3: 800, 600)"),
    Parameter("nodes", "", NODES, "edge nodes, at least 1 (3)"),
    Parameter("packets", "1/s", 1000, "packets that come to a queue in a second, above 0"),
    Parameter("mean", "KB", 700, "mean file, above smallest (3)"),
    Parameter("smallest", "KB", 40, "smallest file, above 0 (3)"),
    Parameter("largest", "KB", 10_000, "largest file, above smallest (not stated)"),
    Parameter("bursts", "", 80, "bursts of a flow, at least 1 (3: 80, 40, 34)"),
    Parameter("loss", "", 0.02, "burst loss probability, 0 < loss < 1 (3)"),
)


@declared(
    "Results by name, in the order of the paper", settings="A value for each of `PARAMETERS`."
)
def compute(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate everything at one point."""
    return {**_assembly(settings), **_slow_start(settings), **_sources(settings)}


def _assembly(settings: Mapping[str, float]) -> dict[str, Quantity]:
    time, window = settings["assembly"], settings["window"]
    cap = assembly.segments_cap(time, settings["access"], settings["segment"])
    packets = settings["packets"]
    return {
        "assembly_time": number(
            assembly.assembly_time(window, settings["medium"], settings["fast"]),
            "s",
            "5, T_BAT",
            "assembly time of a flow with this window",
        ),
        "burst_rate": number(
            assembly.burst_rate(packets, time),
            "1/s",
            "1",
            "bursts of a queue, Poisson packets; printed: one every assembly time",
            assembly.burst_rate(packets, time, as_printed=True),
        ),
        "segments_cap": number(cap, "segments", "3, Fig. 2(a)", "most of one flow in a burst"),
        "bursts_of_flow": number(
            assembly.bursts_of_flow(count(settings, "file"), int(cap)),
            "",
            "3, Fig. 4(a)",
            "bursts of the file in slow start, nothing lost",
        ),
    }


def _slow_start(settings: Mapping[str, float]) -> dict[str, Quantity]:
    time, path, window = settings["assembly"], settings["path"], settings["window"]
    rtt = slow_start.round_time(time, path)
    access = settings["access"], settings["segment"]
    return {
        "round_time": number(rtt, "s", "4", "round trip, assembled in both directions"),
        "time_to_window": number(
            slow_start.time_to_window(window, time, path),
            "s",
            "4, Fig. 6(a)",
            "slow start from 1 to the window",
        ),
        "rounds": number(
            slow_start.rounds_within(0.15, time, path),
            "",
            "4, Fig. 6(b)",
            "rounds that begin within 0.15 s",
        ),
        "full_window": number(
            slow_start.full_window(time, path, *access),
            "segments",
            "4",
            "window from which the access link never idles",
        ),
        "window_rate": number(
            slow_start.window_rate(window, rtt),
            "bit/s",
            "4",
            "data rate at the window; printed fits the rate over 10 ms only",
            slow_start.window_rate(window, rtt, as_printed=True),
        ),
    }


def _sources(settings: Mapping[str, float]) -> dict[str, Quantity]:
    flow = settings["flows"], settings["completion"]
    nodes = count(settings, "nodes")
    ends = settings["mean"], settings["smallest"], settings["largest"]
    return {
        "active_sources": number(
            sources.active_sources(*flow, nodes=nodes),
            "",
            "3, Fig. 1(a)",
            "active sources of a node; printed fits those of all nodes",
            sources.active_sources(*flow, nodes=nodes, as_printed=True),
        ),
        "completion_time": number(
            sources.completion_time(settings["active"], settings["flows"]),
            "s",
            "3, 4",
            "mean completion time with so many active sources of a node",
        ),
        "file_shape": number(
            sources.file_shape(*ends),
            "",
            "3",
            "shape of the Pareto distribution; printed has no largest file",
            sources.file_shape(*ends, as_printed=True),
        ),
        "lost_bursts": number(
            sources.lost_bursts(count(settings, "bursts"), settings["loss"]),
            "",
            "3, Fig. 3(b)",
            "lost bursts that four flows in five do not exceed",
        ),
    }


MODEL = Model(
    name="ramantas",
    reference=(
        "K. Ramantas, K. Vlachos, Ó. González de Dios, C. Raffaelli, TCP Traffic Analysis for "
        "Timer-Based Burstifiers in OBS Networks, ONDM 2007, LNCS 4534"
    ),
    description="What assembly times make of windows, rounds, bursts and sources",
    parameters=PARAMETERS,
    compute=compute,
)
