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
    /// Events processed by the simulator.
    pub events: u64,
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
    /// Times the retransmission timer fired.
    pub timeouts: u64,
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
