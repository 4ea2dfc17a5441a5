"""Write the program that draws the charts of reports anew, from the vl-convert that is locked."""

import lzma

import vl_convert

from burstlab.report import rendering

text = rendering.script_safe(vl_convert.javascript_bundle())  # pyright: ignore[reportCallIssue]
packed = lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
rendering.DRAWN_BY.write_bytes(packed)
print(f"{rendering.DRAWN_BY}: {len(text):,} bytes, packed {len(packed):,}")
