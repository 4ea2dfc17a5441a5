"""Shihada, Zhang, Ho (BROADNETS 2006)."""
