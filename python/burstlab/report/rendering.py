"""One form of page for every report: a template, its charts, and what draws them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from burstlab.shown import shown


@dataclass(frozen=True)
class Chart:
    """A chart of a page: the name of its place there, and its Vega-Lite specification."""

    id: str
    spec: str

    @classmethod
    def of(cls, name: str, specification: Mapping[str, Any]) -> Chart:
        """Make one from a specification."""
        text = json.dumps(specification, separators=(",", ":"))
        # Nothing in it can end the script that it stands in; in a string this means the same.
        text = text.replace("<", "\\u003c")
        return cls(f"chart-{name}".replace(".", "-").replace("/", "-"), text)


def render(template: str, charts: Sequence[Chart], **values: Any) -> str:
    """Fill in a template of the package; the page needs no other file and no network.

    Parameters
    ----------
    template
        Its file, which extends ``page.html.j2``.
    charts
        What is drawn.
    values
        What it shows.
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
    return environment.get_template(template).render(charts=charts, vega=_vega(), **values)


def script_safe(text: str) -> str:
    """Keep the text from ending the script element it stands in.

    The escapes mean the same within a string, which is where these words can occur.
    """
    text = re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE)
    return text.replace("<!--", "<\\!--")


def _vega() -> str:
    """Answer the program that draws, which takes two seconds to put together and is kept."""
    kept = _kept()
    if kept is not None:
        with suppress(OSError, ValueError):
            head, _, text = kept.read_text(encoding="utf-8").partition("\n")
            if head == _sum(text):
                return text
    import vl_convert

    # The stub wants an argument that the function does not.
    text = script_safe(vl_convert.javascript_bundle())  # pyright: ignore[reportCallIssue]
    if kept is not None:
        from burstlab.files import put

        with suppress(OSError):  # it is made anew the next time
            kept.parent.mkdir(parents=True, exist_ok=True)
            put(kept, f"{_sum(text)}\n{text}".encode())
    return text


def _kept() -> Path | None:
    """Answer where the program is kept: among what the user's system may throw away."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    with suppress(RuntimeError):  # nobody's home
        directory = Path(base) if base else Path.home() / ".cache"
        return directory / "burstlab" / f"vega-{version('vl-convert-python')}.js"
    return None


def _sum(text: str) -> str:
    return f"// {hashlib.sha256(text.encode()).hexdigest()}"
