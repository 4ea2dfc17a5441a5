"""``burstlab examples``: scenarios to start from."""

from __future__ import annotations

from pathlib import Path

from burstlab.cli.flags import Switch
from burstlab.cli.printing import say
from burstlab.printable import several

#: The directory of the exercises, of docs/exercises.md.
EXERCISES = "exercises"


def examples(directory: str = "examples", /, *, force: Switch = False) -> int:
    """Write the example scenarios, plans and scripts of the documentation into a directory.

    ``burstlab examples exercises`` writes the scenarios of the exercises alone.

    Parameters
    ----------
    directory
        Where; it is made if it does not exist. Files in it that were changed are refused.
    force
        Replace these too.
    """
    import burstlab
    from burstlab.errors import InputError
    from burstlab.storage.files import put
    from burstlab.storage.parquet import writing

    origin, out = Path(burstlab.__file__).parent / "examples", Path(directory)
    if directory == EXERCISES:
        origin /= EXERCISES
    files = [one for one in sorted(origin.rglob("*")) if one.suffix in (".toml", ".py")]
    found = {one.relative_to(origin): one.read_bytes() for one in files}
    with writing(out, "directory"):
        changed = [
            name
            for name, content in found.items()
            if (out / name).exists() and (out / name).read_bytes() != content
        ]
        if changed and not force:
            raise InputError(
                f"{out / changed[0]}: exists, with other contents\n"
                "  fix: give another directory, or add --force to replace it"
            )
        for name, content in found.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            put(out / name, content)
    first = out / ("lost_burst.toml" if directory == EXERCISES else "one_burst.toml")
    say(f"{several(len(found), 'file')} in {out}\nnext: burstlab run {first}")
    return 0
