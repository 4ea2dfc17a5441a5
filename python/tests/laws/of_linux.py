"""Laws for the sender of Linux: those that are built in, written out, and some that are not."""

from burstlab.control import CongestionControl


class Reno(CongestionControl):
    """As Linux counts it: a segment for each window that is acknowledged."""

    def __init__(self):
        self.credit = 0

    def on_ack(self, event):
        cwnd = int(event.cwnd)
        each = cwnd
        if self.credit >= each:
            self.credit = 0
            cwnd += 1
        self.credit += event.acked
        more, self.credit = divmod(self.credit, each)
        return cwnd + more

    def on_loss(self, event):
        self.credit = 0
        return event.window // 2

    def on_timeout(self, event):
        return self.on_loss(event)


class Dctcp(CongestionControl):
    """RFC 8257 section 3.3, by the counts of an event."""

    def __init__(self, gain=1 / 16):
        self.gain, self.alpha = gain, 1.0
        self.last = (0, 0)
        self.ends = 0

    def learn(self, event):
        if event.first > self.ends:
            delivered, marked = event.delivered, event.delivered_marked
            new = delivered - self.last[0]
            share = (marked - self.last[1]) / new if new else 0.0
            self.alpha += self.gain * (share - self.alpha)
            self.last, self.ends = (delivered, marked), event.next

    def on_ack(self, event):
        self.learn(event)
        return event.cwnd + event.acked / event.cwnd

    def on_mark(self, event):
        self.learn(event)
        return event.window * (1 - self.alpha / 2)


class Paced:
    """Half of what the link carries, whatever happens."""

    rules_slow_start = True

    def __init__(self, rate=5e6):
        self.rate = rate

    def on_ack(self, event):
        return 100

    def on_loss(self, event):
        return event.window

    def pacing_rate(self, event):
        return self.rate


class Timed:
    """A window that opens at times of its own: seven segments more each 40 ms up to a bound."""

    rules_slow_start = True

    def __init__(self, every=0.04, most=60):
        self.every, self.most = every, most
        self.due = None

    def on_ack(self, event):
        return event.cwnd

    def next_timer(self, event):
        if self.due is None:
            self.due = event.now + self.every
        return max(self.due - event.now, 1e-6)

    def on_timer(self, event):
        assert abs(event.now - self.due) < 1e-11, (event.now, self.due)
        self.due = None
        return min(event.cwnd + 7, self.most)
