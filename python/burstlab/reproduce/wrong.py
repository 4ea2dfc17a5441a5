"""Wrong models: a claim's test has to reject them, or it proves nothing.

An entry of ``null`` names a ``model`` and what is put in the place of the measurement: ``set``
(a table: a measure's name and a number, or the name of another measure), ``constant`` (every row
of the claim is this number; ``"best"``: the one whose largest gap to a published value is least),
``rows_from`` (the rows of the claim have the values of those whose labels begin so instead, such
as those of the other scheme) or ``reversed`` (true: the measured values of the rows, last first).

The entries of ``off`` are of the same form: models in which the mechanism that the claim is about
is switched off and all else is on. A claim that one of them passes says in ``blind`` what its test
cannot see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from burstlab.reproduce.bands import Measure, Row, meant

_KINDS = ("set", "constant", "rows_from", "reversed")


class Wrong:
    """One wrong model of a claim.

    Parameters
    ----------
    entry
        Its table, see above.
    claim
        How an error names the claim.

    Raises
    ------
    ValueError
        If the table names no model, or not exactly one thing to put in place.
    """

    def __init__(self, entry: Mapping[str, Any], claim: str) -> None:
        kinds = [kind for kind in _KINDS if kind in entry]
        if len(kinds) != 1 or not entry.get("model"):
            raise ValueError(f"{claim}, null: a model and one of {_KINDS} are needed: {entry}")
        self.model: str = entry["model"]
        self._entry = entry
        self._claim = claim

    def instead(
        self, claim: Mapping[str, Any], measures: Mapping[str, Measure], rows: Sequence[Row]
    ) -> tuple[dict[str, Measure], list[Row]]:
        """Return the measures and rows that the wrong model would give."""
        if "set" in self._entry:
            return {**measures, **self._set(measures)}, list(rows)
        about = meant(claim, claim, rows)
        if "constant" in self._entry:
            value = self._entry["constant"]
            constant = _nearest(about, share="rows_share" in claim) if value == "best" else value
            changed = {
                row.label: replace(row, measured=float(constant), ci95=None) for row in about
            }
        elif "reversed" in self._entry:
            values = [(row.measured, row.ci95) for row in reversed(about)]
            changed = {
                row.label: replace(row, measured=value, ci95=half)
                for row, (value, half) in zip(about, values, strict=True)
            }
        else:
            changed = self._others(claim, about, rows)
        return dict(measures), [changed.get(row.label, row) for row in rows]

    def _set(self, measures: Mapping[str, Measure]) -> dict[str, Measure]:
        found: dict[str, Measure] = {}
        for name, value in self._entry["set"].items():
            if name not in measures:
                raise ValueError(
                    f"{self._claim}, null {self.model!r}: no measure is called {name!r}"
                )
            found[name] = measures[value] if isinstance(value, str) else value
        return found

    def _others(
        self, claim: Mapping[str, Any], about: Sequence[Row], rows: Sequence[Row]
    ) -> dict[str, Row]:
        start: str = claim.get("rows", "")
        given = {row.label: row for row in rows}
        found: dict[str, Row] = {}
        for row in about:
            label = self._entry["rows_from"] + row.label[len(start) :]
            if label not in given:
                raise ValueError(f"{self._claim}, null {self.model!r}: no row is called {label!r}")
            found[row.label] = replace(given[label], label=row.label, published=row.published)
        return found


def _nearest(rows: Sequence[Row], *, share: bool) -> float:
    """Return the constant whose largest gap to the published values is least.

    Parameters
    ----------
    share
        Whether gaps are shares of the published values.
    """
    values = [row.published for row in rows if row.published is not None]
    low, high = min(values), max(values)
    if share and low > 0.0:
        return 2.0 * low * high / (low + high)
    return (low + high) / 2.0
