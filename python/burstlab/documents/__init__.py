"""Scenarios as documents: their fields by path, their files, and where these came from."""
