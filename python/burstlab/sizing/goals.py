"""The question of a sizing: a goal such as ``burst loss < 1e-3``, and the values to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burstlab import _core
from burstlab.errors import InputError, unknown
from burstlab.loading import parse_value
from burstlab.studies.metrics import NoMetric, value_at

#: Paths in a summary of the numbers that goals name.
METRICS: Mapping[str, str] = {
    "burst loss": "network.all.burst_loss_ratio",
    "data burst loss": "network.data.burst_loss_ratio",
    "packet loss": "network.all.packet_loss_ratio",
    "burst delay": "network.all.routes.max.mean_delay_s",
    "goodput": "flows.mean.goodput_bps",
    "completion mean": "demand.max.received_mean_s",
    "completion p50": "demand.max.received_p50_s",
    "completion p99": "demand.max.received_p99_s",
    "slowdown mean": "demand.max.slowdown_mean",
    "slowdown p99": "demand.max.slowdown_p99",
    "utilisation": "network.links.max.utilisation",
}

#: Shares: the counters in the numerator and in the denominator.
_COUNTS: Mapping[str, tuple[str, str]] = {
    "burst_loss_ratio": ("bursts_lost", "bursts"),
    "packet_loss_ratio": ("packets_lost", "packets"),
}

#: Other numbers that are shares, of time or of a capacity, by their last name.
_SHARES = ("utilisation", "up", "wavelengths")

#: A number that may be meant in any unit.
_WHOLE = re.compile(r"[-+]?\d+")

#: Examples of limits, by the unit of the number.
_SUCH: Mapping[str | None, str] = {
    "s": "a time such as 20 ms",
    "b/s": "a rate such as 2 Gb/s",
    "B": "a size such as 1 MB",
    None: "a number",
}

_GOAL = re.compile(r"\s*(.+?)\s*(<=|>=|<|>)\s*(.+?)\s*")
_RANGE = re.compile(r"\s*(\d{1,9})\s*\.\.\s*(\d{1,9})\s*")

#: More values than a bisection needs twenty steps for are a mistake.
_MOST = 1_000_000


@dataclass(frozen=True)
class Goal:
    """A number of a run, and the side of a limit where it has to be.

    Attributes
    ----------
    text
        As it was written.
    path
        Path of the number in a summary, as `burstlab.studies` names metrics.
    below
        Whether the number has to be below the limit; else above.
    limit
        In the unit of the number: s, b/s, or a share.
    """

    text: str
    path: str
    below: bool
    limit: float

    @classmethod
    def read(cls, text: str) -> Goal:
        """Read ``METRIC < VALUE``.

        Parameters
        ----------
        text
            A name of `METRICS` or a path, ``<`` or ``>``, and a limit. It has the unit of the
            number: a time, a rate or a size has its own, a share ``%``, or is a fraction from 0 to
            1, written with a point or an exponent; a count has none. ``<=`` is read as ``<``: an
            interval has no edge to stand on.

        Raises
        ------
        InputError
            If it is no goal, or its limit has no unit, a wrong unit, or is out of range.
        """
        found = _GOAL.fullmatch(text)
        if found is None:
            raise InputError(
                f"--for {text!r}: no goal\n  fix: write a goal, such as --for 'burst loss < 1e-3'"
            )
        name, sign, value = found.groups()
        path = METRICS.get(" ".join(name.lower().split()), name)
        if path is name and "." not in name:
            raise unknown("goal", name, METRICS)
        return cls(text, path, sign.startswith("<"), _limit(text, value, path))

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """Return the number of a run, or None if the run has no value.

        Raises
        ------
        InputError
            If runs of the scenario have no such number at all.
        """
        try:
            return value_at(summary, self.path)
        except NoMetric:
            raise InputError(
                f"--for {self.text!r}: a run of this scenario has no {self.path}\n"
                "  fix: write another path; burstlab run SCENARIO --json shows all of them"
            ) from None

    def counts(self, summary: Mapping[str, Any]) -> tuple[int, int] | None:
        """Return numerator and denominator of a share; None for any other number."""
        table, _, name = self.path.rpartition(".")
        if name not in _COUNTS:
            return None
        part, whole = (value_at(summary, f"{table}.{one}") for one in _COUNTS[name])
        return int(part or 0), int(whole or 0)


def unit_of(path: str) -> str | None:
    """Return the unit of a number, as its name says: s, b/s or B; None for a count or a share.

    Parameters
    ----------
    path
        Path of the number in a summary.
    """
    words = re.sub(r"\[\w*\]$", "", path).rpartition(".")[2].split("_")
    if "bytes" in words:
        return "B"
    return {"s": "s", "bps": "b/s"}.get(words[-1]) if len(words) > 1 else None


def is_share(path: str) -> bool:
    """Return whether a number is a share, from 0 to 1, as its name says; a sum of shares is not.

    Parameters
    ----------
    path
        Path of the number in a summary.
    """
    steps = [step for step in re.split(r"[.\[\]]+", path) if step]
    if "sum" in steps:
        return False
    name = next((step for step in reversed(steps) if not step.isdigit()), "")
    return name.endswith("loss_ratio") or name in _SHARES


def _limit(text: str, value: str, path: str) -> float:
    """Read a limit, which says its unit where the number has one.

    A share is written in %, or as a fraction, which has a point or an exponent: of ``2`` nobody
    knows whether it is 2 % or twice the whole. Only 0 is the same in every unit.
    """
    share, unit = is_share(path), unit_of(path)
    percent = value.endswith("%")
    try:
        number = float(value[:-1]) / 100 if percent else float(value)
    except ValueError:
        number = _quantity(text, value, path)
        unit = None
    if number != number or abs(number) == float("inf"):
        raise InputError(f"--for {text!r}: {value!r} is no limit\n  fix: write a number")
    whole = not percent and _WHOLE.fullmatch(value) is not None
    if share and number != 0 and whole:
        raise _no_unit(
            text, value, path, "is a share", f"write {value}%, or a fraction such as 0.02"
        )
    if not share and percent:
        what = f"has the unit {unit}" if unit else "is no share"
        raise _no_unit(text, value, path, what, f"write {_SUCH[unit]}", "is a share")
    if unit is not None and number != 0:
        raise _no_unit(text, value, path, f"has the unit {unit}", f"write {_SUCH[unit]}")
    most = 1.0 if share else float("inf")
    if not 0 <= number <= most:
        bounds = "from 0 to 1, that is 0% to 100%" if share else "of 0 or more"
        raise InputError(
            f"--for {text!r}: {value} is out of the range of {path}\n  fix: write a limit {bounds}"
        )
    return number


def _no_unit(
    text: str, value: str, path: str, what: str, fix: str, fault: str = "has no unit"
) -> InputError:
    return InputError(f"--for {text!r}: {path} {what}, and {value} {fault}\n  fix: {fix}")


def _quantity(text: str, value: str, path: str) -> float:
    """Read a limit with a unit, which has to be that of the number."""
    found = _core.quantity(value)
    if found is None:
        raise InputError(
            f"--for {text!r}: {value!r} is no limit\n"
            "  fix: write a number, a share such as 0.1%, or a quantity such as 20 ms"
        )
    number, unit = found
    own = unit_of(path)
    if unit != own:
        what = f"has the unit {own}" if own else "has no unit"
        limit = "share in %" if is_share(path) else f"limit in {own}" if own else "number"
        raise InputError(
            f"--for {text!r}: {path} {what}, and {value} is in {unit}\n  fix: write a {limit}"
        )
    return number


@dataclass(frozen=True)
class Choice:
    """A field of the scenario, and the values that it may have.

    Attributes
    ----------
    field
        Its path, as ``--set`` takes it.
    values
        In the order in which they are searched; towards the end the goal is easier to meet.
    """

    field: str
    values: Sequence[Any]

    @classmethod
    def read(cls, text: str) -> Choice:
        """Read ``FIELD=1..32``, or ``FIELD=VALUE,VALUE,...``.

        Raises
        ------
        InputError
            If it is neither, or has fewer than two values.
        """
        field, sign, values = text.partition("=")
        if not sign or not field.strip() or not values.strip():
            raise InputError(
                f"--over {text!r}: no field with values\n"
                "  fix: write --over network.wavelengths=1..32, for example, or =8,16,32"
            )
        found = _RANGE.fullmatch(values)
        if found is not None:
            first, last = int(found[1]), int(found[2])
            step = 1 if last >= first else -1
            chosen: Sequence[Any] = range(first, last + step, step)
        elif ".." in values:
            raise InputError(
                f"--over {text!r}: both ends of a range must be whole numbers\n"
                "  fix: write for example 1..32, or list the values with commas"
            )
        else:
            chosen = [parse_value(one.strip()) for one in values.split(",")]
        if len(chosen) < 2 or len(chosen) > _MOST:
            raise InputError(
                f"--over {text!r}: {len(chosen)} values to choose from\n  fix: give 2 to {_MOST}"
            )
        if isinstance(chosen, list) and any(one in chosen[:n] for n, one in enumerate(chosen)):
            raise InputError(
                f"--over {text!r}: a value is listed twice\n  fix: list each value once"
            )
        return cls(field.strip(), chosen)
