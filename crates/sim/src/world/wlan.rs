//! Cells of 802.11b between hosts and their access links. What crosses a cell is taken packet by
//! packet, at its time: its hosts are never ahead of the clock.

use burstlab_kernel::{RandomSource, Stream, Ticket};
use burstlab_link::wlan::{Cell, Draw, Drawn, Outcome};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::causes::{Loss, LossCause};
use super::packet::{AckPacket, DataPacket, Parcel};
use super::{Context, Event, World};
use crate::measure::{PacketCause, WlanSummary};
use crate::scenario::{Resolved, Side, Wlan};

/// The base station of a cell.
const BASE: u32 = 0;

/// What crosses a cell.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Load {
    Data(DataPacket),
    Ack(AckPacket),
}

/// Where a host of a flow is: a cell, and its number there.
type Seat = Option<(u32, u32)>;

/// Data packets, and ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loads {
    pub(super) data: u64,
    pub(super) acks: u64,
}

/// A cell, and when it was last told to be looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Air {
    name: String,
    cell: Cell<Load>,
    /// By node: of back-offs, of frames, of packets.
    streams: Vec<[Stream; 3]>,
    alarm: Time,
    /// Data packets that were lost from the base station, and to it.
    data_lost: [u64; 2],
}

/// All cells of a world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Wireless {
    cells: Vec<Air>,
    /// By flow: of its sender, of its receiver.
    seats: Vec<[Seat; 2]>,
    /// Reused buffer of what becomes of packets.
    #[serde(skip)]
    outcomes: Vec<Outcome<Load>>,
}

impl Air {
    fn advance(&mut self, now: Time, outcomes: &mut Vec<Outcome<Load>>) {
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
            context.queue.push_at(at, Ticket::first(index), Event::Cell(index));
        }
    }

    /// Packets aboard, from the base station (`true`) or to it.
    fn aboard(&self, down: bool) -> Loads {
        let nodes = if down { BASE..1 } else { 1..self.cell.nodes() };
        let mut loads = Loads::default();
        for load in nodes.flat_map(|node| self.cell.aboard(node)) {
            match load {
                Load::Data(_) => loads.data += 1,
                Load::Ack(_) => loads.acks += 1,
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
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let scenario = &resolved.scenario;
        let each = scenario.flows().iter().flat_map(|one| (0..one.count).map(move |_| one));
        let mut wireless = Self::default();
        if scenario.wlan.is_empty() {
            return wireless;
        }
        wireless.seats = vec![[None; 2]; each.clone().count()];
        for (index, (wlan, law)) in (0..).zip(scenario.wlan.iter().zip(&resolved.wlan)) {
            let mut stations = 0;
            for (seats, flow) in wireless.seats.iter_mut().zip(each.clone()) {
                let taken = wlan.seats(flow);
                stations += u32::from(taken != [false; 2]);
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
    pub(super) fn aboard(&self) -> Loads {
        self.cells.iter().flat_map(|air| [air.aboard(true), air.aboard(false)]).fold(
            Loads::default(),
            |sum, one| Loads { data: sum.data + one.data, acks: sum.acks + one.acks },
        )
    }

    /// Data packets that have come to cells from their access links and not been delivered, and
    /// those that were sent and have not come to their access links.
    pub(super) fn kept(&self) -> [u64; 2] {
        let [down, up] = [(true, 0), (false, 1)].map(|(down, way)| {
            self.cells.iter().map(|air| air.aboard(down).data + air.data_lost[way]).sum()
        });
        [down, up]
    }

    /// What the cells have done so far.
    pub(super) fn summaries(&self) -> Vec<WlanSummary> {
        self.cells.iter().map(|air| WlanSummary::of(&air.name, &air.cell)).collect()
    }
}

/// What a cell is called.
fn name(wlan: &Wlan) -> String {
    match (&wlan.node, wlan.side) {
        (Some(node), _) => node.clone(),
        (None, Some(Side::Sender)) => "sender".into(),
        (None, _) => "receiver".into(),
    }
}

impl World {
    /// Whether the sender of a flow (0), or its receiver (1), is a station.
    #[inline(always)]
    pub(super) fn is_on_air(&self, flow: u32, end: usize) -> bool {
        // Most worlds have no cell, and need not look at the flow.
        !self.wireless.cells.is_empty() && self.flows[flow as usize].kind.on_air[end]
    }

    /// The sender of a flow, which is a station, sends a data packet.
    pub(super) fn data_on_air(&mut self, packet: DataPacket) {
        let (cell, station) = self.seat_of(packet.flow, 0);
        self.on_air(cell, (station, BASE), Load::Data(packet));
    }

    /// A data packet for a station has come to its base station.
    pub(super) fn data_at_base(&mut self, packet: DataPacket) {
        let (cell, station) = self.seat_of(packet.flow, 1);
        self.on_air(cell, (BASE, station), Load::Data(packet));
    }

    /// The receiver of a flow, which is a station, sends an ACK.
    pub(super) fn ack_on_air(&mut self, packet: AckPacket) {
        self.flows[packet.flow as usize].tally.acks_sent += 1;
        let (cell, station) = self.seat_of(packet.flow, 1);
        self.on_air(cell, (station, BASE), Load::Ack(packet));
    }

    /// An ACK for a station has come to its base station.
    pub(super) fn ack_at_base(&mut self, packet: AckPacket) {
        let (cell, station) = self.seat_of(packet.flow, 0);
        self.on_air(cell, (BASE, station), Load::Ack(packet));
    }

    fn seat_of(&self, flow: u32, end: usize) -> (u32, u32) {
        self.wireless.seats[flow as usize][end].expect("a host on the air has a seat")
    }

    #[inline(never)]
    fn on_air(&mut self, cell: u32, ends: (u32, u32), load: Load) {
        let size = match &load {
            Load::Data(packet) => packet.bytes(),
            Load::Ack(packet) => packet.bytes(),
        };
        let air = &mut self.wireless.cells[cell as usize];
        let Air { cell: medium, streams, .. } = air;
        let draw = |draw| uniform(streams, draw);
        match medium.enqueue(self.now, ends, load, size, &draw) {
            Ok(()) => air.arm(cell, &mut self.context),
            Err(load) => {
                self.lost_on_air(cell, ends.0, load, LossCause::WirelessQueue);
            }
        }
    }

    /// Something may have become of packets of a cell.
    #[inline(never)]
    pub(super) fn cell(&mut self, index: u32) {
        let mut outcomes = std::mem::take(&mut self.wireless.outcomes);
        let air = &mut self.wireless.cells[index as usize];
        if air.alarm == self.now {
            air.alarm = Time::MAX;
        }
        air.advance(self.now, &mut outcomes);
        self.context.stale += u64::from(outcomes.is_empty());
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Delivered { from, packet, .. } => self.off_air(from, packet),
                Outcome::Lost { from, packet, .. } => {
                    self.lost_on_air(index, from, packet, LossCause::Wireless);
                }
            }
        }
        self.wireless.outcomes = outcomes;
        self.wireless.cells[index as usize].arm(index, &mut self.context);
    }

    /// A packet from node `from` of a cell has crossed it.
    #[inline(never)]
    fn off_air(&mut self, from: u32, load: Load) {
        match (load, from) {
            (Load::Data(packet), BASE) => self.receive(packet),
            (Load::Ack(packet), BASE) => self.hear(packet),
            (Load::Data(packet), _) => {
                let link = self.near_link(packet.flow);
                self.send(self.now, link, packet);
            }
            (Load::Ack(packet), _) => self.ack_on_wire(self.now, packet),
        }
    }

    fn lost_on_air(&mut self, cell: u32, from: u32, load: Load, cause: LossCause) {
        let now = self.now;
        let row = match load {
            Load::Data(packet) => {
                let flow = &mut self.flows[packet.flow as usize];
                flow.lose(packet.transmission(), Loss::at_access(cause, now));
                flow.digest.add(now, 6, packet.seq);
                self.wireless.cells[cell as usize].data_lost[usize::from(from != BASE)] += 1;
                packet.row
            }
            Load::Ack(packet) => {
                let flow = &mut self.flows[packet.flow as usize];
                flow.tally.acks_lost += 1;
                flow.digest.add(now, 7, packet.next);
                packet.row
            }
        };
        let queue = cause == LossCause::WirelessQueue;
        let cause = if queue { PacketCause::WirelessQueue } else { PacketCause::Wireless };
        self.context.recorder.lost(row, cause);
    }
}
