//! Cells of 802.11b between hosts and their access links. Packets that cross a cell are taken one
//! by one, at their time: the hosts are never ahead of the clock.

use burstlab_kernel::{RandomSource, Stream, Ticket};
use burstlab_link::wlan::{Cell, Draw, Drawn, Outcome};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::measure::WlanSummary;
use crate::measure::loss::LossCause;
use crate::scenario::{Flow, Resolved, Side, Wlan};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::packet::Packet;

/// The base station of a cell.
const BASE: u32 = 0;

/// Where a host of a flow is: a cell, and its number there.
type Seat = Option<(u32, u32)>;

/// Data packets, and ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::world) struct Loads {
    pub(in crate::world) data: u64,
    pub(in crate::world) acks: u64,
}

/// A cell, and the time of the last event that was queued for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Air {
    name: String,
    cell: Cell<Packet>,
    /// By node: of back-offs, of frames, of packets.
    streams: Vec<[Stream; 3]>,
    alarm: Time,
    /// Data packets that were lost from the base station, and to it.
    data_lost: [u64; 2],
}

/// All cells of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Wireless {
    cells: Vec<Air>,
    /// By flow: of its sender, of its receiver.
    seats: Vec<[Seat; 2]>,
    /// The fates of packets. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    outcomes: Vec<Outcome<Packet>>,
    /// The same, as reported to the world. Not stored: a buffer, empty between two events.
    #[serde(skip)]
    crossed: Vec<AirEvent>,
}

impl Air {
    fn advance(&mut self, now: Time, outcomes: &mut Vec<Outcome<Packet>>) {
        let Self { cell, streams, .. } = self;
        cell.advance(now, &|draw| uniform(streams, draw), outcomes);
    }

    /// Sees to it that the cell is looked at in time: before all else of the instant, which may
    /// hand it a packet.
    fn arm(&mut self, index: u32, context: &mut Context) {
        if let Some(at) = self.cell.poll_timeout()
            && at < self.alarm
        {
            self.alarm = at;
            context.queue.push_at(at, Ticket::first(index + 1), Event::Cell(index));
        }
    }

    /// Packets in flight, from the base station (`true`) or to it.
    fn in_flight(&self, down: bool) -> Loads {
        let nodes = if down { BASE..1 } else { 1..self.cell.nodes() };
        let mut loads = Loads::default();
        for load in nodes.flat_map(|node| self.cell.in_flight(node)) {
            match load {
                Packet::Data(_) => loads.data += 1,
                Packet::Ack(_) => loads.acks += 1,
            }
        }
        loads
    }
}

fn uniform(streams: &[[Stream; 3]], draw: Draw) -> f64 {
    let what = match draw.what {
        Drawn::Backoff => 0,
        Drawn::Frame => 1,
        Drawn::Packet => 2,
    };
    streams[draw.node as usize][what].uniforms(draw.ordinal)[0]
}

impl Wireless {
    pub(in crate::world) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let scenario = &resolved.scenario;
        // Of a connection with data in both directions the flow back has the same two hosts.
        let back = |one: &Flow| one.reverse.is_some();
        let each = scenario.flows().iter().flat_map(move |one| {
            (0..one.flows()).map(move |number| (one, back(one) && number % 2 == 1))
        });
        let mut wireless = Self::default();
        if scenario.wlan.is_empty() {
            return wireless;
        }
        wireless.seats = vec![[None; 2]; each.clone().count()];
        for (index, (wlan, law)) in (0..).zip(scenario.wlan.iter().zip(&resolved.wlan)) {
            let mut stations = 0;
            for (seats, (flow, back)) in wireless.seats.iter_mut().zip(each.clone()) {
                let mut taken = wlan.seats(flow);
                if back {
                    taken.reverse();
                }
                stations += u32::from(taken != [false; 2] && !back);
                for (seat, _) in seats.iter_mut().zip(taken).filter(|(_, taken)| *taken) {
                    *seat = Some((index, stations));
                }
            }
            let stream =
                |node: u32, what: &str| random.stream(&format!("wlan/{index}/{node}/{what}"));
            let streams = (0..=stations)
                .map(|node| ["backoff", "frame", "packet"].map(|what| stream(node, what)));
            let queues = [wlan.base_queue, wlan.station_queue];
            wireless.cells.push(Air {
                name: name(wlan),
                cell: Cell::new(law.rules.clone(), law.paths(stations), queues, law.residual()),
                streams: streams.collect(),
                alarm: Time::MAX,
                data_lost: [0; 2],
            });
        }
        wireless
    }

    /// Packets that are in cells.
    pub(in crate::world) fn in_flight(&self) -> Loads {
        self.cells.iter().flat_map(|air| [air.in_flight(true), air.in_flight(false)]).fold(
            Loads::default(),
            |sum, one| Loads { data: sum.data + one.data, acks: sum.acks + one.acks },
        )
    }

    /// Data packets that have come to cells from their access links and not been delivered, and
    /// those that were sent and have not come to their access links.
    pub(in crate::world) fn kept(&self) -> [u64; 2] {
        let [down, up] = [(true, 0), (false, 1)].map(|(down, direction)| {
            let lost = |air: &Air| air.data_lost[direction];
            self.cells.iter().map(|air| air.in_flight(down).data + lost(air)).sum()
        });
        [down, up]
    }

    /// The counts of the cells so far.
    pub(in crate::world) fn summaries(&self) -> Vec<WlanSummary> {
        self.cells.iter().map(|air| WlanSummary::of(&air.name, &air.cell)).collect()
    }
}

/// The name of a cell.
fn name(wlan: &Wlan) -> String {
    match (&wlan.node, wlan.side) {
        (Some(node), _) => node.clone(),
        (None, Some(Side::Sender)) => "sender".into(),
        (None, _) => "receiver".into(),
    }
}

/// A packet that a cell does not carry.
#[derive(Clone, Debug)]
pub(in crate::world) struct AirLoss {
    pub(in crate::world) packet: Packet,
    pub(in crate::world) cause: LossCause,
}

/// The fate of a packet that was in a cell.
#[derive(Clone, Debug)]
pub(in crate::world) enum AirEvent {
    /// It has come from the base station to the host.
    ToHost(Packet),
    /// It has come from the host to the base station.
    ToBase(Packet),
    /// It is lost.
    Lost(AirLoss),
}

impl Wireless {
    /// Whether the sender of a flow (0), or its receiver (1), is a station.
    #[inline(always)]
    pub(in crate::world) fn has(&self, flow: u32, end: usize) -> bool {
        // Most worlds have no cell, and need not look at the flow.
        !self.cells.is_empty()
            && self.seats.get(flow as usize).is_some_and(|seats| seats[end].is_some())
    }

    /// A packet for a station (`down`) has come to its base station, or one of its own leaves it.
    /// The station is the sender of the packet's flow (0), or its receiver (1).
    #[inline(never)]
    pub(in crate::world) fn offer(
        &mut self,
        now: Time,
        (packet, end): (Packet, usize),
        down: bool,
        context: &mut Context,
    ) -> Result<(), AirLoss> {
        let seat = self.seats[packet.flow() as usize][end];
        let (index, station) = seat.expect("a host on the air has a seat");
        let ends = if down { (BASE, station) } else { (station, BASE) };
        let air = &mut self.cells[index as usize];
        let Air { cell: medium, streams, .. } = air;
        let draw = |draw| uniform(streams, draw);
        match medium.enqueue(now, ends, packet, packet.bytes(), &draw) {
            Ok(()) => {
                air.arm(index, context);
                Ok(())
            }
            Err(packet) => Err(air.loses(ends.0, packet, LossCause::WirelessQueue)),
        }
    }

    /// Something may have become of packets of a cell; returns what. The vector is to be
    /// [given back](Self::arm).
    #[inline(never)]
    pub(in crate::world) fn advance(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Vec<AirEvent> {
        let air = &mut self.cells[index as usize];
        if air.alarm == now {
            air.alarm = Time::MAX;
        }
        air.advance(now, &mut self.outcomes);
        context.stale += u64::from(self.outcomes.is_empty());
        self.crossed.extend(self.outcomes.drain(..).map(|outcome| match outcome {
            Outcome::Delivered { from: BASE, packet, .. } => AirEvent::ToHost(packet),
            Outcome::Delivered { packet, .. } => AirEvent::ToBase(packet),
            Outcome::Lost { from, packet, .. } => {
                AirEvent::Lost(air.loses(from, packet, LossCause::Wireless))
            }
        }));
        std::mem::take(&mut self.crossed)
    }

    /// The outcomes of a cell have been processed: queues the event at which the cell is due next.
    pub(in crate::world) fn arm(
        &mut self,
        index: u32,
        crossed: Vec<AirEvent>,
        context: &mut Context,
    ) {
        self.crossed = crossed;
        self.cells[index as usize].arm(index, context);
    }
}

impl Air {
    /// A packet from node `from` is lost.
    fn loses(&mut self, from: u32, packet: Packet, cause: LossCause) -> AirLoss {
        if packet.data().is_some() {
            self.data_lost[usize::from(from != BASE)] += 1;
        }
        AirLoss { packet, cause }
    }
}
