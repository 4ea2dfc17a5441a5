//! Third-party hosts, such as those of a QUIC stack. The contents of their packets are kept here.
//! Over links, edges and fibres they go as those of our own TCP do: those of the sender as data
//! packets and those of the receiver as ACKs, each by its number. Of a connection with data in both
//! directions each host is the sender of one flow, and all packets are data packets: the receiver
//! of a flow is at the sender of the other. Such hosts are never ahead of the clock.

mod acting;
mod in_transit;
mod lost;
mod patience;
mod reacts;
mod seat;

use std::sync::{Mutex, PoisonError};

use burstlab_units::{Span, Time};

pub(in crate::world) use self::acting::is_dead;
use self::in_transit::{InTransit, Weight};
use self::lost::LostCargo;
use self::patience::Busy;
pub(super) use self::seat::seat;
use super::connection::Alarm;
use crate::measure::FlowSummary;
use crate::scenario::{Cargo, Ecn, Ending, Host, HostState};

/// The sender and the receiver of a flow.
pub(in crate::world) const NEAR: usize = 0;
pub(in crate::world) const FAR: usize = 1;

/// The hosts of a flow, and the packets in transit that they have sent.
#[derive(Debug)]
pub(super) struct Stack {
    /// The receiver is not here where it is the sender of the flow of the other direction.
    ends: [Option<End>; 2],
    /// Of all packets of the sender that are acknowledged, the highest.
    acked: Option<u64>,
    /// The losses, as its sender may report them.
    lost: LostCargo,
    counts: Counts,
    /// When each end found its connection to be dead before its time, and why.
    ended: [Option<(Time, Ending)>; 2],
    /// The packet that came last, and what is in it.
    came: Option<(u64, Cargo)>,
    /// Application data that had come to its receiver when it was asked last, in bytes.
    received: u64,
    /// Whether its hosts send by themselves, as fast as a machine lets them.
    live: bool,
    /// Bytes that its receiver had when measuring began, and the counts of its sender.
    before: (u64, Counts),
    /// Draws by which queues mark.
    drawn: u64,
    /// Whether the network carries what headers of IP say of congestion.
    ecn: bool,
    /// Its data packets that queues have marked.
    marked: u64,
}

/// Counts of the reports of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets taken for lost or sent again, and repairs of what is not in one yet.
    repaired: u64,
    repairs: u64,
    timeouts: u64,
    /// Looks at the smoothed round trip, and their sum.
    round_trips: u64,
    round_trip: Span,
}

/// One of the two.
#[derive(Debug)]
struct End {
    /// Locked only to be looked at: hosts need not be shared between threads, worlds are.
    host: Mutex<Box<dyn Host>>,
    alarm: Alarm,
    in_transit: InTransit,
    busy: Busy,
}

/// A run with third-party hosts goes on in one place alone: nobody can double them.
impl Clone for Stack {
    fn clone(&self) -> Self {
        panic!("a run whose flows have a third-party stack cannot be cloned")
    }
}

impl End {
    fn new(host: Box<dyn Host>, weight: Weight) -> Self {
        let (host, in_transit) = (Mutex::new(host), InTransit::weighing(weight));
        Self { host, alarm: Alarm::OFF, in_transit, busy: Busy::default() }
    }

    fn host(&mut self) -> &mut dyn Host {
        &mut **self.host.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stack {
    fn new(hosts: [Option<Box<dyn Host>>; 2], (live, ecn): (bool, bool), weight: &Weight) -> Self {
        Self {
            ends: hosts.map(|host| host.map(|host| End::new(host, weight.clone()))),
            acked: None,
            lost: LostCargo::default(),
            counts: Counts::default(),
            ended: [None; 2],
            came: None,
            received: 0,
            live,
            before: (0, Counts::default()),
            drawn: 0,
            ecn,
            marked: 0,
        }
    }

    #[inline]
    fn end(&self, side: usize) -> &End {
        self.ends[side].as_ref().expect("the host is one of this flow")
    }

    #[inline]
    fn end_mut(&mut self, side: usize) -> &mut End {
        self.ends[side].as_mut().expect("the host is one of this flow")
    }

    /// When its connection ended before its time, and why: as its sender says, if that does.
    pub(super) fn ended(&self) -> Option<(Time, Ending)> {
        self.ended[NEAR].or(self.ended[FAR])
    }

    /// Whether it has begun, and neither host has an alarm.
    pub(super) fn is_silent(&self) -> bool {
        let alarm = |end: &End| {
            end.host.lock().unwrap_or_else(PoisonError::into_inner).poll_timeout().is_some()
        };
        self.end(NEAR).in_transit.kept() > 0 && !self.ends.iter().flatten().any(alarm)
    }

    /// A data packet is lost; returns whether the sender still waits for it.
    pub(super) fn lose(&mut self, number: u64) -> bool {
        let cargo = self.end_mut(NEAR).in_transit.take(number).map(|sent| sent.cargo);
        self.lost.lose(number, cargo.unwrap_or_default())
    }

    /// A queue marks a data packet; returns whether that is so now.
    pub(super) fn mark(&mut self, number: u64) -> bool {
        let End { host, in_transit, .. } = self.end_mut(NEAR);
        let host = host.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(sent) = in_transit.get_mut(number) else { return false };
        let before = sent.ecn;
        let marked = match before {
            Ecn::NotEct => host.mark(&mut sent.packet),
            _ => {
                sent.ecn = Ecn::Ce;
                true
            }
        };
        self.marked += u64::from(marked && before != Ecn::Ce);
        marked
    }

    /// Numbers the draws by which queues mark its packets.
    pub(super) fn draws(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn - 1
    }

    /// Packets of the receiver are lost.
    pub(super) fn lose_acks(&mut self, first: u64, count: u64) {
        let in_transit = &mut self.end_mut(FAR).in_transit;
        (first..first + count).for_each(|number| drop(in_transit.take(number)));
    }

    fn state(&self, side: usize) -> HostState {
        self.end(side).host.lock().unwrap_or_else(PoisonError::into_inner).state()
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self) {
        self.before = (self.received, self.counts);
    }

    /// Application data that came in the measured time, in bytes, and the round trips measured in
    /// it: how many, and their mean.
    pub(super) fn achieved(&self) -> (u64, u64, Option<f64>) {
        let (received, before) = &self.before;
        let count = self.counts.round_trips - before.round_trips;
        let sum = (self.counts.round_trip - before.round_trip).as_secs_f64();
        let bytes = self.received - received;
        (bytes, count, (count > 0).then(|| sum / count as f64))
    }

    /// Puts the reports of the sender in their place.
    pub(super) fn tell(&self, summary: &mut FlowSummary) {
        summary.packets_sent = self.end(NEAR).in_transit.kept();
        summary.retransmissions = self.counts.repaired;
        summary.fast_retransmits = self.counts.repairs;
        summary.timeouts = self.counts.timeouts;
        summary.packets_marked = self.marked;
        summary.ended = self.ended().map(|(_, why)| why.label().to_string());
        summary.ended_s = self.ended().map(|(at, _)| at.as_secs_f64());
    }
}
