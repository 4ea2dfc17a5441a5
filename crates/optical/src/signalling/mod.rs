//! Headers: the control channels they travel on, the processors that read them, and how far ahead
//! of its burst each has to leave.

mod control;
mod processor;

use burstlab_units::Span;

pub use control::ControlChannels;
pub use processor::HeaderProcessor;

/// The least time between a header and its burst at the ingress, so that the header is still ahead
/// after `hops` nodes have read it for `processing` each, and by `guard` more, for the switch to
/// settle (just enough time; Qiao and Yoo 1999). Waiting for a processor or a control channel is
/// not in it.
#[must_use]
pub fn offset_needed(hops: u32, processing: Span, guard: Span) -> Span {
    processing * u64::from(hops) + guard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hop_asks_for_a_processing_time() {
        let (processing, guard) = (Span::from_us(10), Span::from_us(3));
        assert_eq!(offset_needed(4, processing, guard), Span::from_us(43));
        assert_eq!(offset_needed(0, processing, guard), guard);
    }
}
