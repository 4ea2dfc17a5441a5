"""Surgery on bursts: what one of them changes, and what those that were lost have cost."""

from burstlab.surgery.blaming import Blame, blame
from burstlab.surgery.parting import WhatIf, what_if

__all__ = ["Blame", "WhatIf", "blame", "what_if"]
