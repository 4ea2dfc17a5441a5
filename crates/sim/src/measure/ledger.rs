//! The causal ledger: each time-out, fast retransmission, early repair and spurious retransmission
//! of a sender, with the losses behind it and the optical events that caused them.

use burstlab_tcp::Sender;
use burstlab_units::{Span, Time};

use super::chunks::Chunks;
use super::columns::{Column, NONE, Piece, table};
use super::loss::{Causes, Loss, LossCause, ReductionCause, Truth};
use crate::scenario::HostState;

const LEDGER_KINDS: &[&str] = &[
    "timeout",
    "fast-retransmit",
    "early-repair",
    "spurious-retransmission",
    "edge-retransmit",
    "reduction",
    "undone-reduction",
];
const TRUTHS: &[&str] = &["false", "true", "spurious", "none"];
const VERDICTS: &[&str] = &["none", "true", "false"];

/// The kind of an event; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LedgerKind {
    /// The retransmission timer fired.
    Timeout = 0,
    /// Duplicate ACKs found a loss.
    FastRetransmit = 1,
    /// A burst NAK found a loss.
    EarlyRepair = 2,
    /// A segment went out again though its last transmission was not lost.
    SpuriousRetransmission = 3,
    /// Duplicate ACKs that an edge node wrote found a loss.
    EdgeRetransmit = 4,
    /// The window was reduced by none of these: by a mark, a probe, or a timer for reordering.
    Reduction = 5,
    /// A reduction was undone, since the segment was not lost after all.
    UndoneReduction = 6,
}

table! {
    /// One row an event at a sender.
    LedgerTable, "ledger" {
        event: u64 => Column::U64,
        t_ps: u64 => Column::U64,
        flow: u32 => Column::U32,
        kind: u8 => |codes| Column::Category(codes, LEDGER_KINDS),
        seq: u64 => Column::U64,
        cwnd: f64 => Column::F64,
        ssthresh: f64 => Column::F64,
        in_flight: u64 => Column::U64,
        rto_ps: u64 => Column::U64,
        lost_packets: u32 => Column::U32,
        lost_bursts: u32 => Column::U32,
        burst: u64 => Column::U64,
        node: u32 => Column::U32,
        port: u32 => Column::U32,
        cause: u8 => |codes| Column::Category(codes, LossCause::LABELS),
        lost_ps: u64 => Column::U64,
        truth: u8 => |codes| Column::Category(codes, TRUTHS),
        verdict: u8 => |codes| Column::Category(codes, VERDICTS),
        reduction: u8 => |codes| Column::Category(codes, ReductionCause::LABELS),
        cost: f64 => Column::F64,
    }
}

table! {
    /// One row a lost packet behind an event of the ledger.
    LossTable, "ledger_losses" {
        event: u64 => Column::U64,
        flow: u32 => Column::U32,
        seq: u64 => Column::U64,
        burst: u64 => Column::U64,
        node: u32 => Column::U32,
        port: u32 => Column::U32,
        cause: u8 => |codes| Column::Category(codes, LossCause::LABELS),
        lost_ps: u64 => Column::U64,
    }
}

/// A sender just before something happens to it.
#[derive(Clone, Debug)]
pub(crate) struct SenderBefore {
    /// One past the last segment that it waits for.
    pub(crate) waits_until: u64,
    /// Its state, where the ledger is kept.
    pub(crate) state: Option<SenderState>,
}

/// A sender's state at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    cwnd: f64,
    ssthresh: f64,
    in_flight: u64,
    rto: Option<Span>,
}

impl SenderState {
    pub(crate) fn of(sender: &Sender) -> Self {
        Self {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            in_flight: sender.in_flight(),
            rto: Some(sender.rto()),
        }
    }

    /// The state of a third-party stack, in packets; a value that it does not report is `None`.
    pub(crate) fn of_host(host: &HostState) -> Self {
        let packets = |bytes: u64| bytes as f64 / host.packet.max(1) as f64;
        Self {
            cwnd: host.cwnd.map_or(f64::NAN, packets),
            ssthresh: host.ssthresh.map_or(f64::NAN, packets),
            in_flight: host.in_flight.div_ceil(host.packet.max(1)),
            rto: host.timeout,
        }
    }
}

/// An event at a sender.
pub(crate) struct LedgerRow {
    now: Time,
    flow: u32,
    kind: LedgerKind,
    /// The segment it is about: the first one missing, or the one that goes out again.
    seq: u64,
    /// Of a time-out: its true kind.
    pub(crate) truth: Option<Truth>,
    /// Of a time-out with a detector: whether it was taken for false.
    pub(crate) excused: Option<bool>,
    /// Of a reduction of the window: its cause, and its size in segments.
    pub(crate) reduction: Option<(ReductionCause, f64)>,
    before: SenderBefore,
}

impl LedgerRow {
    pub(crate) fn new(
        (now, flow): (Time, u32),
        kind: LedgerKind,
        seq: u64,
        before: &SenderBefore,
    ) -> Self {
        Self {
            now,
            flow,
            kind,
            seq,
            truth: None,
            excused: None,
            reduction: None,
            before: before.clone(),
        }
    }
}

/// The tables of the ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerTables {
    events: Chunks<LedgerTable>,
    losses: Chunks<LossTable>,
}

impl LedgerTables {
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.events.set_chunk(rows);
        self.losses.set_chunk(rows);
    }

    /// Adds an event at a sender whose segments are missing for `causes`.
    ///
    /// # Panics
    /// When the state of the sender was not noted.
    pub(crate) fn add(&mut self, row: &LedgerRow, causes: &Causes) {
        let event = self.events.added();
        let mut first: Option<Loss> = None;
        let mut bursts = Vec::new();
        let mut packets = 0;
        if row.kind != LedgerKind::SpuriousRetransmission {
            for (seq, loss) in causes.among(0..row.before.waits_until) {
                first.get_or_insert(*loss);
                packets += 1;
                bursts.push(loss.burst);
                let losses = &mut self.losses.add().rows;
                losses.event.push(event);
                losses.flow.push(row.flow);
                losses.seq.push(seq);
                losses.burst.push(if loss.burst == 0 { NONE } else { loss.burst });
                losses.node.push(loss.node as u32);
                losses.port.push(loss.port);
                losses.cause.push(loss.cause as u8);
                losses.lost_ps.push(loss.at.as_ps());
            }
        }
        bursts.retain(|&burst| burst != 0);
        bursts.sort_unstable();
        bursts.dedup();
        let state = row.before.state.expect("the ledger is kept");
        let table = &mut self.events.add().rows;
        table.event.push(event);
        table.t_ps.push(row.now.as_ps());
        table.flow.push(row.flow);
        table.kind.push(row.kind as u8);
        table.seq.push(row.seq);
        table.cwnd.push(state.cwnd);
        table.ssthresh.push(state.ssthresh);
        table.in_flight.push(state.in_flight);
        table.rto_ps.push(state.rto.map_or(NONE, Span::as_ps));
        table.lost_packets.push(packets);
        table.lost_bursts.push(bursts.len() as u32);
        table.burst.push(first.map_or(NONE, |l| if l.burst == 0 { NONE } else { l.burst }));
        table.node.push(first.map_or(0, |loss| loss.node as u32));
        table.port.push(first.map_or(0, |loss| loss.port));
        table.cause.push(first.map_or(0, |loss| loss.cause as u8));
        table.lost_ps.push(first.map_or(NONE, |loss| loss.at.as_ps()));
        table.truth.push(row.truth.map_or(3, |truth| truth as u8));
        table.verdict.push(row.excused.map_or(0, |excused| 1 + u8::from(excused)));
        table.reduction.push(row.reduction.map_or(0, |(cause, _)| 1 + cause as u8));
        table.cost.push(row.reduction.map_or(0.0, |(_, cost)| cost));
    }

    /// Rows that were not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.events.held() + self.losses.held()
    }

    /// Hands over the chunks that are full.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Piece> {
        self.events.drain(|()| true).chain(self.losses.drain(|()| true))
    }

    /// Hands over what is left.
    pub(crate) fn finish(self) -> impl Iterator<Item = Piece> {
        self.events.finish().chain(self.losses.finish())
    }
}
