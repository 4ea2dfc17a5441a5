"""One form of page for every report: a template, its charts, and what draws them."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab.printable import shown
from burstlab.studies.called import called

#: The program that draws charts: Vega, Vega-Lite and Vega-Embed, minified and packed.
DRAWN_BY = Path(__file__).parent / "vendor/vega.js.xz"


@dataclass(frozen=True)
class Chart:
    """A chart of a page: the name of its place there, and its Vega-Lite specification."""

    id: str
    spec: str

    @classmethod
    def of(cls, name: str, specification: Mapping[str, Any]) -> Chart:
        """Make one from a specification."""
        text = json.dumps(specification, separators=(",", ":"))
        # The data cannot end the script element: within a string this escape means the same.
        text = text.replace("<", "\\u003c")
        return cls(f"chart-{name}".replace(".", "-").replace("/", "-"), text)


def render(template: str, charts: Sequence[Chart], **values: Any) -> str:
    """Fill in a template of the package; the page needs no other file and no network.

    Parameters
    ----------
    template
        Its file, which extends ``page.html.j2``.
    charts
        The figures.
    values
        The values of the template's names.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def visible(value: Any) -> Any:
        ours = not isinstance(value, str) or isinstance(value, Markup)
        return value if ours else shown(value, lines=True)

    environment = Environment(
        loader=PackageLoader("burstlab.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["called"] = called
    return environment.get_template(template).render(charts=charts, vega=drawn_by(), **values)


def script_safe(text: str) -> str:
    """Keep the text from ending the script element it stands in.

    The escapes mean the same within a string, which is where these words can occur.
    """
    text = re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE)
    return text.replace("<!--", "<\\!--")


def drawn_by() -> str:
    """Return the program that draws the charts of a page, for a script element."""
    return lzma.decompress(DRAWN_BY.read_bytes()).decode("utf-8")
