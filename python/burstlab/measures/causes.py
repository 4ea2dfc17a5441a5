"""Causes of losses, by what tables call them."""

from __future__ import annotations

#: Causes that drop bursts whether or not a wavelength is free. `cut` takes bursts before their
#: headers come to a fibre that has no wavelength for them.
TAKES = ("injected", "scripted", "operated", "failure", "outage", "cut")
