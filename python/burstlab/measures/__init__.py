"""Numbers of results: by name, over replications, and compared with one another."""
