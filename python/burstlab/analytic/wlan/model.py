"""The models of 802.11b as the command offers them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from burstlab.analytic.registry import Model, Parameter, Quantity, count, number
from burstlab.analytic.wlan.residual import (
    failed_try,
    frame_error,
    residual_loss,
    residual_loss_rts,
    service_time,
)
from burstlab.analytic.wlan.saturation import saturation
from burstlab.analytic.wlan.tcp import exchange_time, tcp_goodput
from burstlab.analytic.wlan.timing import Timing

_SPEEDS = (
    Parameter("data", "Mb/s", 11, "speed of data frames: 1, 2, 5.5 or 11"),
    Parameter("basic", "Mb/s", 1, "speed of RTS, CTS and ACK frames"),
    Parameter("short_preamble", "", 0, "1: 96 us before frames above 1 Mb/s; 0: always 192 us"),
)
_RTS = Parameter("rts", "", 0, "1: an RTS precedes each data frame; 0: none does")


def _timing(settings: Mapping[str, float]) -> Timing:
    short = _flag(settings, "short_preamble")
    return Timing(settings["data"], settings["basic"], "short" if short else "long")


def _flag(settings: Mapping[str, float], name: str) -> bool:
    value = settings[name]
    if value not in (0, 1):
        raise ValueError(f"{name} = {value:g} is neither 0 nor 1")
    return value == 1


def _access(settings: Mapping[str, float]) -> str:
    return "rts" if _flag(settings, "rts") else "basic"


def _saturation(settings: Mapping[str, float]) -> dict[str, Quantity]:
    tries = count(settings, "tries", 0)
    result = saturation(
        count(settings, "stations"),
        count(settings, "size"),
        _timing(settings),
        access=_access(settings),
        tries=tries or None,
        after_collision="eifs" if _flag(settings, "eifs") else "difs",
    )
    return {
        "throughput": number(
            result.throughput_mbps, "Mb/s", "(13)", "packets that arrive, all stations together"
        ),
        "collision_probability": number(result.p, "", "(9)", "p, of a try"),
        "transmission_probability": number(
            result.tau, "", "(7)" if not tries else "Wu (7)", "tau, of a station in a slot"
        ),
        "dropped": number(result.dropped, "", "p^tries", "share of packets given up"),
    }


def _tcp(settings: Mapping[str, float]) -> dict[str, Quantity]:
    timing, access = _timing(settings), _access(settings)
    segment, headers = (count(settings, "segment"), count(settings, "headers"))
    each = count(settings, "each")
    goodput = tcp_goodput(segment, timing, access=access, headers=headers, each=each)
    data = exchange_time(segment + headers, timing, access=access)
    ack = exchange_time(headers, timing, access=access)
    return {
        "goodput": number(goodput, "Mb/s", "", "application data, without collisions"),
        "goodput_shared": number(
            tcp_goodput(segment, timing, access=access, headers=headers, backoffs="shared")
            if each == 1
            else math.nan,
            "Mb/s",
            "(7), (9)",
            "the same where both sides always have a packet; for each = 1",
        ),
        "segment_time": number(data, "us", "", "DIFS, back-off, frame and MAC ACK of a segment"),
        "ack_time": number(ack, "us", "", "the same of a TCP ACK"),
    }


def _loss(settings: Mapping[str, float]) -> dict[str, Quantity]:
    error = settings["error"]
    tries = count(settings, "tries")
    long_tries = count(settings, "long_tries")
    size = count(settings, "size")
    target = settings["residual"]
    return {
        "residual_loss": number(
            residual_loss(error, tries), "", "e^tries", "packets that never arrive, without RTS"
        ),
        "residual_loss_rts": number(
            residual_loss_rts(error, long_tries, tries), "", "9.2.5.3", "the same with RTS"
        ),
        "failed_try": number(
            failed_try(error), "", "1-(1-e)^2", "tries whose frame or ACK is lost"
        ),
        "service_time": number(
            service_time(error, size, _timing(settings), tries), "us", "", "mean time of a packet"
        ),
        "frame_error": number(
            frame_error(target, tries), "", "q^(1/tries)", "error that leaves `residual`"
        ),
    }


SATURATION = Model(
    name="wlan-saturation",
    reference=(
        "G. Bianchi, Performance Analysis of the IEEE 802.11 Distributed Coordination Function, "
        "IEEE JSAC 18(3), 2000; with a retry limit after Wu et al., INFOCOM 2002"
    ),
    description="Throughput of 802.11b stations that always have a packet to send",
    parameters=(
        Parameter("stations", "", 10, "stations that send, at least 1"),
        Parameter("size", "bytes", 1500, "size of a packet, at least 1"),
        *_SPEEDS,
        _RTS,
        Parameter("tries", "", 7, "tries of a packet; 0: until it succeeds"),
        Parameter("eifs", "", 1, "1: EIFS after a collision; 0: DIFS, as Bianchi has it"),
    ),
    compute=_saturation,
)

TCP = Model(
    name="wlan-tcp",
    reference="IEEE Std 802.11-1999, clause 9; 802.11b-1999, clause 18",
    description="Largest goodput of one TCP connection over 802.11b, by adding up its frames",
    parameters=(
        Parameter("segment", "bytes", 1460, "application data of a segment, at least 1"),
        Parameter("headers", "bytes", 40, "headers, and size of an ACK, at least 1"),
        Parameter("each", "segments", 1, "segments that an ACK acknowledges, at least 1"),
        *_SPEEDS,
        _RTS,
    ),
    compute=_tcp,
)

LOSS = Model(
    name="wlan-loss",
    reference="IEEE Std 802.11-1999, 9.2.5.3",
    description="What the retries of 802.11b leave of independent errors of frames",
    parameters=(
        Parameter("error", "", 0.3, "chance that a frame is not received, 0 < error < 1"),
        Parameter("residual", "", 0.01, "residual loss to find the error for, 0 < q < 1"),
        Parameter("tries", "", 7, "tries of a frame without RTS, and of an RTS, at least 1"),
        Parameter("long_tries", "", 4, "tries of a frame after RTS, at least 1"),
        Parameter("size", "bytes", 1500, "size of a packet, at least 1"),
        *_SPEEDS,
    ),
    compute=_loss,
)
