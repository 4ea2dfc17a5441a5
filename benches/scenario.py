"""A scenario of benches/compare, or an example, as the JSON that the program `engine` reads.

usage: scenario.py FILE FLOWS        FLOWS = 0: the file as it is
"""

import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

COMPARE = Path(__file__).parent / "compare"
EXAMPLES = Path(__file__).parents[1] / "python" / "burstlab" / "examples"
sys.path.insert(0, str(COMPARE))

import mesh  # noqa: E402  # pyright: ignore[reportMissingImports]


def document(name: str, flows: int) -> dict[str, Any]:
    """Return the scenario with so many flows of `mesh`, or as it is."""
    if flows == 0:
        folder = next(one for one in (COMPARE, EXAMPLES) if (one / name).exists())
        return tomllib.loads((folder / name).read_text())
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / name
        mesh.burstlab(flows, COMPARE / name, listed)
        return tomllib.loads(listed.read_text())


if __name__ == "__main__":
    print(json.dumps(document(sys.argv[1], int(sys.argv[2]))))
