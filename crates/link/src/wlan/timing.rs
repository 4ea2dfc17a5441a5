//! Times and limits of 802.11b.

use burstlab_units::{Bytes, Rate, Span};
use serde::{Deserialize, Serialize};

/// MAC header of a data frame with three addresses, and its check sequence.
pub(super) const DATA_HEADER: Bytes = Bytes::new(28);
pub(super) const RTS: Bytes = Bytes::new(20);
pub(super) const CTS: Bytes = Bytes::new(14);
pub(super) const ACK: Bytes = Bytes::new(14);

/// A speed of 802.11b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Speed {
    /// 1 Mb/s.
    Mb1,
    /// 2 Mb/s.
    Mb2,
    /// 5.5 Mb/s.
    Mb5,
    /// 11 Mb/s.
    Mb11,
}

impl Speed {
    /// The speed of `rate`, or `None` where 802.11b has no such one.
    #[must_use]
    pub fn of(rate: Rate) -> Option<Self> {
        match rate.as_bps() {
            1_000_000 => Some(Self::Mb1),
            2_000_000 => Some(Self::Mb2),
            5_500_000 => Some(Self::Mb5),
            11_000_000 => Some(Self::Mb11),
            _ => None,
        }
    }

    /// Microseconds that `size` takes, rounded up to whole ones: the length field of the PLCP
    /// header counts them.
    fn micros(self, size: Bytes) -> u64 {
        let half_bits = size.get() * 16;
        half_bits.div_ceil(match self {
            Self::Mb1 => 2,
            Self::Mb2 => 4,
            Self::Mb5 => 11,
            Self::Mb11 => 22,
        })
    }
}

/// The preamble before the MAC frame. A frame at 1 Mb/s always has the long one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preamble {
    /// 144 bits and the PLCP header of 48, at 1 Mb/s: 192 us.
    #[default]
    Long,
    /// 72 bits at 1 Mb/s, and the PLCP header at 2 Mb/s: 96 us.
    Short,
}

/// The timing rules of all nodes of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rules {
    /// Speed of data frames.
    pub data: Speed,
    /// In its place: speed of data frames to and from each station. Empty: `data` for all.
    pub stations: Vec<Speed>,
    /// Speed of RTS, CTS and ACK frames.
    pub basic: Speed,
    /// The preamble of each frame.
    pub preamble: Preamble,
    /// Slot of the back-off.
    pub slot: Span,
    /// From a frame to its answer.
    pub sifs: Span,
    /// How long the medium is idle before slots are counted.
    pub difs: Span,
    /// First contention window: a back-off is 0 to this many slots. Never zero.
    pub cw_min: u32,
    /// Largest contention window, not below the first.
    pub cw_max: u32,
    /// Tries of a frame not longer than the RTS threshold, and of an RTS, at least 1.
    pub short_retries: u32,
    /// Tries of a longer frame, at least 1.
    pub long_retries: u32,
    /// Data frames longer than this, MAC header and check sequence included, are preceded by an RTS
    /// (`None`: no frame is).
    pub rts_threshold: Option<Bytes>,
    /// Propagation from each node to each other.
    pub delay: Span,
}

impl Default for Rules {
    /// 802.11b with DSSS, 11 Mb/s, all else at 1 Mb/s, without RTS.
    fn default() -> Self {
        Self {
            data: Speed::Mb11,
            stations: Vec::new(),
            basic: Speed::Mb1,
            preamble: Preamble::Long,
            slot: Span::from_us(20),
            sifs: Span::from_us(10),
            difs: Span::from_us(50),
            cw_min: 31,
            cw_max: 1023,
            short_retries: 7,
            long_retries: 4,
            rts_threshold: None,
            delay: Span::ZERO,
        }
    }
}

impl Rules {
    /// Time on the air of a packet of `size` in a data frame to or from a station, counted from 1.
    #[must_use]
    pub fn data(&self, station: u32, size: Bytes) -> Span {
        let own = self.stations.get(station as usize - 1);
        self.frame(*own.unwrap_or(&self.data), size + DATA_HEADER)
    }

    /// The least time on the air of a data frame.
    pub(super) fn shortest_data(&self) -> Span {
        let fastest = self.stations.iter().max().unwrap_or(&self.data);
        self.frame(*fastest, DATA_HEADER)
    }

    /// Time on the air of an RTS.
    #[must_use]
    pub fn rts(&self) -> Span {
        self.frame(self.basic, RTS)
    }

    /// Time on the air of a CTS.
    #[must_use]
    pub fn cts(&self) -> Span {
        self.frame(self.basic, CTS)
    }

    /// Time on the air of an ACK.
    #[must_use]
    pub fn ack(&self) -> Span {
        self.frame(self.basic, ACK)
    }

    /// How long the medium is idle, after a frame that was not understood, before slots are
    /// counted: SIFS, an ACK at 1 Mb/s, and DIFS.
    #[must_use]
    pub fn eifs(&self) -> Span {
        self.answer_time() + self.difs
    }

    /// How long a sender waits for a CTS or an ACK from the end of its frame: for one at 1 Mb/s,
    /// and for the round trip. Then it counts slots, from the instant from which stations count
    /// that did not understand the frame.
    #[must_use]
    pub fn patience(&self) -> Span {
        self.answer_time() + self.delay * 2
    }

    /// Whether a packet of `size` is preceded by an RTS.
    #[must_use]
    pub fn asks(&self, size: Bytes) -> bool {
        self.rts_threshold.is_some_and(|threshold| size + DATA_HEADER > threshold)
    }

    fn answer_time(&self) -> Span {
        self.sifs + self.frame(Speed::Mb1, ACK)
    }

    fn frame(&self, speed: Speed, size: Bytes) -> Span {
        let short = self.preamble == Preamble::Short && speed != Speed::Mb1;
        Span::from_us(if short { 96 } else { 192 } + speed.micros(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_take_the_times_of_the_standard() {
        let rules = Rules::default();
        assert_eq!(rules.ack(), Span::from_us(304));
        assert_eq!(rules.rts(), Span::from_us(352));
        assert_eq!(rules.eifs(), Span::from_us(364));
        assert_eq!(rules.data(1, Bytes::new(1500)), Span::from_us(192 + 1112));
        let short = Rules { preamble: Preamble::Short, basic: Speed::Mb2, ..rules.clone() };
        assert_eq!(short.cts(), Span::from_us(96 + 56));
        assert_eq!(short.eifs(), rules.eifs(), "its ACK is one at 1 Mb/s");
        let slower = Rules { data: Speed::Mb5, ..rules };
        assert_eq!(slower.data(1, Bytes::new(1500)), Span::from_us(192 + 2223));
    }

    #[test]
    fn each_station_has_its_speed() {
        let rules = Rules { stations: vec![Speed::Mb1, Speed::Mb5], ..Rules::default() };
        assert_eq!(rules.data(1, Bytes::new(1500)), Span::from_us(192 + 12_224));
        assert_eq!(rules.data(2, Bytes::new(1500)), Span::from_us(192 + 2223));
        assert_eq!(rules.shortest_data(), rules.data(2, Bytes::ZERO));
    }

    #[test]
    fn frames_longer_than_the_threshold_ask() {
        let rules = Rules { rts_threshold: Some(Bytes::new(528)), ..Rules::default() };
        assert!(!rules.asks(Bytes::new(500)) && rules.asks(Bytes::new(501)));
        assert!(!Rules::default().asks(Bytes::new(100_000)));
    }
}
