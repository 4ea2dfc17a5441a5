//! Backlogs and reserved resources of a mesh, over time.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::chunks::Chunks;
use super::columns::{Column, Piece, table};
use crate::topology::Graph;

table! {
    /// One row an assembly queue in which something waits, and instant.
    QueueTable, "queues" {
        t_ps: u64 => Column::U64,
        from: u32 => Column::Node,
        to: u32 => Column::Node,
        class: u32 => Column::U32,
        route: u32 => Column::U32,
        packets: u64 => Column::U64,
        bytes: u64 => Column::U64,
    }
}

table! {
    /// One row a fibre and instant.
    PortTable, "ports" {
        t_ps: u64 => Column::U64,
        from: u32 => Column::Node,
        to: u32 => Column::Node,
        reserved: u32 => Column::U32,
        bursts: u64 => Column::U64,
        bytes: u64 => Column::U64,
    }
}

table! {
    /// One row a wavelength of a fibre, and the time between two instants.
    WavelengthTable, "wavelengths" {
        t_ps: u64 => Column::U64,
        from: u32 => Column::Node,
        to: u32 => Column::Node,
        wavelength: u32 => Column::U32,
        reserved_ps: u64 => Column::U64,
    }
}

/// So much waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Packets, or bursts.
    pub(crate) number: u64,
    pub(crate) bytes: u64,
}

impl Waiting {
    pub(crate) fn add(&mut self, number: u64, bytes: u64) {
        self.number += number;
        self.bytes += bytes;
    }
}

/// The rows of all three tables.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Occupancy {
    queues: Chunks<QueueTable>,
    ports: Chunks<PortTable>,
    wavelengths: Chunks<WavelengthTable>,
}

impl Occupancy {
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.queues.set_chunk(rows);
        self.ports.set_chunk(rows);
        self.wavelengths.set_chunk(rows);
    }

    /// So many packets wait in the queue of a class and a route between two nodes.
    pub(crate) fn queue(
        &mut self,
        now: Time,
        ends: (u32, u32),
        (class, route): (u32, u32),
        waiting: Waiting,
    ) {
        let table = &mut self.queues.add().rows;
        table.t_ps.push(now.as_ps());
        table.from.push(ends.0);
        table.to.push(ends.1);
        table.class.push(class);
        table.route.push(route);
        table.packets.push(waiting.number);
        table.bytes.push(waiting.bytes);
    }

    /// So many wavelengths of a fibre are reserved, and so many bursts wait for it.
    pub(crate) fn port(&mut self, now: Time, ends: (u32, u32), reserved: u32, waiting: Waiting) {
        let table = &mut self.ports.add().rows;
        table.t_ps.push(now.as_ps());
        table.from.push(ends.0);
        table.to.push(ends.1);
        table.reserved.push(reserved);
        table.bursts.push(waiting.number);
        table.bytes.push(waiting.bytes);
    }

    /// A wavelength of a fibre was reserved for so long since the instant before.
    pub(crate) fn wavelength(
        &mut self,
        now: Time,
        ends: (u32, u32),
        wavelength: u32,
        reserved: Span,
    ) {
        let table = &mut self.wavelengths.add().rows;
        table.t_ps.push(now.as_ps());
        table.from.push(ends.0);
        table.to.push(ends.1);
        table.wavelength.push(wavelength);
        table.reserved_ps.push(reserved.as_ps());
    }

    /// Rows that were not handed over.
    pub(crate) fn held(&self) -> u64 {
        self.queues.held() + self.ports.held() + self.wavelengths.held()
    }

    /// Hands over the chunks that are full, with the nodes of `graph` by name.
    pub(crate) fn drain(&mut self, graph: &Graph) -> Vec<Piece> {
        let queues = self.queues.drain(|()| true);
        let all = queues.chain(self.ports.drain(|()| true));
        let all = all.chain(self.wavelengths.drain(|()| true));
        all.map(|piece| piece.naming(graph)).collect()
    }

    /// Hands over what is left.
    pub(crate) fn finish(self, graph: &Graph) -> Vec<Piece> {
        let all = self.queues.finish().chain(self.ports.finish()).chain(self.wavelengths.finish());
        all.map(|piece| piece.naming(graph)).collect()
    }
}
