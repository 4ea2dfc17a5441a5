"""Write the files of a web site: as many as are asked for, of random sizes, always the same.

Usage: python examples/live/web_files.py DIRECTORY [COUNT]; the files are called 1, 2 and so on.
"""

import sys
from pathlib import Path

import numpy as np

#: Sizes are log-normal, much as those of objects of the web: their median in bytes, and the
#: deviation of their natural logarithm; none is larger than so many bytes.
MEDIAN, DEVIATION, LARGEST = 10_000, 1.3, 500_000

directory = Path(sys.argv[1])
count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
draws = np.random.default_rng(1).standard_normal(count)
directory.mkdir(parents=True, exist_ok=True)
for number, draw in enumerate(draws, 1):
    size = min(round(MEDIAN * float(np.exp(DEVIATION * draw))), LARGEST)
    (directory / str(number)).write_bytes(bytes(size))
