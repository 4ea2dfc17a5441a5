//! The memory of parts of a world, in bytes: of themselves, and of the data that they hold
//! elsewhere.

use std::mem::size_of;

use super::access::{Link, Source};
use super::core::{BATCH_SOURCE_SIZE, BURST_SIZE, BURST_SOURCE_SIZE};
use super::events::Event;
use super::hosts::Flow;
use super::packet::{AckPacket, DataPacket};
use super::train::Train;
use crate::measure::Transfer;

/// An entry of the event queue.
const ENTRY: usize = 16 + size_of::<Event>();

/// A flow that has sent a few packets, with its links if it has any of its own.
pub(crate) fn flow(shared: bool) -> usize {
    let links = 2 * (size_of::<Link<DataPacket>>() + size_of::<Link<AckPacket>>());
    // Its queues, its segments that are not acknowledged, its writes, its alarms.
    size_of::<Flow>() + 1024 + 3 * ENTRY + if shared { 0 } else { links + 512 }
}

/// A write of a script.
pub(crate) const WRITE: usize = 16;
/// The numbers that a flow leaves, as text and as objects of Python.
pub(crate) const FLOW_NUMBERS: usize = 3000;
/// The numbers of a run without flows, and those of a fibre.
pub(crate) const NUMBERS: usize = 8000;
pub(crate) const LINK_NUMBERS: usize = 1200;
/// A source of cross-traffic, and one of its sessions.
pub(crate) const SOURCE: usize = size_of::<Source>() + ENTRY + 64;
pub(crate) const SESSION: usize = 48;
/// A packet of cross-traffic that waits on a link: an event.
pub(crate) const WAITING_PACKET: usize = ENTRY;
/// Open connections at a node, at one time.
pub(crate) const SAMPLE: usize = 24;
/// The record that a connection of a demand leaves: its times, and its row in the table.
pub(crate) const TRANSFER: usize = size_of::<Transfer>() + 128;
/// A row of what waits in a queue or at a fibre, or is reserved of a wavelength.
pub(crate) const OCCUPANCY: usize = 40;
/// The next link of a node on the path to another.
pub(crate) const PATH: usize = 4;
/// The counts of each pair of nodes.
pub(crate) const PAIR: usize = 128;
/// The counts, queues and routes of a pair of nodes in a large network, where others have none.
pub(crate) const USED_PAIR: usize = 2048;
/// A wavelength of a fibre or a delay line, with a few reservations.
pub(crate) const CHANNEL: usize = 256;
/// A control channel.
pub(crate) const CONTROL: usize = 96;
/// A destination of a demand.
pub(crate) const TARGET: usize = 16;
/// A source of bursts, and a burst in flight with its route.
pub(crate) const BURST_SOURCE: usize = BURST_SOURCE_SIZE + ENTRY + ALLOCATION;
/// From where to where bursts of a source may go.
pub(crate) const BURST_ENDS: usize = 8;
/// Of memory that is allocated by itself.
const ALLOCATION: usize = 24;
pub(crate) const BURST: usize = BURST_SIZE + 128 + ENTRY;
/// A source of batches with its queue and what is drawn ahead, and its correlations.
pub(crate) const BATCH_SOURCE: usize = BATCH_SOURCE_SIZE + 2048;
pub(crate) const NOISE: usize = 600;
/// A packet in a burst.
pub(crate) const PACKET: usize = size_of::<Train<DataPacket>>();
