"""Numbers of results: by name, over replications, and beside one another."""
