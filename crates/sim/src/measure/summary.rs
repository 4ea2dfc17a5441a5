//! The numbers every run ends with.

use serde::Serialize;

/// Totals of a run. Units are conserved: sent = delivered + lost + in flight, where what is in
/// flight is counted on the links, in the assembly queues and in the core at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Data packets handed to access links, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that reached their receiver, duplicates included.
    pub packets_delivered: u64,
    /// Data packets lost on the way.
    pub packets_lost: u64,
    /// Data packets on the way at the end.
    pub packets_in_flight: u64,
    /// ACKs handed to access links.
    pub acks_sent: u64,
    /// ACKs that reached their sender.
    pub acks_delivered: u64,
    /// ACKs lost on the way.
    pub acks_lost: u64,
    /// ACKs on the way at the end.
    pub acks_in_flight: u64,
    /// Data bursts closed by the ingress.
    pub bursts_sent: u64,
    /// Data bursts that reached the egress.
    pub bursts_delivered: u64,
    /// Data bursts lost.
    pub bursts_lost: u64,
    /// Data bursts in the core at the end.
    pub bursts_in_flight: u64,
    /// ACK bursts closed by the egress.
    pub ack_bursts_sent: u64,
    /// ACK bursts that reached the ingress.
    pub ack_bursts_delivered: u64,
    /// ACK bursts lost.
    pub ack_bursts_lost: u64,
    /// ACK bursts in the core at the end.
    pub ack_bursts_in_flight: u64,
    /// Packets of other traffic handed to access links.
    pub other_sent: u64,
    /// Packets of other traffic that crossed their access link.
    pub other_delivered: u64,
    /// Packets of other traffic dropped by a full queue.
    pub other_lost: u64,
    /// Packets of other traffic on a link at the end.
    pub other_in_flight: u64,
    /// Packets offered to access links in the direction of the data, other traffic included.
    pub access_offered: u64,
    /// Of these, packets dropped by a full queue.
    pub access_lost: u64,
    /// Burst ACKs and burst NAKs sent.
    pub notices_sent: u64,
    /// Of these, those dropped by a full queue.
    pub notices_lost: u64,
    /// Events processed by the simulator.
    pub events: u64,
}

/// How a detector judged the time-outs of a flow, against what they were. A spurious time-out is
/// no sign of congestion: to excuse it is right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// False time-outs that were taken for false.
    pub false_excused: u64,
    /// False time-outs that were taken for true.
    pub false_missed: u64,
    /// True time-outs that were taken for false.
    pub true_excused: u64,
    /// True time-outs that were taken for true.
    pub true_kept: u64,
    /// Spurious time-outs that were taken for false.
    pub spurious_excused: u64,
    /// Spurious time-outs that were taken for true.
    pub spurious_kept: u64,
}

impl Confusion {
    /// From counts by truth (false, true, spurious) and by verdict (kept, excused).
    pub(crate) fn of(counts: &[[u64; 2]; 3]) -> Self {
        let [[false_missed, false_excused], [true_kept, true_excused], spurious] = *counts;
        let [spurious_kept, spurious_excused] = spurious;
        Self {
            false_excused,
            false_missed,
            true_excused,
            true_kept,
            spurious_excused,
            spurious_kept,
        }
    }
}

/// What one flow achieved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Number of the flow, from 0.
    pub id: u32,
    /// Its name.
    pub label: String,
    /// Its variant of TCP.
    pub variant: String,
    /// Application data received in order, per second of the measured time, in bit/s.
    pub goodput_bps: f64,
    /// All that reached the receiver, headers and duplicates included, in bit/s.
    pub throughput_bps: f64,
    /// Segments received in order in the measured time, the SYN not counted.
    pub segments_delivered: u64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that reached the receiver, duplicates included.
    pub packets_delivered: u64,
    /// Data packets lost.
    pub packets_lost: u64,
    /// Packets that reached the receiver and were there already.
    pub duplicates: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Of these, segments whose last transmission was not lost.
    pub spurious_retransmissions: u64,
    /// Times the retransmission timer fired.
    pub timeouts: u64,
    /// Of these, false ones: all that was lost was in one burst.
    pub false_timeouts: u64,
    /// Of these, true ones: several bursts were lost, or packets outside the optical network.
    pub true_timeouts: u64,
    /// Of these, spurious ones: nothing was lost.
    pub spurious_timeouts: u64,
    /// Lost bursts that a burst NAK let the sender repair before the time-out.
    pub early_repairs: u64,
    /// How the detector judged the time-outs; absent without a detector.
    pub detector: Option<Confusion>,
    /// Times duplicate ACKs began a fast retransmission.
    pub fast_retransmits: u64,
    /// When the last byte of a finite transfer was acknowledged, in s.
    pub completed_s: Option<f64>,
}

/// The outcome of one replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Simulated time, in s.
    pub simulated_s: f64,
    /// Simulated time after the warm-up, in s.
    pub measured_s: f64,
    /// Hash of everything that happened.
    pub fingerprint: String,
    /// Whether the run was cancelled before its end.
    pub interrupted: bool,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
    /// Totals.
    pub counters: Counters,
    /// Each flow.
    pub flows: Vec<FlowSummary>,
}
