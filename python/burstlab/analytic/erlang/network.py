"""A network: the reduced-load, or Erlang fixed-point, approximation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.erlang.link import erlang_b

Link = TypeVar("Link", bound=Hashable)

Thinning = Annotated[
    Literal["upstream", "both"],
    Argument(
        "Which losses spare a link",
        note=(
            '"upstream": those before it on the route, as in burst switching without a release '
            "(JET), where a burst loads every link up to and including the one that loses it. "
            '"both": those anywhere on the route, as in circuit switching, where a circuit loads '
            "none unless all accept it."
        ),
    ),
]
Conversion = Annotated[
    Literal["full", "none"],
    Argument(
        "Whether a burst may change its wavelength at a node",
        note=(
            '"full": it takes any free wavelength of the next link. "none": it keeps the one that '
            "it was given at the ingress, at random and without regard to what is free; each "
            "wavelength is then a network of its own. All links need the same number of "
            'wavelengths. Of the simulator that is `core.conversion = "none"` with '
            '`edge.wavelength = "random"`; by default its ingress takes a wavelength that is free '
            "on the first link, which loses otherwise."
        ),
    ),
]

SERVERS = Argument("Number of wavelengths of a link", at_least=1)
STEP_MAX = 3.0
"""No step changes the logarithm of a load by more than this."""
SHARE_MIN = 2.0**-20
"""A Newton step is not cut shorter than this."""


@dataclass(frozen=True)
class ReducedLoad(Generic[Link]):
    """A fixed point: loads and losses that agree with each other."""

    link_load: dict[Link, float]
    """Load offered to each link in Erlang, after thinning."""
    link_blocking: dict[Link, float]
    """Share of the bursts offered to a link that it loses."""
    route_blocking: FloatArray
    """Share of the bursts of each route that is lost anywhere, in the order of the routes."""
    blocking: float
    """Share of all bursts that is lost; 0 where nothing is offered."""
    iterations: int
    """Steps that were taken."""
    error: float
    """Largest difference between the loss of a link and Erlang's formula at its load."""


@declared(
    "Loads and losses of links and routes",
    "F. P. Kelly, Blocking probabilities in large circuit-switched networks, Advances in Applied "
    "Probability 18, 1986. Z. Rosberg, H. L. Vu, M. Zukerman, J. White, Performance analyses of "
    "optical burst-switching networks, IEEE JSAC 21(7), 2003",
    routes="The links of each route, from the first to the last; a link at most once in a route.",
    capacities=(
        "Number of wavelengths of each link, whole and at least 1. Links without a route "
        "are allowed."
    ),
)
def reduced_load(
    routes: Sequence[Sequence[Link]],
    loads: Annotated[Sequence[float], Argument("Load offered to each route", "Erlang", at_least=0)],
    capacities: Mapping[Link, int],
    *,
    thinning: Thinning = "upstream",
    conversion: Conversion = "full",
    tolerance: Annotated[float, Argument("Largest `error` of the answer", above=0)] = 1e-12,
    iterations_max: Annotated[int, Argument("Most steps", at_least=1)] = 1000,
) -> ReducedLoad[Link]:
    """Losses of a network of links without buffers, by the reduced-load approximation.

    Links are assumed to lose independently, and bursts to reach a link as a Poisson process. The
    load of link
    j is the sum of the loads of its routes, each thinned by the links that spare j; its loss is
    Erlang's at that load. Both are solved together, by Newton's method.

    Raises
    ------
    ValueError
        If an argument is out of its range, or an assumption of the approximation fails.
    ArithmeticError
        If the error is still above `tolerance` after `iterations_max` steps.

    Notes
    -----
    A fixed point always exists (Brouwer). It is unique for "both" (Kelly 1986), and for "upstream"
    where the links have an order that every route follows, as loads then follow link by link.

    The approximation neglects that bursts of one incoming fibre do not collide with each other
    (streamline effect), which makes it pessimistic where few fibres meet, and that losses of
    neighbouring links are correlated.

    Examples
    --------
    >>> tandem = reduced_load([("a", "b")], [1.0], {"a": 1, "b": 1})
    >>> tandem.link_blocking  # 1/2, then half a burst at a time: 1/3
    {'a': 0.5, 'b': 0.3333333333333333}
    """
    names, paths, servers = _checked(routes, loads, capacities)
    (offered,) = arrays(loads)
    layers = 1
    if conversion == "none" and names:
        layers = _same(names, servers)
        offered, servers = offered / layers, np.ones_like(servers)

    found = _fixed_point(paths, offered, servers, thinning, tolerance, iterations_max)
    blocking = found.blocking
    # 1 - (1 - B_1) (1 - B_2) ..., with all digits of small losses.
    with np.errstate(divide="ignore"):
        logs = [np.sum(np.log1p(-blocking[path])) for path in paths]
    route_blocking = -np.expm1(np.array(logs, dtype=np.float64))
    total = float(offered.sum())
    lost = float(np.sum(offered * route_blocking)) / total if total > 0 else 0.0
    return ReducedLoad(
        link_load=dict(zip(names, (found.load * layers).tolist(), strict=True)),
        link_blocking=dict(zip(names, blocking.tolist(), strict=True)),
        route_blocking=route_blocking,
        blocking=lost,
        iterations=found.iterations,
        error=found.error,
    )


class _Found(NamedTuple):
    load: FloatArray
    blocking: FloatArray
    iterations: int
    error: float


def _fixed_point(
    paths: Sequence[NDArray[np.intp]],
    offered: FloatArray,
    servers: NDArray[np.int64],
    thinning: Thinning,
    tolerance: float,
    iterations_max: int,
) -> _Found:
    """Solve for the loads by Newton's method, in their logarithms.

    There the loss of a link bends a load at most as fast as a straight line, which keeps the steps
    sound under any load. Plain substitution would swing under a heavy one, and creep where links
    of a route compete for being the bottleneck. A step is halved until it brings the loads closer.
    """
    nominal, _ = _link_loads(paths, offered, np.zeros(len(servers)), thinning)
    used = nominal > 0
    load = np.minimum(nominal, servers)
    for iteration in range(1, iterations_max + 1):
        blocking = np.asarray(erlang_b(load, servers)).reshape(len(servers))
        thinned, slopes = _link_loads(paths, offered, blocking, thinning)
        seen = np.asarray(erlang_b(thinned, servers)).reshape(len(servers))
        error = float(np.max(np.abs(seen - blocking), initial=0.0))
        if error <= tolerance:
            return _Found(thinned, blocking, iteration, error)
        # The derivative of Erlang's formula by the logarithm of the load.
        steep = blocking * (servers - load * (1 - blocking))
        bend = (slopes * steep)[np.ix_(used, used)] / thinned[used, None]
        gap = np.log(thinned[used] / load[used])
        newton = np.linalg.solve(np.eye(len(gap)) - bend, gap)
        newton *= min(1.0, STEP_MAX / float(np.max(np.abs(newton))))
        norm, share = float(np.linalg.norm(gap)), 1.0
        while True:
            tried = load.copy()
            tried[used] = np.minimum(load[used] * np.exp(share * newton), nominal[used])
            passed = np.asarray(erlang_b(tried, servers)).reshape(len(servers))
            there, _ = _link_loads(paths, offered, passed, thinning)
            closer = np.linalg.norm(np.log(there[used] / tried[used])) < norm
            if closer or share < SHARE_MIN:
                break
            share /= 2
        load = tried
    raise ArithmeticError(
        f"no fixed point within {tolerance:g} after {iterations_max} steps: "
        "raise iterations_max or tolerance"
    )


def _link_loads(
    paths: Sequence[NDArray[np.intp]], offered: FloatArray, blocking: FloatArray, thinning: Thinning
) -> tuple[FloatArray, FloatArray]:
    """Add up the load of each link, and how it (row) changes with the blocking of each (column)."""
    loads = np.zeros(len(blocking))
    slopes = np.zeros((len(blocking), len(blocking)))
    for path, load in zip(paths, offered, strict=True):
        passed = 1 - blocking[path]
        spared = np.tri(len(path), k=-1)
        if thinning == "both":
            spared = 1 - np.eye(len(path))
        thinned = load * np.prod(np.where(spared, passed, 1.0), axis=1)
        # A link comes once in a route, so that no index is there twice.
        loads[path] += thinned
        slopes[np.ix_(path, path)] -= spared * thinned[:, None] / passed
    return loads, slopes


def _checked(
    routes: Sequence[Sequence[Link]], loads: Sequence[float], capacities: Mapping[Link, int]
) -> tuple[list[Link], list[NDArray[np.intp]], NDArray[np.int64]]:
    if len(routes) != len(loads):
        raise ValueError(
            f"loads has {len(loads)} numbers for {len(routes)} routes: give a load for each route"
        )
    names = list(capacities)
    servers = [SERVERS.check(f"capacities[{name!r}]", capacities[name], int) for name in names]
    place = {name: index for index, name in enumerate(names)}
    paths = []
    for index, route in enumerate(routes):
        if not route:
            raise ValueError(f"routes[{index}] is empty: give the links that it crosses")
        for link in route:
            if link not in place:
                raise ValueError(
                    f"routes[{index}] crosses {link!r}, which is no link: give its capacity"
                )
        if len(set(route)) < len(route):
            raise ValueError(
                f"routes[{index}] crosses a link twice: links are taken to lose independently, "
                "so give routes without loops"
            )
        paths.append(np.array([place[link] for link in route], dtype=np.intp))
    return names, paths, np.array(servers, dtype=np.int64)


def _same(names: Sequence[object], servers: NDArray[np.int64]) -> int:
    """Return the number of wavelengths that all links have."""
    other = np.flatnonzero(servers != servers[0])
    if other.size:
        raise ValueError(
            f"capacities[{names[other[0]]!r}] = {servers[other[0]]} is not that of "
            f"{names[0]!r}, {servers[0]}: without conversion a burst keeps its wavelength, "
            "so give all links the same"
        )
    return int(servers[0])
