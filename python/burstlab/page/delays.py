"""How long fibres of a mesh are, in time, from the bursts that crossed them.

A result does not say it: a topology may come from the engine's own tables. From one fibre to the
next a burst takes the propagation of the first, unless a delay line held it; so what is seen most
often on a fibre is its delay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Where no burst crossed any fibre.
_NONE_SEEN_S = 1e-3


def delays(
    ends: Sequence[tuple[int, int]],
    fibre: NDArray[np.int64],
    hops: Mapping[str, NDArray[Any]],
    bursts: Mapping[str, NDArray[Any]],
) -> list[float]:
    """Return the delay of each fibre in seconds.

    Parameters
    ----------
    ends
        The nodes of each fibre. One that no burst crossed is given the delay of the one that leads
        back, else the median.
    fibre
        The number of the fibre of each hop.
    hops
        Columns ``burst``, ``hop``, ``departed_ps`` and ``end_ps``, times in seconds.
    bursts
        Columns ``burst`` and ``arrived_ps`` of those that landed.
    """
    order = np.lexsort((hops["departed_ps"], hops["burst"]))
    burst, left, fibre = hops["burst"][order], hops["departed_ps"][order], fibre[order]
    place = hops["hop"][order].astype(np.int64)
    end = hops["end_ps"][order]
    begins, stops = (np.array([pair[side] for pair in ends], dtype=np.int64) for side in (0, 1))
    onward = burst[1:] == burst[:-1]
    # A burst that was sent again has its first hops twice.
    follows = onward & (place[1:] == place[:-1] + 1) & (begins[fibre[1:]] == stops[fibre[:-1]])
    last = np.append(~onward, True)[: len(burst)]
    _, here, there = np.intersect1d(burst[last], bursts["burst"], return_indices=True)
    took = np.concatenate(
        [(left[1:] - left[:-1])[follows], bursts["arrived_ps"][there] - end[last][here]]
    )
    found = _most_often(np.concatenate([fibre[:-1][follows], fibre[last][here]]), took, len(ends))
    return _filled(found, ends)


def _most_often(fibre: NDArray[np.int64], took: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Return the most frequent time of each fibre, to a nanosecond; NaN where there is none."""
    pairs = np.stack([fibre, np.round(took * 1e9).astype(np.int64)], axis=1)
    seen, often = np.unique(pairs[took >= 0], axis=0, return_counts=True)
    found = np.full(count, np.nan)
    rising = np.argsort(often, kind="stable")
    found[seen[rising, 0]] = seen[rising, 1] * 1e-9
    return found


def _filled(found: NDArray[np.float64], ends: Sequence[tuple[int, int]]) -> list[float]:
    number = {pair: index for index, pair in enumerate(ends)}
    known = found[np.isfinite(found)]
    otherwise = float(np.median(known)) if len(known) else _NONE_SEEN_S
    answer: list[float] = []
    for index, (a, b) in enumerate(ends):
        back = found[number.get((b, a), index)]
        delay = found[index] if np.isfinite(found[index]) else back
        answer.append(float(delay) if np.isfinite(delay) else otherwise)
    return answer
