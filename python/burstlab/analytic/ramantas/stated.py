"""Statements of the paper, and values that follow from its numbers."""

from __future__ import annotations

ACCESS_BPS = 100e6
"""Rate of an access link, bit/s (section 3)."""

SEGMENT_BITS = 8320
"""A segment of 1000 bytes with 40 bytes of headers: not stated, but "up to 13" in 1 ms."""

PAYLOAD_BITS = 8000
"""Data of a segment."""

TIMES_S: tuple[float, float, float] = (0.001, 0.005, 0.010)
"""Assembly times of slow, medium and fast flows (section 5)."""

NODES = 8
"""Edge nodes (section 3)."""

SLACK = 1e-12
"""Relative slack for counts that a division of floats may leave just below a whole number."""
