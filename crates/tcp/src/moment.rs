//! The state of a sender that window laws and detectors may read: one value for both kinds of
//! sender, for built-in detectors, and for classes.

use std::ops::Range;

use burstlab_units::{Span, Time};

use crate::round::{Round, Tallied};
use crate::segment::SackBlocks;

/// The state of a sender when a law or a detector is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The present instant.
    pub now: Time,
    /// Congestion window in segments, without the inflation of fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    /// For a law at a reduction: the size that it reduces, in segments, as `ssthresh_basis` and
    /// `window_halving` define it. For a detector, and at an ACK: the congestion window within the
    /// receiver's. At a loss a detector receives the size before its reduction.
    pub window: f64,
    /// The receiver's window in segments.
    pub receiver_window: u64,
    /// Segments sent since the last fall-back and not acknowledged.
    pub flight: u64,
    /// The first segment that is not acknowledged; segment 0 is the SYN.
    pub first: u64,
    /// The next segment to send in order.
    pub next: u64,
    /// For a detector: the segments `[first, end)` that the loss may be about. A time-out waits for
    /// all that are outstanding; the sender of Linux takes these for lost.
    pub suspects: (u64, u64),
    /// Segments that this ACK acknowledges for the first time.
    pub acked: u64,
    /// Its SACK blocks, for a detector.
    pub sack: SackBlocks,
    /// The round trip that this ACK measured.
    pub rtt: Option<Span>,
    /// The shortest round trip so far.
    pub base_rtt: Option<Span>,
    /// The smoothed round trip and its deviation; `None` before the first measurement.
    pub smoothed: Option<(Span, Span)>,
    /// The time-out that the timer would be set to now, back-off included.
    pub rto: Span,
    /// The round trip that this ACK ended.
    pub round: Option<Round>,
    /// The counts of the last round trip that has ended; `None` before there is one.
    pub tallied: Option<Tallied>,
    /// The rate at which data without headers are delivered, in bit/s: the newest sample of the
    /// sender of Linux (draft-cheng-iccrg-delivery-rate-estimation); for the others what was
    /// acknowledged in the last whole round trip. `None` before there is one.
    pub delivery_rate: Option<f64>,
    /// Whether the application, which had nothing more to send, was what limited that sample.
    pub app_limited: bool,
    /// Data segments delivered so far, those that SACK blocks report included.
    pub delivered: u64,
    /// Of the segments that this ACK delivers, those whose ACK echoes a mark; and so far in all.
    pub marked: u64,
    /// See [`Moment::marked`].
    pub delivered_marked: u64,
    /// Bytes of data in a full segment.
    pub payload: u64,
    /// Whether losses, or with the sender of Linux a mark, are being repaired.
    pub repairing: bool,
    /// Whether the same segment times out again.
    pub repeated: bool,
}

impl Moment {
    /// [`suspects`](field@Self::suspects) as a range.
    #[must_use]
    pub fn suspects(&self) -> Range<u64> {
        self.suspects.0..self.suspects.1
    }
}
