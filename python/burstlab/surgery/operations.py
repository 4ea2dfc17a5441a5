"""Operations on bursts, as users write them, and as a scenario has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from burstlab import _core
from burstlab.errors import InputError
from burstlab.loading import Document

#: A burst: its number, ``"ack:7"`` for a burst of ACKs on a path, or ``"all"``.
Burst: TypeAlias = int | str

_PATH = "path"


def entries(
    *,
    spare: Iterable[Burst] | Burst = (),
    kill: Iterable[Burst] | Burst = (),
    convert: Iterable[Burst] | Burst = (),
    delay: Mapping[Burst, str] | None = None,
) -> list[Document]:
    """Return the entries of ``[[surgery]]`` for operations.

    Parameters
    ----------
    spare, kill, convert
        Bursts, each a number, ``"ack:7"`` or ``"all"``.
    delay
        By burst, by how much later it lands, such as ``"2 ms"``.

    Raises
    ------
    InputError
        If there is no operation, or one names no burst.
    """
    found = [
        {**_named(burst, operation), "operation": operation}
        for operation, bursts in (("spare", spare), ("kill", kill), ("convert", convert))
        for burst in _several(bursts)
    ]
    for burst, span in (delay or {}).items():
        found.append({**_named(burst, "delay"), "operation": "delay", "delay": _span(span)})
    if not found:
        raise InputError(
            "no burst is named\n  fix: name one to spare, kill, delay or convert, such as "
            "--spare 4711 (spare=4711)"
        )
    return found


def delays(given: Iterable[str]) -> dict[Burst, str]:
    """Return what ``--delay`` says: ``BURST=TIME`` each, such as ``4711=2ms``."""
    found: dict[Burst, str] = {}
    for text in given:
        burst, equals, span = text.partition("=")
        if not equals or not burst.strip() or not span.strip():
            raise InputError(
                f"--delay {text}: not a burst and a time\n  fix: write --delay 4711=2ms"
            )
        found[burst.strip()] = span.strip()
    return found


def operated(resolved: Document, more: Iterable[Document]) -> Document:
    """Return a scenario with operations added to its own."""
    return {**resolved, "surgery": [*resolved.get("surgery", []), *more]}


def named(entry: Mapping[str, Any]) -> str:
    """Name an entry of ``[[surgery]]``, or its outcome, such as ``spare 4711``."""
    burst = entry.get("burst")
    back = "ack:" if entry.get("direction") == "ack" else ""
    name = f"{back}{burst}" if burst is not None else f"{back}all"
    seconds = entry.get("delay_s")
    by = f" by {seconds * 1e3:g} ms" if seconds else ""
    return f"{entry['operation']} {name}{by}"


def _several(bursts: Iterable[Burst] | Burst) -> list[Burst]:
    return [bursts] if isinstance(bursts, (int, str)) else list(bursts)


def _named(burst: Burst, operation: str) -> Document:
    text = str(burst).strip()
    back = text.startswith("ack:")
    number = text.removeprefix("ack:").strip()
    found: Document = {"direction": "ack"} if back else {}
    if number == "all":
        return found
    if not number.isdecimal() or not 1 <= int(number) < 2**63:
        raise InputError(
            f"--{operation} {text}: not the number of a burst\n"
            "  fix: write a number of the column burst of the table bursts; ack:7 for a burst with "
            "ACKs on a path, all for every one"
        )
    return {**found, "burst": int(number)}


def _span(text: str) -> str:
    """Return a time with a blank before its unit, as in a scenario; refuse other text."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzµ")
    written = f"{number.strip()} {text[len(number) :].strip()}".strip()
    try:
        seconds = _core.seconds(written)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise InputError(f"--delay: {problem}\n  fix: {fix or 'write 2ms'}") from None
    if seconds <= 0.0:
        raise InputError(f"--delay {text}: the delay must be above 0\n  fix: write 2ms")
    return written
