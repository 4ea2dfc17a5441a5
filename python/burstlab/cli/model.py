"""``burstlab model``: closed forms."""

from __future__ import annotations

from burstlab.cli.flags import Json, Settings


def model(
    name: str | None = None,
    /,
    *,
    set_: Settings = None,
    json_: Json = False,
) -> int:
    """Evaluate a closed form of the literature (none is there yet).

    Parameters
    ----------
    name
        Name of the model; without it, the models are listed.
    set_
        Set a parameter: name=value. Repeatable.
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.errors import unknown

    if name is not None:
        raise unknown("model", name, ())
    print('{"models": []}' if json_ else "no closed form is there yet")
    return 0
