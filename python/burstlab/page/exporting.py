"""The page as one file that works without a server: it contains the answers.

Modules become entries of an import map, as ``data:`` addresses under names of their own, since a
file may not ask for another one. Answers are compressed; ``js/file.js`` opens them.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from burstlab.errors import InputError
from burstlab.page.columns import document, pack
from burstlab.page.serving import LIBRARY, SCRIPTS, START, STYLES, Body, Page, content
from burstlab.page.showing import RUN
from burstlab.storage.directories import ready_file
from burstlab.storage.files import put
from burstlab.storage.parquet import writing

#: Bytes of the flows of one run, before they are compressed; those with most time-outs come first.
FLOWS_MAX = 24_000_000

#: Controls in the file, with the steps whose answers are recorded.
PLAYED: Mapping[str, tuple[Any, ...]] = {
    "timer": ("1 ms", "5 ms", "20 ms"),
    "loss": (0.0, 0.001, 0.01, 0.03, 0.1),
    "detector": ("ble", "back", "bnak", "oracle"),
}

#: Nothing is asked for from anywhere.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    "img-src data:; media-src blob:; base-uri 'none'; form-action 'none'"
)

#: Bytes that are compressed at once, in some 10 ms.
_AT_ONCE = 250_000

_SCRIPT = re.compile(r'(?<= from )"\./([a-z]+\.js)"')

Progress = Callable[[float], object]


def export(
    page: Page, file: str | os.PathLike[str], *, force: bool = False, progress: Progress = bool
) -> Path:
    """Write a page as a file.

    Parameters
    ----------
    page
        The page.
    file
        Where to.
    force
        Replace a file that is there.
    progress
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        If there is such a file already, or it cannot be written.
    """
    where = Path(file)
    ready_file(where, "--export")
    if where.exists() and not force:
        raise InputError(f"{where}: exists already\n  fix: give another name, or --force")
    answers = dict(_answers(page, progress))
    with writing(where, "--export"):
        where.parent.mkdir(parents=True, exist_ok=True)
        put(where, _html(answers).encode())
    return where


def _answers(page: Page, progress: Progress) -> Iterator[tuple[str, Body]]:
    about = json.loads(page.data["data/page"]({}).content)
    steps = {str(number): {"number": str(number)} for number in range(1, about["steps"] + 1)}
    texts = {n: page.data["data/step"]({**query, "file": "1"}) for n, query in steps.items()}
    # A tour has the runs of its steps; those of papers are for the server, which makes them.
    named = {json.loads(body.content)["state"].get("run") for body in texts.values()}
    listed = [one for one in about["runs"] if not steps or one["key"] in named]
    runs = [one["key"] for one in listed]
    if about["kind"] == "view":
        yield from _run(page, {})
    for number, run in enumerate(runs):
        progress(0.5 * number / len(runs))
        yield from _run(page, {RUN: run})
        if number == 0:
            # An address without a run means this one.
            yield from _run(page, {})
    for number, query in steps.items():
        yield key("step", query), texts[number]
    if about["play"]:
        begun = 0.5 if runs else 0.0
        yield from _played(page, lambda share: progress(begun + (1 - begun) * share))
    # Only the server runs presets; the file has recorded answers.
    yield key("page", {}), document({**about, "runs": listed, "presets": []})


def key(name: str, query: Mapping[str, Any]) -> str:
    """Return the name of an answer in the file, as ``key`` of ``js/file.js`` does.

    Parameters
    ----------
    name
        The name of the request.
    query
        The query.
    """
    return "&".join([name, *sorted(f"{field}={value}" for field, value in query.items())])


def _run(page: Page, choice: Mapping[str, str]) -> Iterator[tuple[str, Body]]:
    """Return all answers about a run."""
    about = json.loads(page.data["data/about"](choice).content)
    yield key("losses", choice), page.data["data/losses"](choice)
    # All bursts at once; the page takes the stretch that it shows.
    everything = {**choice, "from": "0", "to": str(about["end_s"])}
    bursts = page.data["data/bursts"](everything)
    reach_s = max((fibre["delay_s"] for fibre in about["network"]["fibres"]), default=0.0)
    yield key("bursts", choice), _with(bursts, {"reach_s": reach_s})
    size, kept = 0, []
    for flow in about["flows"]:
        query = {**choice, "flow": str(flow["id"])}
        found = page.data["data/flow"](query)
        size += len(found.content)
        if kept and size > FLOWS_MAX:
            break
        kept.append(flow)
        yield key("flow", query), found
    left_out = len(about["flows"]) - len(kept)
    note = about["note"]
    if left_out:
        note = f"{note} Of {len(about['flows'])} flows this file has {len(kept)}.".strip()
    # Another run of a study would have to be made.
    yield key("about", choice), document({**about, "flows": kept, "note": note, "study": None})


def _with(body: Body, more: Mapping[str, Any]) -> Body:
    """Say more in the head of columns."""
    from burstlab.page.columns import unpack

    about, found = unpack(body.content)
    return pack(found, {**about, **more})


def _played(page: Page, progress: Progress) -> Iterator[tuple[str, Body]]:
    """Return the controls that stay, and every answer to them."""
    given = json.loads(page.data["data/controls"]({}).content)
    kept: list[dict[str, Any]] = []
    for control in given["controls"]:
        steps = PLAYED.get(control["name"])
        if steps is None:
            continue
        first = [] if control["value"] in steps else [control["value"]]
        values = [one for one in control["values"] if one in steps or one in first]
        kept.append({**control, "values": values})
    note = "This file holds the answers to these controls; burstlab play has more of them."
    given = {**given, "controls": kept, "note": f"{given['note']} {note}".strip()}
    yield key("controls", {"preset": ""}), document(given)
    names = [control["name"] for control in kept]
    every = list(itertools.product(*(control["values"] for control in kept)))
    for number, values in enumerate(every):
        progress(number / len(every))
        query = {name: _written(value) for name, value in zip(names, values, strict=True)}
        found = page.data["data/play"](query)
        runs = json.loads(_head(found)).get("about", {}) if _columns(found) else {}
        if runs.get("runs", 0) < runs.get("most", 0):
            found = _with(found, _several(page, query, runs["most"]))
        yield key("play", query), found


def _written(value: Any) -> str:
    """Write a value as the browser does."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _several(page: Page, query: Mapping[str, str], runs: int) -> dict[str, Any]:
    return json.loads(page.data["data/several"]({**query, "runs": str(runs)}).content)


def _columns(body: Body) -> bool:
    return body.kind == "application/octet-stream"


def _head(body: Body) -> bytes:
    return body.content[4 : 4 + int.from_bytes(body.content[:4], "little")]


def _html(answers: Mapping[str, Body]) -> str:
    """Put the files and the answers into the document."""
    html = content(START).decode()
    styles = "\n".join(content(name).decode() for name in STYLES)
    head = [
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<style>\n{styles}</style>",
        f"<!-- uPlot: {content('vendor/uPlot-LICENSE.txt').decode().strip()} -->",
        f"<script>{content(LIBRARY).decode()}</script>",
        f'<script type="importmap">{json.dumps({"imports": _imports()})}</script>',
    ]
    body = [
        f'<script type="application/json" id="answers">{_packed(answers)}</script>',
        '<script type="module">import "burstlab/main.js";</script>',
    ]
    icon = base64.b64encode(content("favicon.svg")).decode()
    html = re.sub(r'<link rel="(stylesheet|modulepreload)"[^>]*>\n', "", html)
    html = re.sub(r"<script [^>]*></script>\n", "", html)
    html = html.replace('href="favicon.svg"', f'href="data:image/svg+xml;base64,{icon}"')
    html = html.replace("</head>", "\n".join([*head, "</head>"]))
    return html.replace("</body>", "\n".join([*body, "</body>"]))


def _imports() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in SCRIPTS:
        short = name.removeprefix("js/")
        text = _SCRIPT.sub(r'"burstlab/\1"', content(name).decode())
        code = base64.b64encode(text.encode()).decode()
        found[f"burstlab/{short}"] = f"data:text/javascript;base64,{code}"
    return found


def compressed(content: bytes) -> bytes:
    """Return what `gzip.compress` does, part by part: one call of it hears no signal."""
    parts = zlib.compressobj(9, wbits=31)
    views = memoryview(content)
    packed = [parts.compress(views[at : at + _AT_ONCE]) for at in range(0, len(views), _AT_ONCE)]
    return b"".join([*packed, parts.flush()])


def _packed(answers: Mapping[str, Body]) -> str:
    found = {
        name: {
            "json": not _columns(body),
            "content": base64.b64encode(compressed(body.content)).decode(),
        }
        for name, body in answers.items()
    }
    # A closing tag must not end the script early.
    return json.dumps(found).replace("</", "<\\/")
