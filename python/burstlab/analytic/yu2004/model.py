"""Entry of the paper in the list of models: every equation at one point, corrected and printed."""

from __future__ import annotations

from collections.abc import Mapping

from burstlab.analytic.declared import declared
from burstlab.analytic.registry import Model, Parameter, Quantity, number
from burstlab.analytic.yu2004 import gains, packets, windows
from burstlab.analytic.yu2004.arguments import RTT0

PARAMETERS = (
    Parameter("p", "", 0.1, "probability that a burst is lost, 0 < p < 1 (Table IV)"),
    Parameter("window", "packets", 10, "largest window W_m, at least 2 (inferred from Table III)"),
    Parameter("rate", "packets/s", 1000, "rate of the access link, above 0 (III, fast flow)"),
    Parameter("assembly", "s", 0.04, "time T_b of the burst assembler, at least 0 (Table III)"),
    Parameter("rtt0", "s", 0.1, "round-trip time without assembly, above 0 (III)"),
    Parameter("rto", "s", 0.36, "time-out, at least rtt0 + assembly (inferred from Table IV)"),
    Parameter("alpha_btcp", "RTO", 5, "time lost in a batch with detection, at least 0 (V.B.1)"),
    Parameter("alpha_tcp", "RTO", 15, "time lost in a batch without: 1+2+4+8 (V.B.1)"),
    Parameter("batch_rounds", "rounds", 40, "rounds N between two batches, above 0 (V.B.1)"),
)


@declared(
    "Results by name, in the order of the paper", settings="A value for each of `PARAMETERS`."
)
def compute(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate every equation at one point."""
    p, window = settings["p"], settings["window"]
    RTT0.check("rtt0", settings["rtt0"])
    rtt = settings["rtt0"] + settings["assembly"]
    # Said here in the names of the model; the functions would say it in theirs.
    if settings["rto"] < rtt:
        raise ValueError(
            f"rto = {settings['rto']:g} is below rtt0 + assembly = {rtt:g}: "
            "a retransmission time-out lasts at least one round trip"
        )
    return {
        **_windows(settings, p, window),
        **_packets(p, window),
        **_gains(settings, p, window, rtt),
    }


MODEL = Model(
    name="yu2004",
    reference=(
        "X. Yu, C. Qiao, Y. Liu, TCP Implementations and False Time Out Detection in OBS "
        "Networks, INFOCOM 2004"
    ),
    description="Throughput of BTCP, which detects false time-outs, over that of TCP: fast flow",
    parameters=PARAMETERS,
    compute=compute,
)


def _windows(settings: Mapping[str, float], p: float, window: float) -> dict[str, Quantity]:
    flow = (settings["rate"], settings["assembly"], window)
    return {
        "flow_class": _words(
            windows.flow_class(*flow),
            windows.flow_class(*flow, as_printed=True),
            "(1) to (3)",
            "class of the flow; the model is for fast ones",
        ),
        "regime": _words(
            windows.window_regime(p, window),
            windows.window_regime(p, window, as_printed=True),
            "text before (4) and (7)",
            "what limits the window",
        ),
        "rounds_between_losses": number(
            windows.rounds_between_losses(p), "rounds", "text before (4)", "(1-p)/p"
        ),
        "mean_window_tcp": number(
            windows.mean_window_tcp(p),
            "packets",
            "(5)",
            "E[W] of TCP; printed is the text before (4)",
            windows.mean_window_tcp(p, as_printed=True),
        ),
        "mean_window_btcp": number(
            windows.mean_window_btcp(p), "packets", "text before (6)", "E[W] of BTCP"
        ),
        "mean_window_ratio": number(
            windows.mean_window_ratio(p), "", "Fig. 5(a)", "mean window of BTCP over TCP"
        ),
    }


def _packets(p: float, window: float) -> dict[str, Quantity]:
    return {
        "unlimited_packets_tcp": number(
            packets.unlimited_packets_tcp(p),
            "packets",
            "(4)",
            "E[H1] where W_m is never reached; printed has the text's E[W]",
            packets.unlimited_packets_tcp(p, as_printed=True),
        ),
        "unlimited_packets_tcp_half": number(
            packets.unlimited_packets_tcp(p, slow_start="half"),
            "packets",
            "(4)",
            "the same, slow start counted as in (5); printed counts a round more",
            packets.unlimited_packets_tcp(p),
        ),
        "unlimited_packets_btcp": number(
            packets.unlimited_packets_btcp(p),
            "packets",
            "(6)",
            "E[H2] where W_m is never reached, even spacing",
        ),
        "unlimited_packets_btcp_geometric": number(
            packets.unlimited_packets_btcp(p, spacing="geometric"),
            "packets",
            "(6)",
            "the same, independent losses; printed is for even spacing",
            packets.unlimited_packets_btcp(p),
        ),
        "limited_packets_tcp": number(
            packets.limited_packets_tcp(p, window),
            "packets",
            "(7)",
            "E[H1] where W_m is reached; printed is the first line",
            packets.limited_packets_tcp(p, window, as_printed=True),
        ),
        "limited_packets_btcp": number(
            packets.limited_packets_btcp(p, window), "packets", "(8)", "E[H2] where W_m is reached"
        ),
    }


def _gains(
    settings: Mapping[str, float], p: float, window: float, rtt: float
) -> dict[str, Quantity]:
    rto = settings["rto"]
    alphas = (settings["alpha_btcp"], settings["alpha_tcp"])
    batch = (1.0, *alphas, rto, rtt, settings["batch_rounds"])
    return {
        "limited_gain": number(
            gains.limited_gain(p, window), "", "(9)", "E[H2]/E[H1] where W_m is reached"
        ),
        "limited_gain_half": number(
            gains.limited_gain(p, window, slow_start="half"),
            "",
            "(9)",
            "the same, slow start counted as in (5); printed counts a round more",
            gains.limited_gain(p, window),
        ),
        "gain_ble": number(
            gains.gain_ble(p, window),
            "",
            "(4) to (9)",
            "throughput with BLE or BACK over TCP, in the regime above",
            gains.gain_ble(p, window, as_printed=True),
        ),
        "timeout_period_tcp": number(
            gains.timeout_period_tcp(p, rtt, rto), "s", "text before (10)", "|TOP1|"
        ),
        "timeout_period_bnak": number(
            gains.timeout_period_bnak(p, rtt), "s", "text before (10)", "|TOP2|"
        ),
        "bnak_time_factor": number(
            gains.bnak_time_factor(p, rtt, rto),
            "",
            "(10)",
            "|TOP1|/|TOP2|",
            gains.bnak_time_factor(p, rtt, rto, as_printed=True),
        ),
        "gain_bnak": number(
            gains.gain_bnak(p, window, rtt, rto),
            "",
            "(10)",
            "throughput with BNAK over TCP",
            gains.gain_bnak(p, window, rtt, rto, as_printed=True),
        ),
        "batch_time_factor": number(
            gains.gain_batch(*batch),
            "",
            "(11)",
            "throughput with BLE or BACK over TCP for batches, for W_b = W_t",
            gains.gain_batch(*batch, as_printed=True),
        ),
    }


def _words(value: object, as_printed: object, equation: str, description: str) -> Quantity:
    return Quantity(str(value), "", equation, description, str(as_printed))
