"""Write the program that draws the charts of reports anew, from the vl-convert that is locked."""

from pathlib import Path

import vl_convert

from burstlab.report import rendering

text = rendering.script_safe(vl_convert.javascript_bundle())  # pyright: ignore[reportCallIssue]
place = Path(rendering.__file__).parent / "vendor/vega.js"
place.write_text(text, encoding="utf-8")
print(f"{place}: {len(text):,} bytes")
