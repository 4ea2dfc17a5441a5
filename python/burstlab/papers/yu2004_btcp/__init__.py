"""Yu, Qiao, Liu (INFOCOM 2004): TCP variants over burst assembly, and Burst TCP."""
