"""Causes of losses, by what tables call them."""

from __future__ import annotations

#: What takes bursts whether or not a wavelength is free: nothing refuses them. Cutting took its
#: bursts before their headers came to a fibre that has no wavelength for them.
TAKES = ("injected", "scripted", "operated", "failure", "outage", "cut")
