"""Senders of 2004 and of today over an OBS path, and connections of a real kernel beside ours."""

from burstlab.papers.today2026_stacks.kernel import kernel
from burstlab.papers.today2026_stacks.stacks import stacks

TARGETS = {"stacks": stacks, "kernel": kernel}
