"""Settings that have no effect because a field that is nearer to its use overrides them.

Some fields hold for all, and another field may hold in their place for one: ``tcp.window`` for all
flows, ``flows[0].tcp.window`` for one of them. Where each of those that would take the general
value has its own, a change of the general field changes nothing, and is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burstlab import _core
from burstlab.documents.parameters import tcp_of
from burstlab.documents.paths import Document, steps_of
from burstlab.errors import ScenarioError

#: Pairs of a general field and what overrides it, as docs/reference/cli.md lists them.
PAIRS: Mapping[str, Sequence[str]] = {
    "tcp.*": ("flows[].tcp.*", "demand[].tcp.*"),
    "tcp.profile": ("tcp.*", "flows[].tcp.*", "demand[].tcp.*"),
    "flows[].tcp.profile": ("tcp.*", "flows[].tcp.*"),
    "demand[].tcp.profile": ("tcp.*", "demand[].tcp.*"),
    "network.wavelengths": ("network.link[].wavelengths",),
    "network.delay_per_km": ("network.link[].delay",),
    "network.link_delay": ("network.link_delays",),
    "network.node[].role": ("network.edges",),
    "signalling.guard": ("signalling.offset",),
}

#: Tables of which each entry has TCP parameters of its own.
ENTRIES = ("flows", "demand")

#: Window laws that follow from a variant.
_OF_VARIANTS = ("aimd", "vegas")

#: An endpoint that uses a general value: the path of its own value, and that value.
_Taker = tuple[str, Any]

#: Stands for a field that is not there.
_ABSENT: Any = object()


def refuse(document: Document, settings: Mapping[str, Any]) -> None:
    """Refuse settings that have no effect in a scenario.

    Parameters
    ----------
    document
        The scenario after all settings, with what its files say in their place.
    settings
        Values by the path of the field; they are in the scenario already.

    Raises
    ------
    ScenarioError
        If another field overrides one of them; the error names both, and the other's value.
    """
    for path, value in settings.items():
        found = overriding(document, path, value)
        if found is not None:
            near, there = found
            raise ScenarioError(
                path,
                value,
                f"it has no effect: {near} = {_shown(there)} overrides it",
                f"set {near} instead, or remove it from the scenario",
            )
        if _of_nobody(document, steps_of(path)):
            problem = "it has no effect: there is no flow and no demand"
            raise ScenarioError(
                path, value, problem, "add [[flows]] or [[demand]], or leave it out"
            )
    _over_variant(document, settings)


def overriding(document: Document, path: str, value: Any) -> tuple[str, Any] | None:
    """Return which field makes a setting have no effect, and the value that it has.

    A setting whose value holds anyway has none.

    Parameters
    ----------
    document
        The scenario after the setting.
    path
        The field that is set.
    value
        Its value; of a table, its fields.
    """
    steps = steps_of(path)
    if isinstance(value, Mapping) and not _is_field(steps):
        inner = (overriding(document, f"{path}.{name}", one) for name, one in value.items())
        return next((found for found in inner if found is not None), None)
    takers = list(_takers(document, steps))
    if takers and all(there is not _ABSENT for _, there in takers):
        whole = _at(document, steps)
        return next((one for one in takers if one[1] != whole), None)
    return _over_profile(document, steps)


def _of_nobody(document: Document, steps: Sequence[str]) -> bool:
    """Whether TCP parameters are set of a scenario that has no endpoint of TCP."""
    if steps[0] != "tcp" or any(_entries(document, one) for one in (*ENTRIES, "live")):
        return False
    return "flows" in document or any(_entries(document, one) for one in ("bursts", "batches"))


def _is_field(steps: Sequence[str]) -> bool:
    """Whether steps lead to a field of ``tcp``, whose value may be a table."""
    return len(steps) > 1 and steps[-2] == "tcp"


def _takers(document: Document, steps: Sequence[str]) -> Iterator[_Taker]:
    """Return everything that takes a general value, with its own value of the field."""
    match list(steps):
        case ["tcp", field, *_]:
            yield from _endpoints(document, field)
        case ["network", "wavelengths" | "delay_per_km" as field]:
            own = "wavelengths" if field == "wavelengths" else "delay"
            for index, link in enumerate(_entries(document.get("network"), "link")):
                yield f"network.link[{index}].{own}", link.get(own, _ABSENT)
        case ["network", "link_delay"]:
            yield "network.link_delays", _at(document, ("network", "link_delays"))
        case ["network", "node", _, "role"]:
            yield "network.edges", _at(document, ("network", "edges"))
        case ["signalling", "guard"]:
            yield "signalling.offset", _at(document, ("signalling", "offset"))


def _endpoints(document: Document, field: str) -> Iterator[_Taker]:
    for table in ENTRIES:
        for index, entry in enumerate(_entries(document, table)):
            own = entry.get("tcp")
            there = own.get(field, _ABSENT) if isinstance(own, Mapping) else _ABSENT
            yield f"{table}[{index}].tcp.{field}", there


def _over_profile(document: Document, steps: Sequence[str]) -> tuple[str, Any] | None:
    """Return a field that overrides a profile, where no default of the profile is left."""
    if list(steps[-2:]) != ["tcp", "profile"]:
        return None
    found = [_of_no_profile(one) for one in _tables(document, steps)]
    return found[0] if found and all(found) else None


@dataclass(frozen=True)
class _Tcp:
    """The TCP parameters that are written for an endpoint.

    Attributes
    ----------
    at
        Where those of its own stand, such as ``flows[0].tcp``.
    own, general
        Those of its own, and those of ``[tcp]``.
    """

    at: str
    own: Document
    general: Document

    @property
    def fields(self) -> Document:
        return {**self.general, **self.own}

    def place(self, name: str) -> tuple[str, Any]:
        """Return where the value of a field stands, and the value."""
        return f"{self.at if name in self.own else 'tcp'}.{name}", self.fields[name]


def _tables(document: Document, steps: Sequence[str]) -> list[_Tcp]:
    """Return the parameters of each endpoint that takes the value at a field of a ``tcp``."""
    general = _table(document.get("tcp"))
    tables = [
        _Tcp(f"{table}[{index}].tcp", _table(entry.get("tcp")), general)
        for table in ENTRIES
        for index, entry in enumerate(_entries(document, table))
        if len(steps) == 2 or list(steps[:2]) == [table, str(index)]
    ]
    return tables if tables or len(steps) != 2 else [_Tcp("tcp", {}, general)]


def _table(value: Any) -> Document:
    return dict(value) if isinstance(value, Mapping) else {}


def _usual(fields: Document) -> Document:
    """Return the values of a profile and a variant; none unless each such field is written."""
    law = {name: fields[name] for name in ("profile", "variant") if name in fields}
    try:
        found = json.loads(_core.resolve(json.dumps({"tcp": law})))
    except _core.InvalidScenario:
        return {}  # The whole is refused with a better reason.
    usual = tcp_of(found, found["flows"][0])
    written = all(name in fields for name, value in usual.items() if value is not None)
    return usual if written else {}


def _of_no_profile(table: _Tcp) -> tuple[str, Any] | None:
    """Return a field that is not as the profile would have it, where all fields are written."""
    usual, fields = _usual(table.fields), table.fields
    other = next((one for one in usual if one != "profile" and fields[one] != usual[one]), None)
    return None if other is None else table.place(other)


def _over_variant(document: Document, settings: Mapping[str, Any]) -> None:
    """Refuse a variant whose window law is not in force, where all fields are written.

    That is so in the scenario of a result: ``variant = "vegas"`` alone would leave the law that
    followed from the former variant. Where the law is set too, both are meant.
    """
    leaves = _leaves(settings)
    paths = [steps_of(path) for path in leaves]
    for (path, value), steps in zip(leaves.items(), paths, strict=True):
        if steps[-2:] != ["tcp", "variant"]:
            continue
        for table in _tables(document, steps):
            if len(steps) == 2 and "variant" in table.own:
                continue
            usual, fields = _usual(table.fields), table.fields
            law = fields.get("window_law")
            if not usual or law == usual["window_law"] or law not in _OF_VARIANTS:
                continue
            near, there = table.place("window_law")
            if steps_of(near) in paths:
                continue
            raise ScenarioError(
                path,
                value,
                f"its window law has no effect: {near} = {_shown(there)} overrides it",
                f"set {near} too, such as {near}={usual['window_law']}",
            )


def _leaves(settings: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    """Return values by the whole path of their field."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        path = f"{under}{name}"
        found |= _leaves(value, f"{path}.") if isinstance(value, Mapping) else {path: value}
    return found


def _entries(document: Any, table: str) -> list[Mapping[str, Any]]:
    found = document.get(table) if isinstance(document, Mapping) else None
    entries = found if isinstance(found, list) else []
    return [one if isinstance(one, Mapping) else {} for one in entries]


def _at(document: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(document, list) and step.isdigit() and int(step) < len(document):
            document = document[int(step)]
        elif isinstance(document, Mapping) and step in document:
            document = document[step]
        else:
            return _ABSENT
    return document


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
