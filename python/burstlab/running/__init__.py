"""How runs are made: the engine, its limits, how it is stopped, and its progress."""
