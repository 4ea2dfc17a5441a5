"""Every number of a run, computed a second time from its traces."""
