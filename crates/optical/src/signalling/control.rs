//! The control channels of a fibre.

use burstlab_units::{Bytes, Rate, Serializer, Time};
use serde::{Deserialize, Serialize};

/// The channels of one fibre that carry headers, all of one size, first in, first out. A header
/// takes the channel that is free first, of equal ones the first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ControlChannels {
    header: Bytes,
    /// Each channel, and when it is free.
    lines: Vec<(Time, Serializer)>,
    last: Time,
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
        Self { header, lines, last: Time::ZERO }
    }

    /// A header is ready at `now`; answers when its first bit leaves, and when its last is out.
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
        (start, *free_at)
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
    fn a_full_channel_sends_exactly_its_rate() {
        // 8 bits at 3 bit/s: no whole number of picoseconds, yet 3 headers take 8 s.
        let mut channel = ControlChannels::new(1, Rate::from_bps(3), Bytes::new(1));
        let sent = [0, 0, 0].map(|n| channel.send(us(n)));
        assert_eq!(sent[2].1, us(8_000_000));
    }
}
