"""Data of reproductions as a set that can be cited: Parquet files, and a card about them."""

from burstlab.dataset.making import TARGETS, make

__all__ = ["TARGETS", "make"]
