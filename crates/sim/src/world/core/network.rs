//! The questions of hosts and access links to the optical network, whatever its kind. A method with
//! a body here means nothing for one of the kinds, and the body is the answer of such a network.

use burstlab_link::Wire;
use burstlab_optical::slotted::Passed;
use burstlab_units::{Rate, Span, Time};
use enum_dispatch::enum_dispatch;

use super::account::{BatchCounts, BurstCounts};
use super::edge::DataQueue;
use super::effects::{Effects, Expected, Place};
use super::flows::{Carried, Flows};
use super::payload::Payload;
use super::under_way::UnderWay;
use crate::measure::{NetworkSummary, Occupancy, OpsSummary, Piece, Recorder};
use crate::scenario::{Interrupt, Run};
use crate::topology::Graph;
use crate::world::ahead::policy::{Lookahead, Promises};
use crate::world::context::Context;
use crate::world::packet::{AckPacket, DataPacket};
use crate::world::surgery::Surgery;
use crate::world::train::TimedTrain;

/// An optical network.
#[enum_dispatch]
pub(in crate::world) trait Network {
    /// Queues what happens first.
    fn begin(&mut self, watch: &Interrupt, context: &mut Context);

    /// Its promises about its packets in such a run, where hosts may be `ahead` of the clock.
    fn promises(&self, run: &Run, ahead: &Lookahead) -> Promises;

    /// Its facts about the flows.
    fn flows(&mut self) -> &mut Flows;

    /// The effects that hosts and links are to process.
    fn effects(&mut self) -> &mut Effects;

    /// The nodes and fibres.
    fn graph(&self) -> &Graph;

    /// Measuring begins.
    fn warmed_up(&mut self, now: Time);

    /// The measured time is over, and the run goes on.
    fn measured(&mut self, now: Time);

    /// A data packet is at its first edge node.
    fn data_arrives(&mut self, now: Time, packet: DataPacket, context: &mut Context);

    /// An ACK is at the edge node of its receiver.
    fn ack_arrives(&mut self, now: Time, packet: AckPacket, context: &mut Context);

    /// A packet of cross-traffic between two nodes is at the first.
    fn cross_arrives(
        &mut self,
        now: Time,
        packet: DataPacket,
        to: ((u32, u32), u32, u64),
        context: &mut Context,
    );

    /// Takes a data packet that will be at its first edge node at `at`, where it need not be
    /// reported again as that comes; returns whether it does.
    fn expects_data(&mut self, at: Time, packet: DataPacket, context: &mut Context) -> bool;

    /// Takes an ACK that will be at the edge node of its receiver at `at`, where it need not be
    /// reported again as that comes.
    fn expects_ack(&mut self, at: Time, packet: AckPacket, context: &mut Context) -> Expected;

    /// Bursts or slots numbered so far: all; on a path those of each direction.
    fn numbered(&self) -> [u64; 2];

    /// Whether nothing that is operated on was decided before now.
    fn is_before(&self, surgery: &Surgery) -> bool;

    /// The totals, with what is `under_way`.
    fn totals(&self, under_way: &UnderWay) -> Totals;

    /// The numbers of the network in the `measured` time; the run ends at `now`.
    fn report(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
        rows: &mut Recorder,
    ) -> Report;

    /// Sources of bursts, which never end.
    fn endless(&self) -> usize {
        0
    }

    /// Bursts in flight, and sources of bursts.
    fn weight(&self) -> u64 {
        0
    }

    /// Bursts with data closed so far.
    fn closed(&self) -> u64 {
        0
    }

    /// Bytes of copies that edge nodes keep.
    #[cfg(test)]
    fn copied(&self) -> u64 {
        0
    }

    /// The bursts that carried a segment of the flow in a slot.
    fn bursts_of(&self, _slot: u32) -> Carried {
        Carried::default()
    }

    /// A queue of the network drops a packet at this place; returns whether it is lost now.
    fn drops(&mut self, _place: Place, _packet: &DataPacket) -> bool;

    /// The vectors of what was carried are used again.
    fn reuse(&mut self, _payload: Payload) {}

    /// Where runs of data packets of a flow may be announced, if they may.
    fn data_queue(&mut self, _flow: u32, _ahead: &Lookahead) -> Option<DataQueue> {
        None
    }

    /// Where runs of ACKs of a flow may be announced, if they may.
    fn ack_queue(&mut self, _flow: u32, _ahead: &Lookahead) -> Option<usize> {
        None
    }

    /// Data packets will enter a [queue](Self::data_queue).
    fn expect_run(&mut self, _: DataQueue, _: TimedTrain<DataPacket>, _: &mut Context) {}

    /// ACKs that are sent over an access link will enter a [queue](Self::ack_queue).
    fn expect_acks_over(
        &mut self,
        _queue: usize,
        _link: &mut Wire,
        _sent: &TimedTrain<AckPacket>,
        _context: &mut Context,
    ) {
    }

    /// The packets that an edge node passes of an ACK that has come to it over the network.
    fn passes(&mut self, _at: Time, _packet: &AckPacket) -> Passed<DataPacket> {
        Passed { on: true, copy: None }
    }

    /// Whether the arrivals at an output on the route of the data of a flow are at least this share
    /// of its capacity at `now`.
    fn is_loaded(&mut self, _now: Time, _flow: u32, _share: f64) -> bool {
        unreachable!("only the switches of a slotted network count their arrivals")
    }

    /// An edge node sends a copy of a data packet.
    fn sends_copy(&mut self, _at: Time, _copy: DataPacket, _context: &mut Context) {}

    /// An ACK that an edge node wrote began a fast retransmission.
    fn repaired(&mut self) {}

    /// A connection is done: it travelled in so many bursts, of which so many were lost.
    fn connection(&mut self, _carried: Carried) {}

    /// The rate of a wavelength, where there is no room for more bursts.
    fn is_full(&self) -> Option<Rate> {
        None
    }

    /// Adds what waits and is reserved at `now` to the tables.
    fn look(&mut self, _now: Time, _tables: &mut Occupancy) {}

    /// Scripted losses that never came.
    fn unmet(&self) -> Vec<String> {
        Vec::new()
    }

    /// The packets and bursts in flight.
    fn under_way(&self, _now: Time) -> UnderWay {
        UnderWay::default()
    }

    /// Whether bursts take exclusive paths, on which each direction numbers its own.
    fn is_path(&self) -> bool {
        false
    }

    /// Packets a burst, of so many packets that crossed in so many bursts.
    fn per_burst(&self, _packets: u64, _bursts: u64) -> f64 {
        0.0
    }
}

/// The numbers of the network, for the summary.
#[derive(Default)]
pub(in crate::world) struct Report {
    /// Where headers reserve what bursts need.
    pub(in crate::world) network: Option<NetworkSummary>,
    pub(in crate::world) ops: Option<OpsSummary>,
    pub(in crate::world) warnings: Vec<String>,
    pub(in crate::world) tables: Vec<Piece>,
}

/// Totals of what the network carries and has lost.
#[derive(Default)]
pub(in crate::world) struct Totals {
    /// Bursts of data, of ACKs, and background bursts: those that ended, and how many are in
    /// flight.
    pub(in crate::world) bursts: [(BurstCounts, u64); 3],
    /// Data packets of flows, ACKs and packets of cross-traffic in flight.
    pub(in crate::world) in_flight: [u64; 3],
    /// Packets of cross-traffic that were lost.
    pub(in crate::world) cross_lost: u64,
    pub(in crate::world) batches: BatchCounts,
}
