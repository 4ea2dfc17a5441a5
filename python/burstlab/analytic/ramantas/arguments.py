"""Arguments of the paper, each with its unit and range."""

from __future__ import annotations

from typing import Annotated

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, Relation

Window = Annotated[ArrayLike, Argument("Congestion window", "segments", at_least=1)]
Assembly = Annotated[ArrayLike, Argument("Assembly time", "s", above=0)]
AnyAssembly = Annotated[
    ArrayLike, Argument("Assembly time, waited for in each direction,", "s", at_least=0)
]
Path = Annotated[ArrayLike, Argument("Time there and back without assembly", "s", above=0)]
Access = Annotated[ArrayLike, Argument("Rate of the access link", "bit/s", above=0)]
SegmentBits = Annotated[
    ArrayLike, Argument("Size of a segment on the access link", "bits", above=0)
]
Smallest = Annotated[float, Argument("Smallest value of the distribution", above=0)]
Largest = Annotated[
    float,
    Argument(
        "Largest value of the distribution",
        finite=False,
        relation=Relation(">", "smallest", "give one above the smallest"),
        note="Infinite for none.",
    ),
]
