"""Lu, Hunter (JOCN 2009)."""
