"""Quantities of a resolved scenario as numbers."""

from __future__ import annotations

from burstlab import _core

_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def bits_per_second(text: str) -> int:
    """Read a rate such as ``"10 Gb/s"``."""
    return _scaled(text, "b/s")


def size_bytes(text: str) -> int:
    """Read a size such as ``"1 KB"``."""
    return _scaled(text, "B")


def seconds(text: str) -> float:
    """Read a time such as ``"5 ms"``."""
    return _core.seconds(text)


def number(value: float | str) -> float:
    """Read whatever has a size: a number, a time (in ms), a rate (in b/s) or a size (in bytes)."""
    if not isinstance(value, str):
        return float(value)
    if value.endswith("b/s"):
        return float(bits_per_second(value))
    return float(size_bytes(value)) if value.endswith("B") else seconds(value) * 1e3


def _scaled(text: str, unit: str) -> int:
    number, _, scaled = text.partition(" ")
    scale = {**_SCALES, **_BINARY}[scaled.removesuffix(unit)]
    return round(float(number) * scale)
