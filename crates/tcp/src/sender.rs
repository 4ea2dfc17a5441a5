//! The sending endpoint.

mod ack_clock;
mod classic;
mod linux;
mod state;

use std::ops::Range;

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Variant};
use crate::counters::SenderCounters;
use crate::discriminator::{BurstReport, Notice, Verdict};
use crate::foreign::Classes;
use crate::offered::Offered;
use crate::packet_run::PacketRun;
use crate::rto::RttView;
use crate::segment::{Ack, AckOptions, SegmentOptions, Transmission, Wires};
pub use ack_clock::AckClock;
pub use classic::Classic;
use linux::LinuxSender;
pub use state::{Reductions, State};

/// The sending endpoint of one connection. See the crate documentation for the order of calls.
///
/// Every call that may send appends to `out`, in the order in which the segments go on the link,
/// and leaves what `out` held before. No call but `new` allocates, unless `out` must grow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "most senders are classic, and none is moved often")]
pub enum Sender {
    /// Recovery, law, slow start and time-out of its configuration, without options.
    Classic(Classic),
    /// That of Linux, whose packets carry options.
    Linux(Box<LinuxSender>),
}

/// Calls the same function of whichever sender it is.
macro_rules! each {
    ($sender:expr, $one:ident => $call:expr) => {
        match $sender {
            Sender::Classic($one) => $call,
            Sender::Linux($one) => $call,
        }
    };
}

impl Sender {
    /// A sender that has nothing to send and has sent nothing, and no class of Python.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_classes(config, None)
    }

    /// The same, where `classes` makes the law or the detector that are classes of Python. There
    /// must be one if `config` [needs](Config::needs_classes) it.
    #[must_use]
    pub fn with_classes(config: &Config, classes: Option<&dyn Classes>) -> Self {
        match config.variant {
            Variant::Linux => Self::Linux(Box::new(LinuxSender::new(config, classes))),
            _ => Self::Classic(Classic::new(config, classes)),
        }
    }

    /// The application offers data up to `segments` full segments in total, counted since the
    /// beginning (`u64::MAX`: without end); sends what the window allows, once the SYN is
    /// acknowledged. Fewer than before changes nothing.
    pub fn supply(&mut self, now: Time, segments: u64, out: &mut Vec<Transmission>) {
        let bytes = segments.saturating_mul(self.offered().lengths.full());
        self.supply_bytes(now, Bytes::new(bytes), false, out);
    }

    /// As [`Sender::supply`], in bytes of data without headers. The last segment has what does not
    /// fill one; it takes more as long as it has not been sent. With variant `"linux"` it may wait
    /// for more (RFC 896), unless the application `closes` behind it.
    pub fn supply_bytes(
        &mut self,
        now: Time,
        bytes: Bytes,
        closes: bool,
        out: &mut Vec<Transmission>,
    ) {
        each!(self, sender => sender.offer(now, bytes.get(), closes, out));
    }

    /// Opens the connection: sends the SYN. A second call does nothing.
    pub fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        each!(self, sender => sender.start(now, out));
    }

    /// An ACK arrives. Any content is taken; an ACK that contradicts the segments sent is ignored.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        each!(self, sender => sender.on_ack(now, ack, out));
    }

    /// Whether the sender goes straight on: nothing is being repaired, nothing was heard twice, and
    /// no detector of Python listens. Then an ACK without SACK blocks that [`covers`](Self::covers)
    /// new segments does nothing but let new ones go, and the sender goes straight on after it.
    #[inline]
    #[must_use]
    pub fn is_fast(&self) -> bool {
        matches!(self, Self::Classic(sender) if sender.is_fast())
    }

    /// Whether the cumulative ACK `next` is news, and more will follow it.
    #[inline]
    #[must_use]
    pub fn covers(&self, next: u64) -> bool {
        matches!(self, Self::Classic(sender) if sender.covers(next))
    }

    /// One past the last segment that it was given to send, the SYN counted; of those not sent yet
    /// as if all but the last were whole.
    #[must_use]
    pub fn limit(&self) -> u64 {
        match self {
            Self::Classic(sender) => sender.flow.offered.limit,
            Self::Linux(sender) => sender.limit(),
        }
    }

    /// Bytes of data in all segments below `seq`, the last of which may be short.
    #[inline]
    #[must_use]
    pub fn bytes_before(&self, seq: u64) -> u64 {
        match self {
            Self::Classic(sender) => sender.flow.offered.lengths.before(seq),
            Self::Linux(sender) => sender.linux.bytes_before(seq),
        }
    }

    /// Size of segment `seq` on the wire, headers included.
    #[inline]
    #[must_use]
    pub fn segment_size(&self, seq: u64) -> Bytes {
        self.offered().size(seq)
    }

    /// The segment that has another size than all others, and that size, where one alone may.
    #[inline]
    #[must_use]
    pub fn short_segment(&self) -> Option<(u64, Bytes)> {
        self.offered().short_segment()
    }

    /// A node of the optical network reports on `burst`, which carries `segments` of this
    /// connection, in rising order. Any content is taken.
    pub fn on_notice(
        &mut self,
        now: Time,
        notice: Notice,
        burst: u64,
        segments: &[u64],
        out: &mut Vec<Transmission>,
    ) {
        let report = BurstReport { notice, burst, segments };
        match notice {
            Notice::Dropped => each!(self, sender => sender.on_burst_nak(now, &report, out)),
            _ => each!(self, sender => sender.on_burst_ack(now, &report)),
        }
    }

    /// Reports the verdict that would be true of a time-out now. Only the detector `"oracle"` uses
    /// it.
    pub fn tell(&mut self, truth: Verdict) {
        each!(self, sender => sender.tell(truth));
    }

    /// After any call: the sender has something to send and holds it back for a random time below
    /// this, which [`Sender::hold_until`] has to tell it. `None` always, unless `send_jitter` is
    /// above 0.
    #[inline]
    #[must_use]
    pub fn asks_for_delay(&self) -> Option<Span> {
        self.classic()?.flow.hold.asks()
    }

    /// The segments that are held back may go at `at`. Does nothing unless the sender has asked.
    pub fn hold_until(&mut self, at: Time) {
        if let Self::Classic(sender) = self {
            sender.flow.hold.until(at);
        }
    }

    /// When [`Sender::on_release`] is due.
    #[must_use]
    pub fn poll_release(&self) -> Option<Time> {
        self.classic()?.flow.hold.ends()
    }

    /// The delay is over: sends all that may go by now. Does nothing before its time.
    pub fn on_release(&mut self, now: Time, out: &mut Vec<Transmission>) {
        if let Self::Classic(sender) = self {
            sender.on_release(now, out);
        }
    }

    /// When [`Sender::on_timeout`] is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        match self {
            Self::Classic(sender) => sender.flow.timer.deadline(),
            Self::Linux(sender) => sender.linux.poll_timeout(),
        }
    }

    /// The retransmission timer runs out. Does nothing before the deadline.
    pub fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        each!(self, sender => sender.on_timeout(now, out));
    }

    /// Segments sent since the last time-out or repair and not acknowledged: what the timer now
    /// waits for. The sender of Linux never goes back, so that these are all that it has sent.
    #[must_use]
    pub fn outstanding(&self) -> Range<u64> {
        match self {
            Self::Classic(sender) => sender.flow.outstanding(),
            Self::Linux(sender) => sender.outstanding(),
        }
    }

    /// Counts of the sender's actions so far.
    #[must_use]
    pub fn counters(&self) -> &SenderCounters {
        match self {
            Self::Classic(sender) => &sender.flow.counters,
            Self::Linux(sender) => &sender.counters,
        }
    }

    /// Reductions of the window so far.
    #[inline]
    #[must_use]
    pub fn reductions(&self) -> Reductions {
        each!(self, sender => sender.reductions())
    }

    /// The window that the last reduction leads to, in segments. A repair that goes step by step,
    /// by proportional rate reduction, has its threshold for an aim.
    #[must_use]
    pub fn reduced_to(&self) -> f64 {
        match self {
            Self::Classic(sender) => sender.flow.window.cwnd,
            Self::Linux(sender) => sender.reduced_to(),
        }
    }

    /// Congestion window in segments, as [`Sender::cwnd`].
    #[inline]
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        match self {
            Self::Classic(sender) => sender.flow.window.cwnd,
            Self::Linux(sender) => f64::from(sender.linux.path().cwnd()),
        }
    }

    /// Slow-start threshold in segments, as [`Sender::ssthresh`].
    #[inline]
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        match self {
            Self::Classic(sender) => sender.flow.window.ssthresh,
            Self::Linux(sender) => f64::from(sender.linux.path().ssthresh()),
        }
    }

    /// Segments sent and not covered by the cumulative ACK, lost ones included.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        match self {
            Self::Classic(sender) => sender.flow.sent - sender.flow.acked,
            Self::Linux(sender) => sender.linux.queue().next() - sender.linux.queue().acked(),
        }
    }

    /// The last segment that the cumulative ACK covers; `None` before the SYN is acknowledged.
    #[must_use]
    pub fn highest_acked(&self) -> Option<u64> {
        self.acked().checked_sub(1)
    }

    /// The present state of the sender.
    #[must_use]
    pub fn state(&self) -> State {
        match self {
            Self::Classic(sender) => sender.state(),
            Self::Linux(sender) => {
                let starts = sender.linux.path().in_slow_start();
                State::of(sender.linux.repair().stage(), starts)
            }
        }
    }

    /// The estimates of the round-trip time.
    #[must_use]
    pub fn rtt(&self) -> RttView {
        match self {
            Self::Classic(sender) => sender.flow.timer.view(),
            Self::Linux(sender) => sender.linux.path().round_trip().view(),
        }
    }

    /// The shortest round trip so far, where `variant` or `window_law` goes by it.
    #[must_use]
    pub fn base_rtt(&self) -> Option<Span> {
        match self {
            Self::Classic(sender) => sender.flow.delays.as_ref().and_then(|delays| delays.base()),
            Self::Linux(sender) => {
                sender.linux.path().round_trip().known_shortest().map(Span::from_us)
            }
        }
    }

    /// How many round trips were measured, and the last of them: of every ACK of a segment that was
    /// sent once, where `variant` or `window_law` goes by delay; else by the retransmission timer,
    /// one segment at a time.
    #[must_use]
    pub fn round_trips(&self) -> (u64, Span) {
        each!(self, sender => sender.round_trips())
    }

    /// Segments that waited in queues in the last whole round trip, as `variant` or `window_law`
    /// takes them from its delay: Diff of Brakmo and Peterson (1995), the window times
    /// (1 - shortest round trip / mean round trip).
    #[must_use]
    pub fn queued(&self) -> Option<f64> {
        self.classic()?.flow.delays.as_ref().and_then(|delays| delays.queued())
    }

    /// The time-out that the timer would be set to now, back-off included.
    #[must_use]
    pub fn rto(&self) -> Span {
        match self {
            Self::Classic(sender) => sender.flow.timer.rto(),
            Self::Linux(sender) => Span::from_ms(sender.linux.path().round_trip().rto()),
        }
    }

    /// Whether all data offered so far are acknowledged, the SYN too.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.acked() >= self.limit()
    }

    /// All below are acknowledged.
    fn acked(&self) -> u64 {
        match self {
            Self::Classic(sender) => sender.flow.acked,
            Self::Linux(sender) => sender.linux.queue().acked(),
        }
    }

    #[inline]
    fn offered(&self) -> &Offered {
        match self {
            Self::Classic(sender) => &sender.flow.offered,
            Self::Linux(sender) => &sender.offered,
        }
    }

    #[inline]
    fn classic(&self) -> Option<&Classic> {
        match self {
            Self::Classic(sender) => Some(sender),
            Self::Linux(_) => None,
        }
    }

    #[inline]
    fn linux(&mut self) -> Option<&mut LinuxSender> {
        match self {
            Self::Classic(_) => None,
            Self::Linux(sender) => Some(sender),
        }
    }
}

/// Connections in both directions, and those whose packets carry options.
impl Sender {
    /// Whether packets of the connection carry options, so that ACKs go to
    /// [`on_full_ack`](Self::on_full_ack).
    #[inline]
    #[must_use]
    pub fn has_options(&self) -> bool {
        matches!(self, Self::Linux(_))
    }

    /// Whether all that an ACK for `next` at `now` without SACK blocks and marks does is to let new
    /// segments go: no timer runs out before it, nothing is being repaired, probed or reported, no
    /// class of Python listens or decides, and more is to follow.
    #[must_use]
    pub fn takes_full_fast(&self, now: Time, next: u64) -> bool {
        matches!(self, Self::Linux(sender) if sender.takes_full_fast(now, next))
    }

    /// When [`on_timeout`](Self::on_timeout) lets new segments go because of pacing, and does
    /// nothing else: no other timer runs out by then, nothing is being repaired, probed or
    /// reported, and no class of Python listens or decides. `None`: pacing holds nothing back, or
    /// more may happen.
    #[inline]
    #[must_use]
    pub fn paced_alone(&self) -> Option<Time> {
        match self {
            Self::Classic(_) => None,
            Self::Linux(sender) => sender.paced_alone(),
        }
    }

    /// The options of a segment that goes out at `now`.
    #[must_use]
    pub fn options(&self, now: Time, sent: &Transmission) -> SegmentOptions {
        match self {
            Self::Classic(_) => SegmentOptions { flags: sent.flags, ..SegmentOptions::default() },
            Self::Linux(sender) => sender.linux.stamps(now, sent.flags),
        }
    }

    /// As [`on_ack`](Self::on_ack), of a connection with options.
    pub fn on_full_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        match self {
            Self::Classic(sender) => sender.on_ack(now, ack, out),
            Self::Linux(sender) => sender.on_full_ack(now, (ack, options), out),
        }
    }

    /// As [`on_full_ack`](Self::on_full_ack), for ACKs without SACK blocks and marks. Takes those
    /// in front that are [on the fast path](Self::takes_full_fast), and simply so, and come by
    /// `until`; returns how many. Each segment that goes has its
    /// [`segment_size`](Self::segment_size).
    #[inline]
    pub fn on_full_acks_fast(
        &mut self,
        run: &PacketRun,
        until: Time,
        wires: &mut impl Wires,
    ) -> u32 {
        self.linux().map_or(0, |sender| sender.on_full_acks_fast(run, until, wires))
    }

    /// As [`on_ack`](Self::on_ack), of an ACK on a segment that carries data. Such a one is never a
    /// duplicate ACK (RFC 5681 section 2, (b)): without progress it says that the other end had
    /// something to send, not that another segment has arrived. Where losses are repaired by SACK
    /// blocks, one whose blocks bring news is heard as any other (RFC 6675 section 2, on duplicate
    /// acknowledgments). [`SenderCounters::acks`](crate::SenderCounters::acks) leaves them out.
    pub fn on_ack_with_data(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        each!(self, sender => sender.on_ack_with_data(now, ack, out));
    }

    /// The same on a connection with [options](Self::has_options): without progress it is no
    /// duplicate ACK, and its window counts, as a segment says what is newest.
    pub fn on_full_ack_with_data(
        &mut self,
        now: Time,
        ack: &Ack,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        if let Self::Linux(sender) = self {
            sender.on_full_ack_with_data(now, (ack, options), out);
        }
    }

    /// The connection has data in both directions. On one with options the receiver at the same
    /// host ends the handshake in place of an ACK of this sender.
    pub fn go_both_ways(&mut self) {
        if let Self::Linux(sender) = self {
            sender.linux.go_both_ways();
        }
    }

    /// Each segment carries so many bytes of SACK blocks from now on, for which one of a connection
    /// with options has less data.
    pub fn reserve(&mut self, blocks: u64) {
        if let Self::Linux(sender) = self {
            let next = sender.linux.queue().next();
            sender.linux.application_mut().reserve(blocks, next);
        }
    }

    /// The application keeps the connection open behind what it writes: no FIN follows, on a
    /// connection with options.
    pub fn stay_open(&mut self) {
        if let Self::Linux(sender) = self {
            sender.linux.application_mut().stay_open();
        }
    }

    /// On a connection with options: the smoothed round trip in microseconds and the time-out in
    /// ticks of a millisecond, for the [receiver](crate::Receiver::know_round_trip) at this host.
    #[must_use]
    pub fn known_round_trip(&self) -> Option<(u64, u64)> {
        match self {
            Self::Classic(_) => None,
            Self::Linux(sender) => sender.known_round_trip(),
        }
    }
}
