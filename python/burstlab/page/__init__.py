"""The interactive page: a result to watch, a path to try out, and a guided tour, in a browser.

The page is served on the loopback interface by this process, and by nobody else; or it is a file.
"""

from burstlab.page.demonstrating import demonstration
from burstlab.page.exporting import export
from burstlab.page.playing import player
from burstlab.page.serving import Page, Server, serve
from burstlab.page.viewing import viewer

__all__ = ["Page", "Server", "demonstration", "export", "player", "serve", "viewer"]
