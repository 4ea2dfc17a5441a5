"""Columns in memory, and Parquet files of them: what of that format a table of Burstlab needs."""
