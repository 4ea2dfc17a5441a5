"""Does today's TCP still need Burst TCP? A comparison of our own; see README.md."""
