"""``burstlab demo``: the guided tour, scenarios of papers to watch, and a path to play with."""

from __future__ import annotations

from burstlab.errors import unknown
from burstlab.page.controls import START
from burstlab.page.playing import SIDES, Player
from burstlab.page.presets import presets
from burstlab.page.scenes import Scene, Scenes
from burstlab.page.serving import Page
from burstlab.page.showing import page_about, watched
from burstlab.page.touring import SCENES, STEPS, Tour


def demonstration() -> Page:
    """Make the page of the demonstration; each of its runs is made on demand."""
    playing = Player(START, "a path of three fibres")

    def find(key: str) -> Scene:
        if key.partition("?")[0] in SIDES:
            return playing.scene(key)
        if key in SCENES:
            return SCENES[key].scene
        known = presets()
        if key not in known:
            raise unknown("run", key, (*SCENES, *known))
        return known[key].scene

    first = next(iter(SCENES))
    scenes = Scenes(find, first)
    tour = Tour(scenes)
    # The others are made while the reader watches the first.
    for key in SCENES:
        scenes.want(key)

    def close() -> None:
        scenes.close()
        playing.close()

    return Page(
        "the demonstration",
        {
            "data/page": page_about(
                "demo",
                runs=[
                    *(one.to_json() for one in SCENES.values()),
                    *(one.to_json() for one in presets().values()),
                ],
                steps=STEPS,
                presets=[one.to_json() for one in presets().values() if one.play],
            ),
            "data/step": tour.answer,
            **watched(scenes.shown),
            **playing.answers(),
        },
        close,
    )
