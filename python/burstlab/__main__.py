"""``python -m burstlab`` is the command ``burstlab``."""

from burstlab.cli import main

main()
