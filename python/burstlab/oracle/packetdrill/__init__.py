"""Scripts of packetdrill, run against the sender of Linux.

``reading`` reads the language into ``events``, ``settings`` takes the shell lines, ``host`` is a
host with sockets and connections, whose sending is the engine's (``outgoing``), ``running`` goes
through a script and compares, ``assertions`` evaluates its code, ``matrix`` counts what passes.
"""

from burstlab.oracle.packetdrill.matrix import ScriptOutcome, matrix, run_scripts

__all__ = ["ScriptOutcome", "matrix", "run_scripts"]
