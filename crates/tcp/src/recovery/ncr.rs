//! Patience with reordered segments: the response to duplicate ACKs is delayed by some round trip.

use serde::{Deserialize, Serialize};

use crate::config::{Config, Ncr as Choice};
use crate::flow::Flow;

/// TCP-NCR (RFC 4653), the form in which TCP-DCR (Bhandarkar and Reddy 2004) became an RFC. Names
/// in quotes are those of the RFC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ncr {
    careful: bool,
    /// Segments in flight when the first duplicate ACK came, "FlightSizePrev"; 0: none came.
    flight: u64,
    /// Whether the last duplicate ACK released no segment.
    skipped: bool,
}

impl Ncr {
    pub(super) fn new(config: &Config) -> Option<Self> {
        let careful = match config.ncr? {
            Choice::Off => return None,
            choice => choice == Choice::Careful,
        };
        Some(Self { careful, flight: 0, skipped: false })
    }

    /// A duplicate ACK came, the first of several perhaps: returns how many make a loss,
    /// "DupThresh": "LT_F" of the segments in flight, at least as many as usual.
    pub(super) fn threshold(&mut self, flow: &Flow) -> u32 {
        if flow.duplicates == 1 {
            (self.flight, self.skipped) = (flow.flight(), false);
        }
        let flight = flow.next.saturating_sub(flow.acked);
        let part = if self.careful { (2 * flight).div_ceil(3) } else { flight.div_ceil(2) };
        u32::try_from(part).unwrap_or(u32::MAX).max(flow.dupack_threshold)
    }

    /// Whether a duplicate ACK releases a new segment, `pipe` of which are believed to be in the
    /// network: each ("aggressive"), or every other ("careful").
    pub(super) fn releases(&mut self, pipe: u64) -> bool {
        let room = pipe < self.flight;
        self.skipped = self.careful && room && !self.skipped;
        room && !self.skipped
    }

    /// An ACK of new data, or a time-out, came: no loss. After the ACK, returns the window and the
    /// threshold, if duplicate ACKs have come before: no burst, and slow start up to the former
    /// flight.
    pub(super) fn end(&mut self, flight: u64) -> Option<(f64, f64)> {
        let before = std::mem::take(&mut self.flight);
        (before > 0).then(|| ((flight + 1).min(before) as f64, before as f64))
    }
}
