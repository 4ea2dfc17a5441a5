"""Arguments of 802.11b, each with its unit and range."""

from __future__ import annotations

from typing import Annotated

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument
from burstlab.analytic.wlan.timing import PACKET, Timing

Error = Annotated[ArrayLike, Argument("Chance that a frame is not received", above=0, below=1)]
Tries = Annotated[int, Argument("Tries of a packet", at_least=1)]
Size = Annotated[int, PACKET]
Stations = Annotated[int, Argument("Stations that send", at_least=1)]
FirstWindow = Annotated[int, Argument("Slots of the first back-off", at_least=1, at_most=1_000_000)]
Stages = Annotated[int, Argument("Times that the window doubles", at_least=0, at_most=500)]
Speeds = Annotated[
    Timing | None,
    Argument("Speeds and preamble", note="802.11b at 11 Mb/s with answers at 1 Mb/s if absent."),
]
Access = Annotated[
    str,
    Argument(
        "How a station asks for the medium",
        words=("basic", "rts"),
        note='"rts": each data frame is preceded by an RTS.',
    ),
]
