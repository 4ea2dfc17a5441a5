"""The command `burstlab`."""

from burstlab.cli.app import main

__all__ = ["main"]
