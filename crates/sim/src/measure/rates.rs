//! Rates of the edge buffers of a slotted network: what they ask for, what they get, and what
//! notifications of congestion take off.

use burstlab_units::Time;

use super::columns::{Column, table};

const EVENTS: &[&str] = &["granted", "refused", "frozen", "idle", "notified", "cut"];

/// An event of the rate of a buffer; the order is that of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateEvent {
    /// It gets what it asks for.
    Granted = 0,
    /// It gets less, or keeps its rate.
    Refused = 1,
    /// It may not negotiate.
    Frozen = 2,
    /// It was idle and gives its rate back.
    Idle = 3,
    /// Its edge hears of a slot of it that was lost by congestion.
    Notified = 4,
    /// It cuts its rate, as its edge was notified.
    Cut = 5,
}

table! {
    /// One row a negotiation of an edge buffer, a notification, and a cut of a rate.
    RateTable, "packets_rates" {
        t_ps: u64 => Column::U64,
        from: u32 => Column::U32,
        to: u32 => Column::U32,
        route: u32 => Column::U32,
        event: u8 => |codes| Column::Category(codes, EVENTS),
        node: u32 => Column::U32,
        port: u32 => Column::U32,
        loss: f64 => Column::F64,
        asked: f64 => Column::F64,
        backlog: f64 => Column::F64,
        before: f64 => Column::F64,
        after: f64 => Column::F64,
    }
}

/// Something that happens to the rate of a buffer. Rates are shares of the slots of a wavelength;
/// one that there is not is no number.
pub(crate) struct RateRow {
    pub(crate) now: Time,
    /// The edge nodes of the buffer, and its route among theirs, from 0.
    pub(crate) ends: (u32, u32),
    pub(crate) place: u32,
    pub(crate) event: RateEvent,
    /// The node that lost the slot and the one its output leads to, from 1; 0: none.
    pub(crate) output: (u32, u32),
    /// The loss rate that was notified, and of a cut the part of it that counts.
    pub(crate) loss: f64,
    /// The rate that it asks for.
    pub(crate) asked: f64,
    /// Slots that wait.
    pub(crate) backlog: f64,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl RateTable {
    pub(super) fn push(&mut self, row: &RateRow) {
        self.t_ps.push(row.now.as_ps());
        self.from.push(row.ends.0 + 1);
        self.to.push(row.ends.1 + 1);
        self.route.push(row.place + 1);
        self.event.push(row.event as u8);
        self.node.push(row.output.0);
        self.port.push(row.output.1);
        self.loss.push(row.loss);
        self.asked.push(row.asked);
        self.backlog.push(row.backlog);
        self.before.push(row.before);
        self.after.push(row.after);
    }
}
