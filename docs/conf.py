"""How Sphinx makes the site: `make site`. Nothing is fetched, by the build or by who reads it."""

from __future__ import annotations

import re
import runpy
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import burstlab
from burstlab.plot.theme import FALSE, FIRST, INK, MUTED

project = "Burstlab"
version = release = burstlab.__version__

# The source directory is the root of the project: pages link to its files, and those to pages.
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "benches", "crates", "docs/_build", "out", "python", "stacks", "target"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
default_role = "code"
myst_heading_anchors = 4  # as sites that show Markdown have them
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "FloatArray")}
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Burstlab {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": FIRST,
        "color-brand-content": FIRST,
        "color-api-name": FALSE,
        "color-api-pre-name": MUTED,
        "color-foreground-primary": INK,
    },
}

LOGGER = logging.getLogger(__name__)

#: References that a page would load from elsewhere; links to click on are not among them.
FROM_ELSEWHERE = re.compile(r"<(?:script|img|iframe)[^>]* src=\"https?:|<link[^>]* href=\"https?:")


class Example(Directive):
    """``{example} NAME``: runs ``examples/NAME.py``, and shows its pictures and its source."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw, and return the nodes."""
        env: BuildEnvironment = self.state.document.settings.env
        script = env.srcdir / "examples" / f"{self.arguments[0]}.py"
        env.note_dependency(script)
        drawn = StringIO()
        pictures = env.srcdir / "out" / "gallery"
        with mock.patch.object(sys, "argv", [script.name, str(pictures)]), redirect_stdout(drawn):
            runpy.run_path(str(script))
        found: list[nodes.Node] = []
        for name in drawn.getvalue().split():
            if name.endswith(".svg"):
                uri = "/" + Path(name).relative_to(env.srcdir).as_posix()
                found.append(nodes.image(uri=uri, alt=Path(name).stem, width="100%"))
        source = script.read_text()
        found.append(nodes.literal_block(source, source, language="python"))
        return found


def everything_public_is_there(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of a public name of the package that the site leaves out."""
    named = {name.rsplit(".", 1)[-1] for name, *_ in env.domains.python_domain.get_objects()}
    missing = sorted(set(burstlab.__all__) - named - {"__version__"})
    if missing:
        LOGGER.warning("docs/reference/python.md says nothing of %s", ", ".join(missing))


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Lead from the top of the site to its first page; warn of what loads from elsewhere."""
    if failure:
        return
    top = f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
    (app.outdir / "index.html").write_text(top)
    for page in app.outdir.rglob("*.html"):
        if found := FROM_ELSEWHERE.search(page.read_text()):
            LOGGER.warning("%s loads what is elsewhere: %s", page.relative_to(app.outdir), found[0])


def setup(app: Sphinx) -> None:
    """Add what is above."""
    app.add_directive("example", Example)
    app.connect("env-check-consistency", everything_public_is_there)
    app.connect("build-finished", finish)
    # The package imports its names when they are asked for; autodoc looks for them without asking.
    for name in burstlab.__all__:
        setattr(burstlab, name, getattr(burstlab, name))
