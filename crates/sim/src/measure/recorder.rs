//! The tables of a traced run. A table that is not traced costs one test of a flag.

use burstlab_tcp::Ack;
use burstlab_units::{Span, Time};

use super::burst_rows::{BurstRow, BurstRows};
use super::chunks::Chunks;
use super::columns::{Column, NONE, Piece, table};
use super::datagrams::Datagrams;
use super::ledger::{LedgerRow, LedgerTables};
use super::loss::Causes;
use super::ordered::Ordered;
use super::packet_rows::{PacketCause, SentRow};
use super::packets::{NO_ROW, Packets, TrainRows, row_behind};
use super::rates::{RateRow, RateTable};
use super::windows::{CwndRow, CwndTable};
use crate::scenario::Carries;

/// Which tables to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// A row for each transmission of a data packet, for each ACK and, in a mesh, for each packet
    /// of other traffic; a table of the SACK blocks; and of slots one of the rates of edge buffers.
    pub packets: bool,
    /// A row for each burst and, in a mesh, a table of the wavelengths that it was given and one of
    /// the steps of its signalling.
    pub bursts: bool,
    /// A row for each ACK, time-out and fast retransmission at a sender.
    pub cwnd: bool,
    /// A row for each time-out, fast retransmission, early repair and spurious retransmission, and
    /// a table of the losses behind them.
    pub ledger: bool,
    /// The contents of packets of third-party hosts, byte for byte, and the secrets that decrypt
    /// them; with `packets`, whose rows they belong to.
    pub datagrams: bool,
    /// No table: whether the run is event-driven, though it could be ahead of the clock. It is the
    /// twin of a run that is ahead, and its tables are the same.
    pub event_driven: bool,
}

impl Trace {
    /// The names of the tables.
    pub const NAMES: [&str; 5] = ["packets", "bursts", "cwnd", "ledger", "datagrams"];

    /// Adds the table called `name`; returns whether there is one.
    pub fn add(&mut self, name: &str) -> bool {
        match name {
            "packets" => self.packets = true,
            "bursts" => self.bursts = true,
            "cwnd" => self.cwnd = true,
            "ledger" => self.ledger = true,
            "datagrams" => (self.packets, self.datagrams) = (true, true),
            _ => return false,
        }
        true
    }
}

const STEPS: &[&str] = &[
    "port",
    "header",
    "contended",
    "injected",
    "converted",
    "delayed",
    "deflected",
    "segmented",
    "cut",
    "carried",
    "lost",
    "resent",
    "refused",
    "no-copy",
    "trailer",
    "spared",
    "dark",
    "no-converter",
];

/// A step of a node for a burst; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Its ingress queue gives it a wavelength.
    Port = 0,
    /// Its header comes to the processor of a node.
    Header = 1,
    /// No wavelength of its fibre is free.
    Contended = 2,
    /// None is, as the scenario wills.
    Injected = 3,
    /// It is given another wavelength.
    Converted = 4,
    /// It passes a delay line.
    Delayed = 5,
    /// It takes another fibre.
    Deflected = 6,
    /// It is fitted in by cutting.
    Segmented = 7,
    /// It loses its tail.
    Cut = 8,
    /// Its fibre is reserved, and its header goes on.
    Carried = 9,
    /// It is lost before a fibre.
    Lost = 10,
    /// Its ingress is to send it again.
    Resent = 11,
    /// A two-way reservation is refused.
    Refused = 12,
    /// Its ingress can keep no copy.
    NoCopy = 13,
    /// A trailer of it is put on a control channel.
    Trailer = 14,
    /// Surgery spares it: it goes on and takes no wavelength.
    Spared = 15,
    /// The fibre that it asks for is down.
    Dark = 16,
    /// A wavelength of its fibre is free, and no converter for it.
    NoConverter = 17,
}

table! {
    /// One row a fibre that a burst of a mesh crossed, and the one it was refused.
    HopTable, "bursts_hops" {
        burst: u64 => Column::U64,
        hop: u32 => Column::U32,
        from: u32 => Column::U32,
        to: u32 => Column::U32,
        wavelength: u64 => Column::U64,
        reserved_ps: u64 => Column::U64,
        departed_ps: u64 => Column::U64,
        end_ps: u64 => Column::U64,
    }
}

table! {
    /// One row a step of the signalling of a burst in a mesh.
    StepTable, "bursts_steps" {
        t_ps: u64 => Column::U64,
        burst: u64 => Column::U64,
        event: u8 => |codes| Column::Category(codes, STEPS),
        from: u32 => Column::U32,
        to: u32 => Column::U32,
        wait_ps: u64 => Column::U64,
        packets: u32 => Column::U32,
        bytes: u64 => Column::U64,
    }
}

/// The tables of a run, as far as they are traced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    /// Whether rows may come ahead of the clock; else they are in the order of events.
    ahead: bool,
    /// Whether rows of packets may; then when the event happens that is processed, and its turn.
    takes_turns: bool,
    event: (Time, u32),
    packets: Option<Box<Packets>>,
    datagrams: Option<Box<Datagrams>>,
    rates: Option<Box<Chunks<RateTable>>>,
    bursts: Option<Box<BurstRows>>,
    hops: Option<Box<Chunks<HopTable>>>,
    steps: Option<Box<Chunks<StepTable>>>,
    cwnd: Option<Box<Ordered<CwndTable>>>,
    ledger: Option<Box<LedgerTables>>,
}

/// A fibre on the route of a burst.
pub(crate) struct HopRow {
    pub(crate) burst: u64,
    /// The place of this fibre on the route, from 0.
    pub(crate) hop: usize,
    /// The nodes it joins.
    pub(crate) ends: (u32, u32),
    /// The wavelength and the beginning of the reservation; none: the burst was refused.
    pub(crate) held: Option<(u32, Time)>,
    /// When its first bit left the node, or would have.
    pub(crate) departs: Time,
    pub(crate) length: Span,
}

/// A step of the signalling of a burst.
pub(crate) struct StepRow {
    pub(crate) now: Time,
    pub(crate) burst: u64,
    pub(crate) step: Step,
    /// The node, and that which the fibre it is about leads to; 0: none.
    pub(crate) ends: (u32, u32),
    pub(crate) wait: Span,
    /// Packets and bytes that are cut off.
    pub(crate) cut: (u32, u64),
}

impl Recorder {
    pub(crate) fn new(trace: Trace) -> Self {
        Self {
            ahead: false,
            takes_turns: false,
            event: (Time::ZERO, 0),
            packets: trace.packets.then(Box::default),
            datagrams: trace.datagrams.then(Box::default),
            rates: trace.packets.then(Box::default),
            bursts: trace.bursts.then(|| Box::new(BurstRows::AsTheyCome(Chunks::default()))),
            hops: trace.bursts.then(Box::default),
            steps: trace.bursts.then(Box::default),
            cwnd: trace.cwnd.then(Box::default),
            ledger: trace.ledger.then(Box::default),
        }
    }

    /// The same where rows may come ahead of the clock, if there are any such.
    pub(crate) fn ahead_if(mut self, ahead: bool) -> Self {
        self.ahead = ahead && self.traces_cwnd();
        if let Some(packets) = self.packets.as_mut().filter(|_| ahead) {
            packets.ahead();
            self.takes_turns = true;
        }
        self
    }

    /// The same where rows of bursts are in the order in which bursts end, and may come earlier.
    pub(crate) fn in_order_of_ends_if(mut self, ordered: bool) -> Self {
        if let Some(bursts) = self.bursts.as_mut().filter(|_| ordered) {
            **bursts = BurstRows::AsTheyEnd(Box::default());
        }
        self
    }

    /// Whether bursts are recorded, and only once their fate is an event.
    #[inline]
    pub(crate) fn traces_bursts_late(&self) -> bool {
        self.bursts.as_deref().is_some_and(|rows| matches!(rows, BurstRows::AsTheyCome(_)))
    }

    /// Whether it has to know the turn of each event.
    #[inline]
    pub(crate) fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// An event happens in this turn of an instant. One that is queued at its own instant comes
    /// late for its turn.
    pub(crate) fn happens(&mut self, now: Time, turn: u32) {
        let late = if now == self.event.0 { self.event.1 } else { 0 };
        self.event = (now, turn.max(late));
    }

    /// Sets the rows of a chunk, a power of two, before there is any.
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.packets.iter_mut().for_each(|packets| packets.set_chunk(rows));
        self.datagrams.iter_mut().for_each(|datagrams| datagrams.set_chunk(rows));
        self.rates.iter_mut().for_each(|rates| rates.set_chunk(rows));
        self.bursts.iter_mut().for_each(|bursts| bursts.set_chunk(rows));
        self.hops.iter_mut().for_each(|hops| hops.set_chunk(rows));
        self.steps.iter_mut().for_each(|steps| steps.set_chunk(rows));
        self.cwnd.iter_mut().for_each(|cwnd| cwnd.set_chunk(rows));
        self.ledger.iter_mut().for_each(|tables| tables.set_chunk(rows));
    }

    /// A packet is handed to its access link; returns its row, which the packet carries with it.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, flow: u32, packet: &SentRow) -> u32 {
        self.sent_in((now, self.event.1), flow, packet)
    }

    /// The same in a turn of an instant that may be ahead of the clock.
    #[inline]
    pub(crate) fn sent_in(&mut self, turn: (Time, u32), flow: u32, packet: &SentRow) -> u32 {
        match &mut self.packets {
            Some(packets) => packets.sent(turn, flow, packet),
            None => NO_ROW,
        }
    }

    /// The threshold of the sender of these packets, which was not known as they were recorded.
    pub(crate) fn below(&mut self, rows: TrainRows, ssthresh: f64) {
        if let Some(packets) = self.packets_with(rows.0) {
            packets.below(rows, ssthresh);
        }
    }

    /// Whether the contents of packets of third-party hosts are recorded.
    #[inline]
    pub(crate) fn traces_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// The packet that comes next, of `flow`, says this.
    pub(crate) fn says(&mut self, flow: u32, bytes: &[u8]) {
        if let (Some(packets), Some(datagrams)) = (&self.packets, &mut self.datagrams) {
            datagrams.add(packets.added(), flow, bytes);
        }
    }

    /// Hosts of `flow` have agreed on secrets, which are lines of a key log.
    pub(crate) fn secrets(&mut self, flow: u32, lines: &str) {
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.agree(flow, lines);
        }
    }

    /// The data packet of `row`, which was sent last, carries an ACK for `flow`, which advertises
    /// `window`, where the receiver decides on one.
    pub(crate) fn carries(&mut self, row: u32, flow: u32, ack: &Ack, window: Option<u32>) {
        if let Some(packets) = self.packets_with(row) {
            packets.carries(flow, ack, window);
        }
    }

    /// The rows of packets, if `row` is one of them.
    #[inline]
    fn packets_with(&mut self, row: u32) -> Option<&mut Packets> {
        if row == NO_ROW { None } else { self.packets.as_deref_mut() }
    }

    /// A stack has put this into the packet of `row`.
    pub(crate) fn loaded(&mut self, row: u32, carries: Carries) {
        if let Some(packets) = self.packets_with(row) {
            packets.loaded(row, carries);
        }
    }

    /// The packet of `row` reaches the edge; its burst has a label [later](Self::in_burst).
    #[inline]
    pub(crate) fn joined(&mut self, row: u32, now: Time) {
        if let Some(packets) = self.packets_with(row) {
            packets.joined(row, now);
        }
    }

    /// Something happens to each packet in these rows, one after the other, from an instant on.
    #[cold]
    fn each(
        &mut self,
        (row, count): TrainRows,
        (at, gap): (Time, Span),
        happens: fn(&mut Packets, u32, Time),
    ) {
        let Some(packets) = self.packets_with(row) else { return };
        for number in 0..count {
            happens(packets, row_behind(row, number), at + gap * u64::from(number));
        }
    }

    /// Packets in these rows reach the edge one after the other, from an instant on; their burst
    /// has a label later.
    #[inline(always)]
    pub(crate) fn joined_all(&mut self, rows: TrainRows, times: (Time, Span)) {
        if self.traces_packets() {
            self.each(rows, times, Packets::joined);
        }
    }

    /// The packet of `row` reaches the edge of a network without bursts.
    #[inline]
    pub(crate) fn reached(&mut self, row: u32, now: Time) {
        if let Some(packets) = self.packets_with(row) {
            packets.reached(row, now);
        }
    }

    /// The burst that the packets in these rows have joined is closed: its label.
    #[inline]
    pub(crate) fn in_burst(&mut self, (row, count): TrainRows, label: u64) {
        if let Some(packets) = self.packets_with(row) {
            (0..count).for_each(|number| packets.in_burst(row_behind(row, number), label));
        }
    }

    /// Whether packets are recorded.
    #[inline]
    pub(crate) fn traces_packets(&self) -> bool {
        self.packets.is_some()
    }

    /// The burst that carries the packets in these rows leaves the ingress.
    #[inline]
    pub(crate) fn departed(&mut self, (row, count): TrainRows, at: Time) {
        if let Some(packets) = self.packets_with(row) {
            (0..count).for_each(|number| packets.departed(row_behind(row, number), at));
        }
    }

    /// The packet of `row` leaves its edge in slot `number`.
    pub(crate) fn departed_in(&mut self, row: u32, at: Time, number: u64) {
        if let Some(packets) = self.packets_with(row) {
            packets.departed_in(row, at, number);
        }
    }

    /// The packet of `row` leaves the optical network at the far edge.
    #[inline]
    pub(crate) fn crossed(&mut self, row: u32, at: Time) {
        if let Some(packets) = self.packets_with(row) {
            packets.crossed(row, at);
        }
    }

    /// Packets in these rows leave it one after the other, from an instant on.
    #[inline(always)]
    pub(crate) fn crossed_all(&mut self, rows: TrainRows, times: (Time, Span)) {
        if self.traces_packets() {
            self.each(rows, times, Packets::crossed);
        }
    }

    /// Packets in these rows reach their host one after the other, from an instant on.
    #[inline(always)]
    pub(crate) fn delivered_all(&mut self, rows: TrainRows, times: (Time, Span)) {
        if self.traces_packets() {
            self.each(rows, times, Packets::delivered);
        }
    }

    /// The packet of `row` reaches the host it was sent to.
    #[inline]
    pub(crate) fn delivered(&mut self, row: u32, now: Time) {
        if let Some(packets) = self.packets_with(row) {
            packets.delivered(row, now);
        }
    }

    /// The packet of `row` is lost.
    #[inline]
    pub(crate) fn lost(&mut self, row: u32, cause: PacketCause) {
        if let Some(packets) = self.packets_with(row) {
            packets.lost(row, cause);
        }
    }

    /// An ACK covers all segments of `flow` below `next`.
    #[inline]
    pub(crate) fn acked(&mut self, flow: u32, now: Time, next: u64) {
        if let Some(packets) = &mut self.packets {
            packets.acked(flow, now, next);
        }
    }

    /// Whether bursts are recorded.
    #[inline]
    pub(crate) fn traces_bursts(&self) -> bool {
        self.bursts.is_some()
    }

    /// Something happens to the rate of an edge buffer.
    pub(crate) fn rate(&mut self, row: &RateRow) {
        if let Some(rates) = &mut self.rates {
            rates.add().rows.push(row);
        }
    }

    /// A burst is closed and its fate decided.
    #[inline]
    pub(crate) fn burst(&mut self, burst: &BurstRow) {
        if let Some(rows) = &mut self.bursts {
            rows.add(burst);
        }
    }

    /// A burst held a wavelength of a fibre, or was refused one.
    pub(crate) fn hop(&mut self, hop: &HopRow) {
        let Some(rows) = &mut self.hops else { return };
        let table = &mut rows.add().rows;
        table.burst.push(hop.burst);
        table.hop.push(hop.hop as u32);
        table.from.push(hop.ends.0);
        table.to.push(hop.ends.1);
        table.wavelength.push(hop.held.map_or(NONE, |(wavelength, _)| u64::from(wavelength)));
        table.reserved_ps.push(hop.held.map_or(NONE, |(_, start)| start.as_ps()));
        table.departed_ps.push(hop.departs.as_ps());
        table.end_ps.push((hop.departs + hop.length).as_ps());
    }

    /// Something is done for a burst of a mesh.
    pub(crate) fn step(&mut self, row: &StepRow) {
        let Some(rows) = &mut self.steps else { return };
        let table = &mut rows.add().rows;
        table.t_ps.push(row.now.as_ps());
        table.burst.push(row.burst);
        table.event.push(row.step as u8);
        table.from.push(row.ends.0);
        table.to.push(row.ends.1);
        table.wait_ps.push(row.wait.as_ps());
        table.packets.push(row.cut.0);
        table.bytes.push(row.cut.1);
    }

    /// Whether sender events are recorded.
    #[inline]
    pub(crate) fn traces_cwnd(&self) -> bool {
        self.cwnd.is_some()
    }

    /// Something happened at a sender.
    pub(crate) fn cwnd(&mut self, row: &CwndRow) {
        if let Some(rows) = &mut self.cwnd {
            let place = if self.ahead { row.place() } else { 0 };
            rows.add(row.now, place).push(row);
        }
    }

    /// Something happened that the causal ledger explains.
    #[inline]
    pub(crate) fn ledger(&mut self, row: &LedgerRow, causes: &Causes) {
        if let Some(tables) = &mut self.ledger {
            tables.add(row, causes);
        }
    }

    /// Whether the causal ledger is kept.
    #[inline]
    pub(crate) fn traces_ledger(&self) -> bool {
        self.ledger.is_some()
    }

    /// Rows that were not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.packets.as_ref().map_or(0, |packets| packets.held())
            + self.datagrams.as_ref().map_or(0, |datagrams| datagrams.held())
            + self.rates.as_ref().map_or(0, |rates| rates.held())
            + self.bursts.as_ref().map_or(0, |bursts| bursts.held())
            + self.hops.as_ref().map_or(0, |hops| hops.held())
            + self.steps.as_ref().map_or(0, |steps| steps.held())
            + self.cwnd.as_ref().map_or(0, |cwnd| cwnd.held())
            + self.ledger.as_ref().map_or(0, |tables| tables.held())
    }

    /// Hands over the chunks whose rows are final at `now`.
    pub(crate) fn drain(&mut self, now: Time) -> impl Iterator<Item = Piece> {
        let packets = self.packets.iter_mut().flat_map(move |packets| packets.drain(now));
        let datagrams = self.datagrams.iter_mut().flat_map(|datagrams| datagrams.drain());
        let rates = self.rates.iter_mut().flat_map(|rates| rates.drain(|()| true));
        let bursts = self.bursts.iter_mut().flat_map(move |bursts| bursts.drain(now));
        let hops = self.hops.iter_mut().flat_map(|hops| hops.drain(|()| true));
        let steps = self.steps.iter_mut().flat_map(|steps| steps.drain(|()| true));
        let cwnd = self.cwnd.iter_mut().flat_map(move |cwnd| cwnd.drain(now));
        let ledger = self.ledger.iter_mut().flat_map(|tables| tables.drain());
        let packets = packets.chain(datagrams).chain(rates);
        packets.chain(bursts).chain(hops).chain(steps).chain(cwnd).chain(ledger)
    }

    /// Hands over what is left; bursts that arrive after the `end`, or after the last instant of
    /// the run, are still in flight. Fibres and steps of bursts have tables in a mesh alone, though
    /// no burst was sent there.
    pub(crate) fn finish(
        self,
        (end, last): (Time, Time),
        mesh: bool,
    ) -> impl Iterator<Item = Piece> {
        let packets = self.packets.into_iter().flat_map(|packets| packets.finish());
        let datagrams = self.datagrams.into_iter().flat_map(|datagrams| datagrams.finish());
        let packets = packets.chain(datagrams);
        // Where there are slots.
        let rates = self.rates.into_iter().filter(|rates| rates.added() > 0);
        let packets = packets.chain(rates.flat_map(|rates| rates.finish()));
        let bursts = self.bursts.into_iter().flat_map(move |bursts| bursts.finish(end, last));
        let hops = self.hops.filter(|_| mesh).into_iter().flat_map(|hops| hops.finish());
        let steps = self.steps.filter(|_| mesh).into_iter().flat_map(|steps| steps.finish());
        let cwnd = self.cwnd.into_iter().flat_map(|cwnd| cwnd.finish());
        let ledger = self.ledger.into_iter().flat_map(|tables| tables.finish());
        packets.chain(bursts).chain(hops).chain(steps).chain(cwnd).chain(ledger)
    }
}
