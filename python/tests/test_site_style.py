"""The style sheet of the documentation: output can be read in both themes, tables at 420 px."""

from __future__ import annotations

import pytest
from chromium import chromium, needs_chromium

pytestmark = [needs_chromium, pytest.mark.slow]

#: Colours of the theme of the site (Furo), by which blocks of output have to be readable.
THEMES = {
    "light": ("#000", "#fff", "#eeebee", "#f8f9fb"),
    "dark": ("#cfd0d0", "#131416", "#303335", "#1a1c1e"),
}

PAGE = """<!doctype html><html><head><style>
:root {{ --color-foreground-primary: {0}; --color-background-primary: {1};
  --color-background-border: {2}; --color-code-background: {3}; }}
body {{ margin: 0; color: var(--color-foreground-primary);
  background: var(--color-background-primary); }}
* {{ box-sizing: border-box; }}
pre {{ overflow: auto; margin: 0; }}
.highlight {{ color: var(--color-foreground-primary); background: var(--color-code-background); }}
.table-wrapper {{ overflow-x: auto; width: 100%; }}
{style}
</style></head><body data-theme="{theme}"><div class="content">
<div class="highlight-text notranslate"><div class="highlight"><pre>{line}</pre></div></div>
<div class="table-wrapper docutils container"><table class="docutils"><tr>{cells}</tr></table></div>
<p><code>{path}</code></p>
</div></body></html>"""

CONTRAST = """() => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).map(Number).slice(0, 3).map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const style = getComputedStyle(document.querySelector(".highlight-text pre"));
  const pair = [light(style.color), light(style.backgroundColor)].sort((a, b) => b - a);
  return (pair[0] + 0.05) / (pair[1] + 0.05);
}"""


@pytest.mark.parametrize("theme", THEMES)
def test_output_can_be_read_and_no_table_widens_the_page(root, theme):
    style = (root / "docs" / "static" / "site.css").read_text()
    page = PAGE.format(
        *THEMES[theme],
        style=style,
        theme=theme,
        line="output " * 40,
        cells="<td>wide_column_of_a_table</td>" * 12,
        path="a.very.long.path." * 12,
    )
    with chromium() as browser:
        for width in (420, 1024, 1440):
            tab = browser.new_page(viewport={"width": width, "height": 800})
            tab.set_content(page)
            assert tab.evaluate(CONTRAST) >= 7.0, "the output of commands"
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            tab.close()
