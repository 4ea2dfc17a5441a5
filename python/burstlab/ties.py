"""Whether the numbers of a scenario depend on the order of simultaneous events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from burstlab.loading import ScenarioLike, to_document

#: Fields that identify a run or count the work of the engine; they measure nothing of the network.
_NOT_COMPARED = frozenset(
    (
        *("core_events", "events", "events_per_packet", "packets_one_by_one", "speed"),
        *("fingerprint", "replication", "seed", "warnings"),
    )
)


@dataclass(frozen=True)
class TieDifference:
    """A number that depends on ties.

    Attributes
    ----------
    path
        Path of the number in the summary, such as ``flows[0].goodput_bps``.
    fixed
        Its mean over the replications with ties in their fixed order; None if it has no value.
    drawn
        Mean with ties in a random order.
    """

    path: str
    fixed: float | None
    drawn: float | None

    @property
    def relative(self) -> float:
        """The difference as a share of the larger value; infinite if one is missing."""
        if self.fixed is None or self.drawn is None:
            return math.inf
        return abs(self.fixed - self.drawn) / max(abs(self.fixed), abs(self.drawn))

    def document(self) -> dict[str, Any]:
        """Return the difference for JSON.

        Returns
        -------
        dict
            ``path``, ``fixed``, ``drawn`` and ``relative``; an infinite share is None.
        """
        share = self.relative
        return asdict(self) | {"relative": share if math.isfinite(share) else None}


def compare_ties(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replications: int | None = None,
    jobs: int | None = None,
    allow_code: bool = False,
) -> list[TieDifference]:
    """Run a scenario twice, with ties in a fixed order and in a random one, and compare.

    All other draws are equal. If no number differs, no number depends on the order of simultaneous
    events. Frames on the air and slots of ``[ops]`` keep their order in both runs.

    Parameters
    ----------
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file.
    seed
        As of `run`.
    replications
        As of `run`; the means over them are compared.
    jobs
        As of `run`.
    allow_code
        As of `run`.

    Returns
    -------
    list of TieDifference
        The numbers that differ, the largest share first.
    """
    from burstlab.simulation import run

    found: list[dict[str, float | None]] = []
    for order in ("fixed", "random"):
        document = to_document(scenario, [f"run.tie_break={order}"])
        result = run(
            document,
            seed=seed,
            replications=replications,
            jobs=jobs,
            allow_code=allow_code,
            announce=lambda _: None,
        )
        found.append(_means([one.summary for one in result.replications]))
    fixed, drawn = found
    paths = list(dict.fromkeys([*fixed, *drawn]))
    pairs = [TieDifference(path, fixed.get(path), drawn.get(path)) for path in paths]
    differ = [one for one in pairs if one.fixed != one.drawn]
    return sorted(differ, key=lambda one: -one.relative)


def _means(summaries: list[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the mean of each number over all summaries; None where any has none."""
    of_all = [dict(_numbers("", one)) for one in summaries]
    paths = dict.fromkeys(path for one in of_all for path in one)
    means: dict[str, float | None] = {}
    for path in paths:
        values = [one.get(path) for one in of_all]
        known = [value for value in values if value is not None]
        means[path] = math.fsum(known) / len(known) if len(known) == len(values) else None
    return means


def _numbers(path: str, value: object) -> Iterator[tuple[str, float | None]]:
    """Go through all numbers of a document, with their paths."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key not in _NOT_COMPARED:
                yield from _numbers(f"{path}.{key}" if path else str(key), one)
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from _numbers(f"{path}[{index}]", one)
    elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield path, None if value is None else float(value)
