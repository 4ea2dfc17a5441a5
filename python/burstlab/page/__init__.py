"""The interactive page: a result to watch, or a path to try out, in a browser.

The page is served on the loopback interface by this process, and by nobody else.
"""

from burstlab.page.playing import player
from burstlab.page.serving import Page, Server, serve
from burstlab.page.viewing import viewer

__all__ = ["Page", "Server", "player", "serve", "viewer"]
