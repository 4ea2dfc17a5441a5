"""Scenarios that a run has resolved, with only those TCP parameters that do not follow from others.

In the scenario of a result ``[tcp]`` has every general parameter, and each flow has what differs.
An earlier version wrote all parameters at each flow. Written values override the defaults of
another law. To ask what it does there, values that were defaults have to follow from the law again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from burstlab.documents.nearer import ENTRIES
from burstlab.documents.parameters import tcp_of
from burstlab.errors import ScenarioError
from burstlab.loading import Document
from burstlab.simulation import resolve

#: Fields on which defaults of other fields depend; they go last.
_LEADING = ("window_law", "variant", "profile", "window")

_Tcp = dict[str, Any]


def unresolved(document: Document) -> Document:
    """Return a scenario that means the same, without parameters that follow from others anyway.

    That is done where every parameter is written, in ``[tcp]`` or at a flow, as a run writes it. A
    flow keeps a value that differs from ``[tcp]``, and ``[tcp]`` keeps what is no default. Whether
    a value was written or followed cannot be seen any more; it is taken to follow where it does.

    Parameters
    ----------
    document
        The scenario; left alone. One that no run has resolved is answered as it is.
    """
    try:
        whole = resolve(document)
    except ScenarioError:
        return document  # It is refused where it is used, with its reason.
    general = _resolved(document.get("tcp") or {})
    if not general:
        return document
    written: Document = {**document}
    tcp = dict(document.get("tcp") or {})
    stored = _is_full(tcp, general)
    if stored:
        tcp = _least(tcp, lambda one: _resolved(one) == general)
        written["tcp"] = tcp
    for table in ENTRIES:
        entries = document.get(table)
        if isinstance(entries, list):
            pairs = zip(entries, whole[table], strict=False)
            known: dict[str, _Tcp] = {}
            written[table] = [
                _loosened(own, tcp_of(whole, of), tcp, known, stored=stored) for own, of in pairs
            ]
    changed = any(written.get(table) != document.get(table) for table in ("tcp", *ENTRIES))
    return written if changed and _same(written, whole) else document


def _loosened(
    entry: Mapping[str, Any], full: _Tcp, tcp: _Tcp, known: dict[str, _Tcp], *, stored: bool
) -> dict[str, Any]:
    """Return an entry without the parameters that it has from ``[tcp]`` in any case."""
    own = entry.get("tcp") if isinstance(entry, Mapping) else None
    if not isinstance(own, Mapping) or not full or not (stored or _is_full(own, full)):
        return dict(entry)
    text = json.dumps(full, sort_keys=True)
    if text not in known:
        known[text] = _least(dict(own), lambda one: _resolved({**tcp, **one}) == full)
    return {**entry, "tcp": known[text]}


def _least(table: _Tcp, suffices: Callable[[_Tcp], bool]) -> _Tcp:
    """Return the fields of a table without those that it does as well without."""
    if suffices({}):
        return {}
    left = dict(table)
    for names in ([name for name in table if name not in _LEADING], *([one] for one in _LEADING)):
        rest = {name: value for name, value in left.items() if name not in names}
        if suffices(rest):
            left = rest
            continue
        for name in names:
            rest = {key: value for key, value in left.items() if key != name}
            if name in left and suffices(rest):
                left = rest
    return left


def _is_full(own: Mapping[str, Any], full: _Tcp) -> bool:
    """Whether all parameters are written; a scenario written by hand has only some."""
    return all(name in own for name, value in full.items() if value is not None)


def _resolved(tcp: Mapping[str, Any]) -> _Tcp:
    """Return all parameters of a flow; of those that go with nothing, none."""
    try:
        found = resolve({**_ANY, "tcp": dict(tcp)})
    except ScenarioError:
        return {}
    return tcp_of(found, found["flows"][0])


#: Where a flow with any parameters may be: queues that mark, and bursts to hear of.
_ANY: Document = {
    "edge": {"assembly": "timer", "timer": "1 ms"},
    "access": {"marking": {"above": "30 KB"}},
}


def _same(written: Document, whole: Document) -> bool:
    """Whether two scenarios resolve alike, except for values of ``[tcp]`` that no sender uses."""
    try:
        found = resolve(written)
    except ScenarioError:
        return False
    return _spread(found) == _spread(whole)


def _spread(whole: Document) -> Document:
    """Return a resolved scenario with all parameters at each entry, and none in ``[tcp]``."""
    entries = {
        table: [{**entry, "tcp": tcp_of(whole, entry)} for entry in whole.get(table) or ()]
        for table in ENTRIES
    }
    return {**whole, "tcp": None, **entries}
