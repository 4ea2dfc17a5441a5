//! Connections that came and went, and the number of open ones over time.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::chunks::Chunks;
use super::columns::{Column, NONE, Piece, table};
use super::surgery::Progress;
use crate::topology::Graph;

table! {
    /// One row a connection of a demand.
    ConnectionTable, "connections" {
        id: u32 => Column::U32,
        demand: u32 => Column::U32,
        from: u32 => Column::Node,
        to: u32 => Column::Node,
        class: u32 => Column::U32,
        started_ps: u64 => Column::U64,
        received_ps: u64 => Column::U64,
        completed_ps: u64 => Column::U64,
        bytes: u64 => Column::U64,
        ideal_ps: u64 => Column::U64,
        packets_sent: u64 => Column::U64,
        packets_lost: u64 => Column::U64,
        retransmissions: u64 => Column::U64,
        timeouts: u64 => Column::U64,
        false_timeouts: u64 => Column::U64,
        fast_retransmits: u64 => Column::U64,
        bursts: u64 => Column::U64,
        bursts_lost: u64 => Column::U64,
    }
}

/// A connection that is done, or open at the end.
pub(crate) struct ConnectionRow {
    pub(crate) id: u32,
    pub(crate) demand: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) class: u32,
    pub(crate) started: Time,
    pub(crate) received: Option<Time>,
    pub(crate) completed: Option<Time>,
    pub(crate) bytes: u64,
    pub(crate) ideal: Span,
    pub(crate) packets_sent: u64,
    pub(crate) packets_lost: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) false_timeouts: u64,
    pub(crate) fast_retransmits: u64,
    pub(crate) bursts: u64,
    pub(crate) bursts_lost: u64,
}

/// The rows of connections.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Connections(Chunks<ConnectionTable>);

impl Connections {
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.0.set_chunk(rows);
    }

    pub(crate) fn add(&mut self, row: &ConnectionRow) {
        let table = &mut self.0.add().rows;
        table.id.push(row.id);
        table.demand.push(row.demand);
        table.from.push(row.from);
        table.to.push(row.to);
        table.class.push(row.class);
        table.started_ps.push(row.started.as_ps());
        table.received_ps.push(row.received.map_or(NONE, Time::as_ps));
        table.completed_ps.push(row.completed.map_or(NONE, Time::as_ps));
        table.bytes.push(row.bytes);
        table.ideal_ps.push(row.ideal.as_ps());
        table.packets_sent.push(row.packets_sent);
        table.packets_lost.push(row.packets_lost);
        table.retransmissions.push(row.retransmissions);
        table.timeouts.push(row.timeouts);
        table.false_timeouts.push(row.false_timeouts);
        table.fast_retransmits.push(row.fast_retransmits);
        table.bursts.push(row.bursts);
        table.bursts_lost.push(row.bursts_lost);
    }

    /// How far the connections have come whose rows were not handed over: to their end.
    pub(crate) fn reached(&self) -> impl Iterator<Item = Progress> {
        self.0.rows().flat_map(|table| {
            (0..table.id.len()).map(|row| Progress {
                id: table.id[row],
                started_ps: table.started_ps[row],
                bytes: table.bytes[row],
                until_ps: Some(table.received_ps[row]),
                whole: true,
            })
        })
    }

    /// Rows that were not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.0.held()
    }

    /// Hands over the chunks that are full, with the nodes of `graph` by name.
    pub(crate) fn drain(&mut self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.0.drain(|()| true).map(|piece| piece.naming(graph))
    }

    /// Hands over what is left.
    pub(crate) fn finish(self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.0.finish().map(|piece| piece.naming(graph))
    }
}

table! {
    /// One row an edge node and instant.
    SampleTable, "samples" {
        t_ps: u64 => Column::U64,
        node: u32 => Column::Node,
        active: u32 => Column::U32,
    }
}

/// Open connections over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Samples(Chunks<SampleTable>);

impl Samples {
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.0.set_chunk(rows);
    }

    /// `active` connections that started at `node` are open.
    pub(crate) fn add(&mut self, now: Time, node: u32, active: u32) {
        let table = &mut self.0.add().rows;
        table.t_ps.push(now.as_ps());
        table.node.push(node);
        table.active.push(active);
    }

    /// Rows that were not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.0.held()
    }

    /// Hands over the chunks that are full, with the nodes of `graph` by name.
    pub(crate) fn drain(&mut self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.0.drain(|()| true).map(|piece| piece.naming(graph))
    }

    /// Hands over what is left.
    pub(crate) fn finish(self, graph: &Graph) -> impl Iterator<Item = Piece> {
        self.0.finish().map(|piece| piece.naming(graph))
    }
}
