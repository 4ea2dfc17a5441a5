"""Where files came from: whether they lie in a directory that Burstlab wrote.

Such a directory may be anybody's: what it holds is data, and code in it is executed only where that
is allowed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from burstlab.storage.files import stored_text

#: Files that show who wrote a directory: a run, a study, a data set, a reproduction, a question,
#: and one that is not answered yet.
MARKS = (
    *("summary.json", ".summary.json", "study.json", "dataset.json"),
    *("reproduce.json", "what-if.json", "blame.json", ".prices.jsonl"),
)

#: The same of checkpoints.
CHECKPOINT = "replication-*.ckpt"


def came_with(path: str | os.PathLike[str]) -> Path | None:
    """Return the directory, written by Burstlab, that a file or a directory lies in, if it does.

    Parameters
    ----------
    path
        Of the file or directory; a link counts as where it is and as where it leads.
    """
    place = Path(path)
    for where in dict.fromkeys((place.absolute(), place.resolve())):
        near = where if where.is_dir() else where.parent
        for directory in (near, *near.parents):
            marks = [mark for name in MARKS if (mark := directory / name).is_file()]
            marks += directory.glob(CHECKPOINT)
            if marks and (directory == near or any(map(_is_ours, marks))):
                return directory
    return None


def came_inside(scenario: object) -> bool:
    """Whether a scenario is the path of one in such a directory."""
    return isinstance(scenario, (str, os.PathLike)) and came_with(scenario) is not None


def _is_ours(mark: Path) -> bool:
    """Whether Burstlab wrote a file; further up, others may have files of such a name."""
    try:
        found = json.loads(stored_text(mark))
    except (OSError, ValueError):
        return True  # Damage is no excuse.
    return isinstance(found, dict) and ("burstlab" in found or "recipe" in found)
