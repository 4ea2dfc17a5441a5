"""Entry of the paper in the list of models: every equation at one point, corrected and printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burstlab.analytic.arguments import Argument
from burstlab.analytic.declared import declared
from burstlab.analytic.lu_hunter import congestion, edge_rate, in_step, out_of_step, path, saw
from burstlab.analytic.lu_hunter.arguments import (
    CAPACITY,
    CORE_RATIO,
    NEAR,
    PACKET,
    RTT,
    SHARE,
    crowd,
)
from burstlab.analytic.registry import Model, Parameter, Quantity, count, number

GRANTED = Argument("Granted rate R_schedule", "bit/s", at_least=0)

PARAMETERS = (
    Parameter("capacity", "bit/s", 10e9, "capacity C of the bottleneck, above 0 (VI)"),
    Parameter("share", "", 0.3, "share R that UDP may take, 0 < share <= 0.5 (VI: 0.1 to 0.4)"),
    Parameter("udp", "bit/s", 1e9, "rate a of UDP before it changes, 0 <= udp <= capacity · share"),
    Parameter("rtt", "s", 0.28, "round-trip time 2T, above 0 (VI: 0.06 to 0.56)"),
    Parameter("flows", "", 10_000, "flows N, at least 2, each with a window of at least 2 packets"),
    Parameter("packet", "bits", 16_000, "optical packet S + H, above header (VI: 2000 bytes)"),
    Parameter("header", "bits", 320, "headers H of TCP and IP, at least 0 (V.D: 40 bytes)"),
    Parameter("core_ratio", "", 0.5, "T_1/T_0 = T_2/T_3, above 0 (VI)"),
    Parameter("near", "", 0.5, "(T_0 + T_1)/T, 0 < near < 1 (not in the paper; T_0 = T_3)"),
    Parameter("start", "", 0.75, "window W_k at first over the peak, 0.5 to 1, of one flow"),
    Parameter("period", "s", 10.0, "time T^UDP after which UDP changes, at least 0, in (6)"),
    Parameter("rate", "bit/s", 7e9, "smoothed rate R_i of a buffer before a unit, at least 0 (II)"),
    Parameter("arrivals", "bit/s", 9e9, "rate U_i of what enters it in the unit, at least 0 (II)"),
    Parameter("backlog", "bits", 4e8, "backlog B at its end, at least 0 (II, not defined)"),
    Parameter("interval", "s", 0.4, "negotiation interval tau, above 0 (II, not defined)"),
    Parameter("weight", "", 0.8, "weight nu of the past, 0 to 1 (II, no number)"),
    Parameter("scheduled", "bit/s", 9e9, "granted rate R_schedule, at least 0 (III.C)"),
    Parameter("loss_first", "bit/s", 3e9, "R_o^loss of the first notification, at least 0 (III.C)"),
    Parameter("loss_second", "bit/s", 2e9, "that of the second, at least 0"),
    Parameter("loss_third", "bit/s", 1e9, "that of the third, at least 0"),
)


@declared(
    "Results by name, in the order of the paper", settings="A value for each of `PARAMETERS`."
)
def compute(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate every equation at one point; an error names the assumption that fails."""
    _check(settings)
    return {
        **_edge(settings),
        **_times(settings),
        **_probabilities(settings),
        **_windows(settings),
        **_losses(settings),
        **_crowd(settings),
    }


MODEL = Model(
    name="lu-hunter",
    reference=(
        "Z. Lu, D. K. Hunter, Dual-Layer Congestion Control for Transmission Control Protocol "
        "Carried by Optical Packet Switching With User Data Protocol Background Traffic, Journal "
        "of Optical Communications and Networking 2009"
    ),
    description="Loss of TCP over slotted optical packets when UDP changes, with DLCC and without",
    parameters=PARAMETERS,
    compute=compute,
)


def _check(settings: Mapping[str, float]) -> None:
    """Refuses what the model does not cover, in the names of the model."""
    CAPACITY.check("capacity", settings["capacity"])
    RTT.check("rtt", settings["rtt"])
    PACKET.check("packet", settings["packet"])
    CORE_RATIO.check("core_ratio", settings["core_ratio"])
    SHARE.check("share", settings["share"])
    NEAR.check("near", settings["near"])
    count(settings, "flows", 2)
    udp, most = settings["udp"], settings["capacity"] * settings["share"]
    if not 0 <= udp <= most * (1 + 1e-12):
        raise ValueError(
            f"udp = {udp:g} is not between 0 and capacity · share = {most:g}: the model assumes "
            "that UDP takes at most its share"
        )
    if not 0 <= settings["header"] < settings["packet"]:
        raise ValueError(
            f"header = {settings['header']:g} is not between 0 and packet = "
            f"{settings['packet']:g}: the model assumes that a packet carries data"
        )
    if not 0.5 <= settings["start"] <= 1:
        raise ValueError(
            f"start = {settings['start']:g} is not between 0.5 and 1: the model assumes "
            "congestion avoidance, in which a window is at least half of its peak"
        )
    if settings["period"] < 0:
        raise ValueError(f"period = {settings['period']:g} is below 0: give a time in s")
    crowd(settings["flows"], settings["rtt"], settings["packet"], settings["capacity"], most)


def _edge(settings: Mapping[str, float]) -> dict[str, Quantity]:
    smoothed = edge_rate.smoothed_rate(
        *(settings[name] for name in ("rate", "arrivals", "backlog", "interval", "weight"))
    )
    notified = [settings[f"loss_{nth}"] for nth in ("first", "second", "third")]
    mean, printed = edge_rate.cut(notified), edge_rate.cut(notified, "literal")
    granted = GRANTED.check("scheduled", settings["scheduled"], float)
    sent = {
        f"send_rate_{nth}": number(
            max(granted - mean[i], 0.0),
            "bit/s",
            "III.C",
            f"R^send after {i + 1} of the notifications: less the mean so far; printed forgets",
            max(granted - printed[i], 0.0),
        )
        for i, nth in enumerate(("first", "second", "third"))
    }
    left = edge_rate.settled_excess(settings["loss_first"])
    return {
        "smoothed_rate": number(smoothed, "bit/s", "(1)", "R_{i+1} of equation (1)"),
        **sent,
        "settled_excess": number(
            left, "bit/s", "III.C", "what stays too much for ever if the mean is taken off"
        ),
    }


def _times(settings: Mapping[str, float]) -> dict[str, Quantity]:
    rtt = settings["rtt"]
    geometry: dict[str, Any] = _geometry(settings)
    return {
        "exposure": number(path.exposure(rtt, **geometry), "s", "V.D.1", "2T, without DLCC"),
        "exposure_controlled": number(
            path.exposure(rtt, control=True, **geometry), "s", "V.D.2", "2 T_1, with DLCC"
        ),
        "buffering_without_acks": number(
            path.buffering(rtt, ops_acks=False, **geometry), "s", "V.D.2", "2T - 2 T_1"
        ),
        "buffering": number(path.buffering(rtt, **geometry), "s", "V.D.2", "2 T_0, with OPS ACKs"),
    }


def _probabilities(settings: Mapping[str, float]) -> dict[str, Quantity]:
    point = settings["udp"], settings["capacity"], settings["share"]
    link = settings["capacity"], settings["share"]
    return {
        "rise_probability": number(congestion.rise_probability(*point), "", "(4)", "P(b > a)"),
        "congestion_probability": number(
            congestion.congestion_probability(*point),
            "",
            "(3)",
            "P(B|a), X on the saw; printed is the product",
            congestion.product_probability(*point),
        ),
        "congestion_probability_uniform": number(
            congestion.congestion_probability(*point, free="uniform"),
            "",
            "(5)",
            "P(B|a), X uniform over [0, c]",
            congestion.congestion_probability(*point, as_printed=True),
        ),
        "mean_congestion_probability": number(
            congestion.mean_congestion_probability(*link),
            "",
            "(3), (5)",
            "P(B), mean over a; printed is of (5)",
            congestion.mean_congestion_probability(*link, as_printed=True),
        ),
    }


def _windows(settings: Mapping[str, float]) -> dict[str, Quantity]:
    link = settings["udp"], settings["capacity"], settings["rtt"]
    packet, header, flows = settings["packet"], settings["header"], settings["flows"]
    peak = float(saw.peak_window(*link, 1, packet))
    each = float(saw.peak_window(*link, flows, packet))
    start = settings["start"] * peak
    window = float(saw.window_at(settings["period"], start, peak, settings["rtt"]))
    printed = float(
        saw.window_at(settings["period"], start, peak, settings["rtt"], as_printed=True)
    )
    route = settings["capacity"], settings["rtt"]
    return {
        "peak_window": number(peak, "segments", "text before (6)", "M of one flow"),
        "peak_cwnd": number(
            saw.peak_cwnd_bits(*link, flows, packet, header), "bits", "(7)", "W^pN of one of N"
        ),
        "peak_window_each": number(each, "segments", "(8)", "M_N of one of N"),
        "window": number(
            window, "segments", "(6), (10)", "W^r of one flow after the period", printed
        ),
        "free_capacity": number(
            saw.free_capacity(window, *route, 1, packet),
            "bit/s",
            "text after (3)",
            "X with this window; printed with the printed one",
            saw.free_capacity(printed, *route, 1, packet),
        ),
        "free_capacity_each": number(
            saw.free_capacity(window / flows, *route, flows, packet),
            "bit/s",
            "(9)",
            "X_N, the same saw in step; printed has the peak, X_N = a",
            saw.free_capacity(each, *route, flows, packet),
        ),
    }


def _losses(settings: Mapping[str, float]) -> dict[str, Quantity]:
    link = settings["capacity"], settings["share"]
    route = (*link, settings["rtt"])
    geometry: dict[str, Any] = _geometry(settings)
    sized: dict[str, Any] = {**geometry, "packet_bits": settings["packet"]}

    def both(function: Any, *arguments: float, **options: Any) -> tuple[Any, Any]:
        return function(*arguments, **options), function(*arguments, **options, as_printed=True)

    excess, excess_printed = both(in_step.excess, settings["udp"], *link)
    lost, lost_printed = both(in_step.mean_loss, *route, **sized)
    kept, kept_printed = both(in_step.mean_loss, *route, control=True, **sized)
    rate, rate_printed = both(in_step.loss_rate, *link, **geometry)
    low, low_printed = both(in_step.loss_rate, *link, control=True, **geometry)
    first, first_printed = both(in_step.edge_buffer, *route, ops_acks=False, **sized)
    second, second_printed = both(in_step.edge_buffer, *route, **sized)
    return {
        "excess": number(
            excess, "bit/s", "V.D, L_i", "L_i/2T in bits; printed is with (6)", excess_printed
        ),
        "excess_each": number(
            excess,
            "bit/s",
            "V.E, L_i",
            "the same of N in step; printed is with (9)",
            in_step.excess(settings["udp"], *link, flows=2, as_printed=True),
        ),
        "mean_loss": number(lost, "packets", "V.D.1", "mean of L_i", lost_printed),
        "mean_loss_given_congestion": number(
            in_step.mean_loss(*route, **sized, given_congestion=True),
            "packets",
            "V.D.1",
            "the same for changes with heavy congestion; printed is that of all",
            lost_printed,
        ),
        "mean_loss_controlled": number(
            kept, "packets", "V.D.2", "the same with DLCC", kept_printed
        ),
        "loss_rate": number(
            rate, "", "(2)", "P_L; printed has P(B|a) twice, by (5), and (6)", rate_printed
        ),
        "loss_rate_double": number(
            rate,
            "",
            "(2)",
            "the same; printed is corrected but for P(B|a) twice",
            in_step.loss_rate(*link, weight="twice", **geometry),
        ),
        "loss_rate_controlled": number(low, "", "(2), V.D.2", "P_L with DLCC", low_printed),
        "edge_buffer_without_acks": number(
            first, "packets", "V.D.2", "B_1 without OPS ACKs", first_printed
        ),
        "edge_buffer": number(second, "packets", "V.D.2", "B_2 with OPS ACKs", second_printed),
    }


def _crowd(settings: Mapping[str, float]) -> dict[str, Quantity]:
    link = settings["capacity"], settings["share"]
    point = (settings["udp"], *link)
    sized: dict[str, Any] = {**_geometry(settings), "packet_bits": settings["packet"]}
    route = (*link, settings["rtt"])
    size: dict[str, Any] = {"packet_bits": settings["packet"]}
    rise = float(out_of_step.mean_rise(*point, given_rise=True))
    many = (*route, settings["flows"])
    return {
        "mean_rise": number(out_of_step.mean_rise(*point), "bit/s", "V.F, r^e", "over all changes"),
        "mean_rise_given_congestion": number(
            rise,
            "bit/s",
            "V.F, r^e",
            "given a rise; printed is over all changes",
            out_of_step.mean_rise(*point),
        ),
        "halvings": number(
            out_of_step.halvings(rise, settings["udp"], settings["capacity"], settings["flows"]),
            "flows",
            "V.F.1, K",
            "flows that have to halve for that rise",
        ),
        "crowd_congestion_time": number(
            out_of_step.crowd_congestion_time(*many, **size),
            "s",
            "V.F.1",
            "mean length of heavy congestion; printed with K of the mean rise",
            out_of_step.crowd_congestion_time(*many, **size, as_printed=True),
        ),
        "crowd_loss": number(
            out_of_step.crowd_loss(*many, **size),
            "packets",
            "V.F.1",
            "mean loss; printed without 1/2 and with K of the mean rise",
            out_of_step.crowd_loss(*many, **size, as_printed=True),
        ),
        "crowd_loss_rate": number(
            out_of_step.crowd_loss_rate(*many, **size),
            "",
            "(2), V.F.1",
            "P_L of flows out of step",
            out_of_step.crowd_loss_rate(*many, **size, as_printed=True),
        ),
        "crowd_controlled_loss": number(
            out_of_step.crowd_controlled_loss(*route, **sized), "packets", "V.F.2", "with DLCC"
        ),
        "crowd_edge_buffer_without_acks": number(
            out_of_step.crowd_edge_buffer(*route, ops_acks=False, **sized),
            "packets",
            "V.F.2",
            "B_1",
        ),
        "crowd_edge_buffer": number(
            out_of_step.crowd_edge_buffer(*route, **sized), "packets", "V.F.2", "B_2"
        ),
    }


def _geometry(settings: Mapping[str, float]) -> dict[str, float]:
    return {"core_ratio": settings["core_ratio"], "near": settings["near"]}
