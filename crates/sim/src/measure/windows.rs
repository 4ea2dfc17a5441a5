//! How a sender stands after each event, as the table of windows has it.

use burstlab_tcp::{Sender, State};
use burstlab_units::{Span, Time};

use super::columns::{Column, NONE, table};
use burstlab_scenario::HostState;

/// The order is that of [`State`].
const STATES: &[&str] =
    &["slow-start", "congestion-avoidance", "recovery", "disorder", "cwr", "loss", "unknown"];
/// Of a third-party host.
const RECOVERY: u8 = 2;
const UNKNOWN: u8 = 6;
const CWND_EVENTS: &[&str] = &["ack", "timeout", "fast-retransmit"];

/// An event at a sender; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CwndEvent {
    /// An ACK was processed.
    Ack = 0,
    /// The retransmission timer fired.
    Timeout = 1,
    /// A fast retransmission began.
    FastRetransmit = 2,
}

table! {
    /// One row an event at a sender.
    CwndTable, "cwnd" {
        t_ps: u64 => Column::U64,
        flow: u32 => Column::U32,
        event: u8 => |codes| Column::Category(codes, CWND_EVENTS),
        ack: i64 => Column::I64,
        cwnd: f64 => Column::F64,
        ssthresh: f64 => Column::F64,
        in_flight: u64 => Column::U64,
        rtt_ps: u64 => Column::U64,
        srtt_ps: u64 => Column::U64,
        rttvar_ps: u64 => Column::U64,
        backoff: u64 => Column::U64,
        rto_ps: u64 => Column::U64,
        state: u8 => |codes| Column::Category(codes, STATES),
        sample_ps: u64 => Column::U64,
        base_rtt_ps: u64 => Column::U64,
        queued: f64 => Column::F64,
    }
}

/// An event at a sender, with the state after it.
pub(crate) struct CwndRow {
    pub(crate) now: Time,
    pub(crate) flow: u32,
    /// The slot of the flow.
    pub(crate) slot: u32,
    pub(crate) event: CwndEvent,
    /// The highest in-order segment of the ACK, or -1.
    pub(crate) ack: i64,
    /// The round trip that it measured.
    pub(crate) sample: Option<Span>,
    pub(crate) sender: SenderNow,
}

impl CwndRow {
    /// The sender of a flow in a slot has heard the ACK that asks for `next`; before, it had
    /// measured so many round trips.
    pub(crate) fn heard(
        now: Time,
        (flow, slot): (u32, u32),
        next: u64,
        (sender, measured): (&Sender, u64),
    ) -> Self {
        let (count, last) = sender.round_trips();
        Self {
            now,
            flow,
            slot,
            event: CwndEvent::Ack,
            ack: next as i64 - 1,
            sample: (count > measured).then_some(last),
            sender: SenderNow::of(sender),
        }
    }

    /// Its place among the rows of an instant: timers come first, and then it goes by slots, as
    /// events at senders do.
    pub(super) fn place(&self) -> u32 {
        self.slot | u32::from(self.event != CwndEvent::Timeout) << 31
    }
}

/// The state of a sender, as a table row stores it.
#[derive(Clone, Copy)]
pub(crate) struct SenderNow {
    cwnd: f64,
    ssthresh: f64,
    in_flight: u64,
    /// The last sample, its smoothed value and its variance.
    rtt: [Option<Span>; 3],
    rto: Option<Span>,
    backoff: Option<u32>,
    state: u8,
    base_rtt: Option<Span>,
    queued: Option<f64>,
}

impl SenderNow {
    pub(crate) fn of(sender: &Sender) -> Self {
        let rtt = sender.rtt();
        Self {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            in_flight: sender.in_flight(),
            rtt: [rtt.sample, rtt.smoothed, rtt.variance].map(Some),
            rto: Some(sender.rto()),
            backoff: Some(rtt.backoff),
            state: sender.state() as u8,
            base_rtt: sender.base_rtt(),
            queued: sender.queued(),
        }
    }

    /// After an ACK that lets new segments go and does nothing else.
    #[inline]
    pub(crate) fn goes_on(&mut self, cwnd: f64, in_flight: u64) {
        (self.cwnd, self.in_flight) = (cwnd, in_flight);
        let slow = cwnd < self.ssthresh;
        self.state = if slow { State::SlowStart } else { State::CongestionAvoidance } as u8;
    }

    /// The state of a third-party stack, in packets; a value that it does not report is `None`.
    pub(crate) fn of_host(host: &HostState, recovers: bool) -> Self {
        let packets = |bytes: u64| bytes as f64 / host.packet.max(1) as f64;
        let is_slow = |cwnd| host.ssthresh.is_none_or(|ssthresh| cwnd < ssthresh);
        let outside = host.cwnd.map_or(UNKNOWN, |cwnd| u8::from(!is_slow(cwnd)));
        Self {
            cwnd: host.cwnd.map_or(f64::NAN, packets),
            ssthresh: host.ssthresh.map_or(f64::NAN, packets),
            in_flight: host.in_flight.div_ceil(host.packet.max(1)),
            rtt: [None, host.rtt, None],
            rto: host.timeout,
            backoff: None,
            state: if recovers { RECOVERY } else { outside },
            base_rtt: None,
            queued: None,
        }
    }
}

impl CwndTable {
    /// Adds a row.
    pub(super) fn push(&mut self, row: &CwndRow) {
        let sender = &row.sender;
        self.t_ps.push(row.now.as_ps());
        self.flow.push(row.flow);
        self.event.push(row.event as u8);
        self.ack.push(row.ack);
        self.cwnd.push(sender.cwnd);
        self.ssthresh.push(sender.ssthresh);
        self.in_flight.push(sender.in_flight);
        let [sample, smoothed, variance] = sender.rtt;
        for (column, span) in [
            (&mut self.rtt_ps, sample),
            (&mut self.srtt_ps, smoothed),
            (&mut self.rttvar_ps, variance),
            (&mut self.rto_ps, sender.rto),
        ] {
            column.push(span.map_or(NONE, Span::as_ps));
        }
        self.backoff.push(sender.backoff.map_or(NONE, u64::from));
        self.state.push(sender.state);
        self.sample_ps.push(row.sample.map_or(NONE, Span::as_ps));
        self.base_rtt_ps.push(sender.base_rtt.map_or(NONE, Span::as_ps));
        self.queued.push(sender.queued.unwrap_or(f64::NAN));
    }
}
