"""Entries of the page of errata for places in a paper, as parts of a report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Links of that page to other pages, which are not stored with a report.
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")

_PAGE = Path(__file__).parent.parent / "papers/errata.md"


def errata(paper: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the errata of a paper: ``place``, ``id`` in the page, and the text as ``html``.

    Parameters
    ----------
    paper
        Its table: ``key``, and ``errata`` with the headings of the page.
    """
    places: Sequence[str] = paper.get("errata", ())
    if not places:
        return []
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for part in re.split(r"^## ", _PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        texts = dict(one.split("\n", 1) for one in re.split(r"^### ", part, flags=re.MULTILINE)[1:])
        if set(places) <= set(texts):
            return [
                {
                    "place": place,
                    "id": f"erratum-{paper['key']}-{index}",
                    "html": markdown.render(_LINK.sub(r"\1", texts[place])),
                }
                for index, place in enumerate(places, start=1)
            ]
    raise AssertionError(f"the page of errata lacks places of {paper['key']}")
