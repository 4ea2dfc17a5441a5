//! The control channels of a fibre.

use burstlab_units::{Bytes, Rate, Serializer, Time};
use serde::{Deserialize, Serialize};

/// The channels of one fibre that carry headers, all of one size, first in, first out. A header
/// takes the channel that is free first, of equal ones the first. They come out in the order they
/// went in: what a channel carries over below a picosecond lets none pass the one before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ControlChannels {
    header: Bytes,
    /// Each channel, and when it is free.
    lines: Vec<(Time, Serializer)>,
    last: Time,
    /// When the header before was out.
    out: Time,
}

impl ControlChannels {
    /// This many `channels` of `rate` each, for headers of the size `header`.
    ///
    /// # Panics
    /// With no channel.
    #[must_use]
    pub fn new(channels: u32, rate: Rate, header: Bytes) -> Self {
        assert!(channels > 0, "headers need a channel");
        let lines = vec![(Time::ZERO, Serializer::new(rate)); channels as usize];
        Self { header, lines, last: Time::ZERO, out: Time::ZERO }
    }

    /// A header is ready at `now`; returns when its first bit leaves, and when its last is out.
    ///
    /// # Panics
    /// When `now` lies before the header before it.
    #[inline]
    pub fn send(&mut self, now: Time) -> (Time, Time) {
        assert!(self.last <= now, "headers come in order: {} after {now}", self.last);
        self.last = now;
        let lines = self.lines.iter_mut();
        let (free_at, line) =
            lines.min_by_key(|(free_at, _)| *free_at).expect("there is a channel");
        let start = now.max(*free_at);
        *free_at = start + line.next(self.header);
        self.out = self.out.max(*free_at);
        (start, self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Span;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    #[test]
    fn headers_queue_where_all_channels_are_taken() {
        // 100 bytes at 80 Mb/s are 10 us.
        let mut channels = ControlChannels::new(2, Rate::from_bps(80_000_000), Bytes::new(100));
        let sent = [0, 0, 4, 5, 50].map(|n| channels.send(us(n)));
        assert_eq!(sent.map(|(_, out)| out), [10, 10, 20, 20, 60].map(us));
        assert_eq!(sent.map(|(begun, _)| begun), [0, 0, 10, 10, 50].map(us));
        assert_eq!(channels.send(us(51)), (us(51), us(61)));
    }

    #[test]
    fn channels_of_odd_rates_keep_the_order() {
        // 8 bits at 56 kb/s are 142857142.857 ps: each channel carries what is below a picosecond.
        let mut channels = ControlChannels::new(2, Rate::from_bps(56_000), Bytes::new(1));
        let ready = [0, 500, 500, 650, 650, 1100, 1100].map(us);
        let sent: Vec<Time> = ready.map(|at| channels.send(at).1).to_vec();
        assert!(sent.is_sorted(), "{sent:?}");
        let ready: Vec<Time> = (0..2000).map(|n| Time::from_ps(n / 2 * 150_000_000)).collect();
        let sent: Vec<Time> = ready.iter().map(|&at| channels.send(us(10_000).max(at)).1).collect();
        assert!(sent.is_sorted());
    }

    #[test]
    fn a_full_channel_sends_exactly_its_rate() {
        // 8 bits at 3 bit/s: no whole number of picoseconds, yet 3 headers take 8 s.
        let mut channel = ControlChannels::new(1, Rate::from_bps(3), Bytes::new(1));
        let sent = [0, 0, 0].map(|n| channel.send(us(n)));
        assert_eq!(sent[2].1, us(8_000_000));
    }
}
