"""Charts in a notebook without a network: as pictures, or by the program that reports have."""

from __future__ import annotations

import html
import json
import sys
from importlib.util import find_spec
from typing import Any

#: Renderers that load the program that draws from the network: what Altair begins with.
_LOADING = ("default", "html")

_NAME = "burstlab"


def offline() -> None:
    """Let Altair draw without a network in a notebook, unless the user has chosen a renderer."""
    if "ipykernel" not in sys.modules:
        return
    import altair as alt

    if alt.renderers.active in _LOADING:
        alt.renderers.register(_NAME, bundle)
        alt.renderers.enable(_NAME)


def bundle(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Return a chart as a notebook keeps it.

    Parameters
    ----------
    spec
        Its Vega-Lite specification.
    """
    plain = {"text/plain": "<a chart>"}
    if find_spec("vl_convert"):
        import vl_convert

        return {"image/svg+xml": vl_convert.vegalite_to_svg(json.dumps(spec)), **plain}
    from burstlab.report.rendering import Chart, drawn_by

    text = Chart.of("one", spec).spec
    page = (
        f'<div id="chart"></div><script>{drawn_by()}</script><script>'
        f'vegaEmbed("#chart", {text}, {{actions: false}}).then(() => {{'
        "frameElement.style.height = document.documentElement.scrollHeight + 8 + 'px';});</script>"
    )
    frame = (
        f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:30em;border:0"></iframe>'
    )
    return {"text/html": frame, **plain}
