"""How runs are made: the engine, what it may take, how it is stopped, what is told meanwhile."""
