//! The rows of bursts.
//!
//! In a mesh they come in the order of events. On an exclusive path whose bursts are switched as
//! they are, a row may come ahead of the clock: rows are in the order in which bursts end, data
//! before ACKs, and then by label. A burst that is recorded before it lands may be in flight at the
//! end of the run.

use burstlab_units::{Bytes, Time};

use super::chunks::Chunks;
use super::columns::{Column, NONE, Piece, table};
use super::fates::{DELIVERED, FATES, IN_FLIGHT, LOST};
use super::loss::LossCause;
use super::ordered::Ordered;

pub(super) const BURST_KINDS: &[&str] = &["data", "ack", "background"];

/// Index of the kind of bursts of ACKs.
const ACKS: u8 = 1;

table! {
    /// One row a burst.
    BurstTable, "bursts" {
        burst: u64 => Column::U64,
        direction: u8 => |codes| Column::Category(codes, BURST_KINDS),
        from: u32 => Column::U32,
        to: u32 => Column::U32,
        hops: u32 => Column::U32,
        attempts: u32 => Column::U32,
        rival: u64 => Column::U64,
        packets: u32 => Column::U32,
        bytes: u64 => Column::U64,
        load: u64 => Column::U64,
        opened_ps: u64 => Column::U64,
        closed_ps: u64 => Column::U64,
        departed_ps: u64 => Column::U64,
        arrived_ps: u64 => Column::U64,
        lost_ps: u64 => Column::U64,
        fate: u8 => |codes| Column::Category(codes, FATES),
        cause: u8 => |codes| Column::Category(codes, LossCause::LABELS),
        node: u32 => Column::U32,
        class: u32 => Column::U32,
    }
}

/// A burst whose fate is known, or that is in flight at the end.
pub(crate) struct BurstRow {
    pub(crate) number: u64,
    /// Index of its kind.
    pub(crate) kind: u8,
    pub(crate) class: u32,
    /// First and last node, and fibres between them; 0 on a path.
    pub(crate) ends: (u32, u32),
    pub(crate) hops: u32,
    /// How often it was sent again or asked for.
    pub(crate) attempts: u32,
    /// Number of the burst that blocked it where it was lost.
    pub(crate) rival: Option<u64>,
    pub(crate) packets: usize,
    pub(crate) bytes: Bytes,
    /// Of this, bytes of packets; all of it where it carries none.
    pub(crate) load: u64,
    pub(crate) opened: Time,
    pub(crate) closed: Time,
    pub(crate) departs: Option<Time>,
    pub(crate) arrives: Option<Time>,
    /// When it is lost, at which node, and the number of the cause.
    pub(crate) lost: Option<(Time, usize, u8)>,
}

impl BurstTable {
    fn push(&mut self, burst: &BurstRow) {
        let ps = |at: Option<Time>| at.map_or(NONE, Time::as_ps);
        self.burst.push(burst.number);
        self.direction.push(burst.kind);
        self.from.push(burst.ends.0);
        self.to.push(burst.ends.1);
        self.hops.push(burst.hops);
        self.attempts.push(burst.attempts);
        self.rival.push(burst.rival.unwrap_or(NONE));
        self.packets.push(u32::try_from(burst.packets).unwrap_or(u32::MAX));
        self.bytes.push(burst.bytes.get());
        self.load.push(burst.load);
        self.opened_ps.push(burst.opened.as_ps());
        self.closed_ps.push(burst.closed.as_ps());
        self.departed_ps.push(ps(burst.departs));
        self.arrived_ps.push(ps(burst.arrives));
        self.lost_ps.push(ps(burst.lost.map(|lost| lost.0)));
        self.fate.push(if burst.lost.is_some() { LOST } else { DELIVERED });
        self.cause.push(burst.lost.map_or(0, |(_, _, cause)| cause));
        self.node.push(burst.lost.map_or(0, |(_, node, _)| node as u32));
        self.class.push(burst.class);
    }

    /// Of bursts that have not landed by `last` it is known that they are in flight.
    fn end(&mut self, last: Time, forget: bool) {
        for (fate, arrives) in self.fate.iter_mut().zip(&mut self.arrived_ps) {
            if *fate == DELIVERED && *arrives > last.as_ps() {
                *fate = IN_FLIGHT;
                if forget {
                    *arrives = NONE;
                }
            }
        }
    }
}

/// The rows of bursts that are held.
#[derive(Clone, Debug)]
pub(super) enum BurstRows {
    /// As they come. The mark is the latest arrival: a burst that arrives after the end is in
    /// flight then.
    AsTheyCome(Chunks<BurstTable, Time>),
    /// As bursts end.
    AsTheyEnd(Box<Ordered<BurstTable>>),
}

impl BurstRows {
    pub(super) fn set_chunk(&mut self, rows: u32) {
        match self {
            Self::AsTheyCome(chunks) => chunks.set_chunk(rows),
            Self::AsTheyEnd(ordered) => ordered.set_chunk(rows),
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, burst: &BurstRow) {
        match self {
            Self::AsTheyCome(chunks) => {
                let chunk = chunks.add();
                if burst.lost.is_none() {
                    chunk.mark = chunk.mark.max(burst.arrives.unwrap_or(Time::MAX));
                }
                chunk.rows.push(burst);
            }
            Self::AsTheyEnd(ordered) => {
                let lost = burst.lost.map(|(at, ..)| at);
                let end = lost.or(burst.arrives).unwrap_or(Time::MAX);
                let label = burst.number as u32 & ((1 << 31) - 1);
                let place = u32::from(burst.kind == ACKS) << 31 | label;
                ordered.add(end, place).push(burst);
            }
        }
    }

    /// Rows that were not handed over.
    pub(super) fn held(&self) -> u64 {
        match self {
            Self::AsTheyCome(chunks) => chunks.held(),
            Self::AsTheyEnd(ordered) => ordered.held(),
        }
    }

    /// Hands over the chunks that are full, and whose bursts have ended at `now`.
    pub(super) fn drain(&mut self, now: Time) -> Vec<Piece> {
        match self {
            Self::AsTheyCome(chunks) => chunks.drain(|&latest| latest <= now).collect(),
            Self::AsTheyEnd(ordered) => ordered.drain(now).collect(),
        }
    }

    /// Hands over what is left at the `end` of the run, whose last instant is `last`.
    pub(super) fn finish(self, end: Time, last: Time) -> Vec<Piece> {
        match self {
            Self::AsTheyCome(mut chunks) => {
                chunks.rows_mut().for_each(|rows| rows.end(end, false));
                chunks.finish().collect()
            }
            Self::AsTheyEnd(ordered) => {
                let mut chunks = ordered.into_chunks();
                chunks.rows_mut().for_each(|rows| rows.end(last, true));
                chunks.finish().collect()
            }
        }
    }
}
