"""Senders of 2004 and today over an OBS network, and connections of a kernel compared with ours."""

from burstlab.papers.today2026_stacks.contention import contention
from burstlab.papers.today2026_stacks.ends import ends
from burstlab.papers.today2026_stacks.forms import forms
from burstlab.papers.today2026_stacks.kernel import kernel
from burstlab.papers.today2026_stacks.stacks import stacks

TARGETS = {
    "stacks": stacks,
    "ends": ends,
    "kernel": kernel,
    "forms": forms,
    "nsfnet": contention,
    "wlan": contention,
}
