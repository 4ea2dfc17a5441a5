"""Closed forms of IEEE 802.11b: saturation throughput, TCP over one cell, loss after retries.

G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC
18(3), 2000, for saturated stations that all hear each other, in its own form, where a frame is
tried until it succeeds, and with a retry limit after H. Wu, Y. Peng, K. Long, S. Cheng, J. Ma,
"Performance of Reliable Transport Protocol over IEEE 802.11 Wireless LAN: Analysis and
Enhancement", INFOCOM 2002. Times are those of IEEE Std 802.11-1999 and 802.11b-1999 (DSSS).

Limitations: in the model of Bianchi a try meets a collision with the same probability whatever came
before, and slots are counted while others send; nothing but collisions is lost. The time of a TCP
segment assumes that it and its ACK follow one another and that their back-offs add up.
"""

from burstlab.analytic.wlan.residual import (
    failed_try,
    frame_error,
    residual_loss,
    residual_loss_rts,
    service_time,
)
from burstlab.analytic.wlan.saturation import (
    Saturation,
    bianchi,
    saturation,
    transmission_probability,
)
from burstlab.analytic.wlan.tcp import exchange_time, tcp_goodput
from burstlab.analytic.wlan.timing import Timing

__all__ = [
    "Saturation",
    "Timing",
    "bianchi",
    "exchange_time",
    "failed_try",
    "frame_error",
    "residual_loss",
    "residual_loss_rts",
    "saturation",
    "service_time",
    "tcp_goodput",
    "transmission_probability",
]
