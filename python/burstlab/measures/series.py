"""The numbers of a run over its replications, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from burstlab.measures.completion import is_of_completion, is_open, unbiased
from burstlab.measures.demands import demand_names


def series_of(summaries: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """Return the values of each number over the replications, in their order.

    A number of a flow is combined over all flows of a replication. With several flows it is also
    listed for each, under ``label[id].name``. Completion times are included only if every
    replication has them.

    Parameters
    ----------
    summaries
        One of each replication, as `Replication.summary`.
    """
    series: dict[str, list[float]] = {}
    for summary in summaries:
        flows = summary["flows"]
        for name in _numbers(flows):
            # The mean of transfers is unknown if some of them are unfinished.
            if not any(is_open(flow, name) for flow in flows):
                series.setdefault(name, []).append(_over_flows(name, flows))
        if len(flows) > 1:
            for flow in flows:
                label = f"{flow.get('label') or 'flow'}[{flow['id']}]"
                for name in _numbers([flow]):
                    series.setdefault(f"{label}.{name}", []).append(float(flow[name]))
        for name, value in _of_parts(summary):
            series.setdefault(name, []).append(value)
    return {
        name: values
        for name, values in series.items()
        if len(values) == len(summaries) or not is_of_completion(_plain(name))
    }


def _numbers(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    names: dict[str, None] = {}
    for flow in flows:
        for name, value in flow.items():
            if name != "id" and isinstance(value, (int, float)) and not isinstance(value, bool):
                names[name] = None
    return list(names)


def _over_flows(name: str, flows: Sequence[Mapping[str, Any]]) -> float:
    """Return the sum of a number of flows, and of times their mean: times do not add up."""
    values = [float(flow[name]) for flow in flows if flow.get(name) is not None]
    return sum(values) / (len(values) if name.endswith("_s") else 1)


def _of_parts(summary: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Return the single numbers of a mesh, of each cell and of each demand, with their names."""
    parts = [(name, summary.get(name) or {}) for name in ("network", "ops")]
    demands = summary.get("demand", [])
    for called, one in zip(demand_names(demands), demands, strict=True):
        parts.append((f"demand.{called}", one))
        parts.append((f"demand.{called}.departed", unbiased(one, "departed")))
    for cell in summary.get("wlan", []):
        parts += [(f"wlan.{cell['name']}.{side}", cell[side]) for side in ("down", "up")]
    for kind, bursts in (summary.get("network") or {}).items():
        if isinstance(bursts, Mapping):
            parts += _of_bursts(f"network.{kind}", bursts)
            for one in bursts.get("classes", ()):
                parts += _of_bursts(f"network.{kind}.classes.{one['class']}", one)
    for part, numbers in parts:
        for name in _numbers([numbers]):
            if name != "class":
                yield f"{part}.{name}", float(numbers[name])


def _of_bursts(part: str, bursts: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the numbers of bursts of a kind, or of a class of it, and of each cause of losses."""
    yield part, bursts
    for one in bursts["causes"]:
        yield f"{part}.causes.{one['cause']}", {"bursts": one["bursts"]}


def _plain(name: str) -> str:
    """Return the path of a number of one of several flows, ``label[id].name``, or of another."""
    last = name.rpartition("].")[2]
    return last if "]." in name else name
