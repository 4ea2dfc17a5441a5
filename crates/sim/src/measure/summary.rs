//! The numbers every run ends with.

use schemars::JsonSchema;
use serde::Serialize;

use super::ack_pacing::AckPacingSummary;
use super::mesh_summary::NetworkSummary;
use super::ops::OpsSummary;
use super::speed::SpeedSummary;
use super::surgery::SurgerySummary;
use super::wlan::WlanSummary;

/// Totals of a run. Units are conserved: sent = delivered + lost + in flight, where what is in
/// flight is counted on the links, in the assembly queues and in the core at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counters {
    /// Data packets handed to access links, retransmissions and copies of edge nodes included.
    pub packets_sent: u64,
    /// Data packets that reached their receiver, duplicates included.
    pub packets_delivered: u64,
    /// Data packets lost in the network.
    pub packets_lost: u64,
    /// Data packets in flight at the end.
    pub packets_in_flight: u64,
    /// Data packets that left the optical network in a burst that reached its egress.
    pub packets_crossed: u64,
    /// ACKs handed to access links.
    pub acks_sent: u64,
    /// ACKs that reached their sender.
    pub acks_delivered: u64,
    /// ACKs lost in the network.
    pub acks_lost: u64,
    /// ACKs in flight at the end.
    pub acks_in_flight: u64,
    /// Data bursts closed by the ingress: those with a data packet of a flow or of other traffic.
    pub bursts_sent: u64,
    /// Data bursts that reached the egress.
    pub bursts_delivered: u64,
    /// Data bursts lost.
    pub bursts_lost: u64,
    /// Data bursts in the core at the end.
    pub bursts_in_flight: u64,
    /// ACK bursts closed by the egress: those with ACKs and no data packet.
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
    /// Packets of other traffic that were lost.
    pub other_lost: u64,
    /// Packets of other traffic on a link at the end.
    pub other_in_flight: u64,
    /// Packets offered to access links in the direction of the data, other traffic included.
    pub access_offered: u64,
    /// Of these, packets dropped by a full queue.
    pub access_lost: u64,
    /// Of those offered, packets that `access.loss` took.
    pub access_link_lost: u64,
    /// Data packets that are not ECN-capable, and that queues dropped where they would have marked
    /// others (`not_ect = "drop"`).
    pub packets_not_ect: u64,
    /// Burst ACKs and burst NAKs sent.
    pub notices_sent: u64,
    /// Of these, those dropped by a full queue.
    pub notices_lost: u64,
    /// Background bursts that were sent: those of `[[bursts]]`, and those of batches alone.
    pub background_bursts_sent: u64,
    /// Background bursts that reached their egress.
    pub background_bursts_delivered: u64,
    /// Background bursts that were lost.
    pub background_bursts_lost: u64,
    /// Background bursts in the core at the end.
    pub background_bursts_in_flight: u64,
    /// Batches that have reached an edge node. Each counts where its last packet is.
    pub batches_sent: u64,
    /// Batches whose last packet left the network.
    pub batches_delivered: u64,
    /// Batches whose last packet was lost.
    pub batches_lost: u64,
    /// Batches whose last packet waits or is in flight at the end.
    pub batches_in_flight: u64,
    /// Packets of batches that have reached an edge node.
    pub batch_packets_sent: u64,
    /// Packets of batches that left the network.
    pub batch_packets_delivered: u64,
    /// Packets of batches that were lost.
    pub batch_packets_lost: u64,
    /// Packets of batches that wait or are in flight at the end.
    pub batch_packets_in_flight: u64,
    /// Bytes of these packets, in the same order.
    pub batch_bytes_sent: u64,
    /// Bytes that left the network.
    pub batch_bytes_delivered: u64,
    /// Bytes that were lost.
    pub batch_bytes_lost: u64,
    /// Bytes that wait or are in flight at the end.
    pub batch_bytes_in_flight: u64,
    /// Events at hosts, edge and core nodes. An alarm that comes before its time is none. Work done
    /// together with another event, or ahead of its time, is no event of its own. So this counts
    /// the work of the engine, and is no property of the network. Tracing changes only this number,
    /// `core_events` and `packets_one_by_one`.
    pub events: u64,
    /// Of these, events in the optical network: at assembly queues, headers, bursts.
    pub core_events: u64,
    /// Data packets that came to their receivers at events of their own. The others came together
    /// with packets before them, or ahead of the clock. So this counts the work of the engine too.
    pub packets_one_by_one: u64,
}

/// The verdicts of a detector on the time-outs of a flow, compared with their true kinds. A
/// spurious time-out is no sign of congestion: to excuse it is right.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
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

/// Causes of the reductions of a flow's window. They are losses found before the time-out,
/// time-outs, early repairs and marks. The cost of a reduction is the number of segments by which
/// it makes the window smaller at first: to the threshold where a repair begins, to one segment at
/// a time-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Reductions {
    /// All that was lost was in one burst, and no queue was full: contention, no congestion.
    pub one_burst: u64,
    /// Several bursts were lost, and no queue was full.
    pub several_bursts: u64,
    /// A queue was full, or it marked, or it dropped a packet in place of a mark.
    pub congestion: u64,
    /// Nothing was lost: packets came late or in another order, or ACKs were lost.
    pub reordering: u64,
    /// Packets were lost on the air, or alone by a script.
    pub outside: u64,
    /// Segments that the reductions for one burst cost.
    pub one_burst_segments: f64,
    /// Segments that the reductions for several bursts cost.
    pub several_bursts_segments: f64,
    /// Segments that the reductions for congestion cost.
    pub congestion_segments: f64,
    /// Segments that the reductions for reordering or delay cost.
    pub reordering_segments: f64,
    /// Segments that the reductions for losses outside the optical network cost.
    pub outside_segments: f64,
    /// Of all these, reductions that the detector excused.
    pub excused: u64,
    /// Of all these, reductions that the sender took back.
    pub undone: u64,
}

/// Numbers of one flow. Counts are of the whole run; its rates, the segments delivered and its
/// round trips of the measured time.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct FlowSummary {
    /// Number of the flow, from 0.
    pub id: u32,
    /// Its name.
    pub label: String,
    /// Its variant of TCP.
    pub variant: String,
    /// Application data that arrived in the measured time and are in order at its end, each byte
    /// once, per second of that time, in bit/s. Data that had arrived before do not count, even if
    /// they were put in order since.
    pub goodput_bps: f64,
    /// All that reached the receiver in the measured time, headers and duplicates included, per
    /// second of that time, in bit/s.
    pub throughput_bps: f64,
    /// Application data that arrived in the measured time, each byte once, in order or not, in
    /// bytes.
    pub bytes_delivered: u64,
    /// The growth of the application data in order in the measured time, in bytes. Data that
    /// arrived out of order before, and were put in order since, are in it.
    pub bytes_in_order: u64,
    /// The same in segments, the SYN not counted.
    pub segments_delivered: u64,
    /// Data packets sent, retransmissions and copies of edge nodes included.
    pub packets_sent: u64,
    /// Data packets that reached the receiver, duplicates included.
    pub packets_delivered: u64,
    /// Data packets lost.
    pub packets_lost: u64,
    /// Packets that reached the receiver and were there already.
    pub duplicates: u64,
    /// Segments that its sender sent again; copies of edge nodes are not among them.
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
    /// Causes of the reductions of the window, and their cost.
    pub reductions: Reductions,
    /// Times a loss that was found before the time-out began a repair: by duplicate ACKs, and with
    /// `linux` by SACK or RACK as well.
    pub fast_retransmits: u64,
    /// Bursts that carried a segment of the flow.
    pub bursts: u64,
    /// Of these, bursts that were lost while such a segment was in them, not cut off before.
    pub bursts_lost: u64,
    /// Mean round trip that the sender measured for its retransmission timer in the measured time,
    /// in s; absent where it measured none.
    pub rtt_s: Option<f64>,
    /// How many it measured, one segment at a time and none of a segment that was sent twice.
    pub round_trips: u64,
    /// Application data of a finite transfer, in bytes; absent where data never ends.
    pub bytes: Option<u64>,
    /// Time from the start of a finite transfer until its last byte was at the receiver, all before
    /// it there, in s; absent where it was not by the end of the run.
    pub received_after_s: Option<f64>,
    /// Time from the start of a finite transfer until its last byte was acknowledged at the sender,
    /// in s; absent where it was not by the end of the run.
    pub acknowledged_after_s: Option<f64>,
    /// When the last byte of a finite transfer was at the receiver, all before it there, in s.
    pub received_s: Option<f64>,
    /// When the last byte of a finite transfer was acknowledged at the sender, in s.
    pub completed_s: Option<f64>,
    /// Why its connection ended before all was acknowledged, of a flow whose hosts are third-party:
    /// `idle`, `timed-out`, `reset`, `closed-by-peer`, `closed`, `tls-error` or `transport-error`;
    /// absent where it did not.
    pub ended: Option<String>,
    /// When that was, in s.
    pub ended_s: Option<f64>,
    /// Data packets that queues have marked (ECN), each once.
    pub packets_marked: u64,
    /// Data packets that are not ECN-capable, and that queues dropped where they would have marked
    /// others (`not_ect = "drop"`).
    pub packets_not_ect: u64,
}

/// The outcome of one replication.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Summary {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Simulated time, with the drain, in s.
    pub simulated_s: f64,
    /// Simulated time after the warm-up, without the drain, in s.
    pub measured_s: f64,
    /// Hash of everything that happened.
    pub fingerprint: String,
    /// Whether the run was cancelled before its end.
    pub interrupted: bool,
    /// Statements that are allowed but probably not meant.
    pub warnings: Vec<String>,
    /// Totals.
    pub counters: Counters,
    /// Events over delivered data packets, or over one where none was delivered.
    pub events_per_packet: f64,
    /// How many packets were taken one by one, and why.
    pub speed: SpeedSummary,
    /// Data packets that left the optical network over data bursts that did, or over one; 0 in a
    /// slotted network.
    pub packets_per_burst: f64,
    /// Each flow that the scenario lists.
    pub flows: Vec<FlowSummary>,
    /// The mesh, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSummary>,
    /// The slotted network, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<OpsSummary>,
    /// ACKs that edge nodes held back, if they space ACKs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_pacing: Option<AckPacingSummary>,
    /// Each wireless cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wlan: Vec<WlanSummary>,
    /// Each demand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub demand: Vec<DemandSummary>,
    /// The result of each operation on bursts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub surgery: Vec<SurgerySummary>,
    /// The crate of each third-party stack of a flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackSummary>,
}

/// The crate from which a third-party stack was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct StackSummary {
    /// The stack, as flows name it.
    pub label: String,
    /// The crate.
    #[serde(rename = "crate")]
    pub crate_name: String,
    /// Its version.
    pub version: String,
    /// `registry`: a release; `path`: a checkout, which may differ from the release of that
    /// version; `git`: a repository.
    pub source: String,
}

/// Numbers of the connections of a demand. Completion times are those of its cohort: the
/// connections that began in the measured time, whenever they were done. Of a cohort of n, the
/// percentile q is the least time that at least q n of them did not exceed. A connection that is
/// not done at the end of the run is censored. A mean is absent where one is censored, and a
/// percentile where a censored one could change it.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct DemandSummary {
    /// Its name.
    pub label: String,
    /// Mean connections a second that arrive in the whole network, as the scenario says; absent
    /// where there is one round.
    pub offered_flows_per_second: Option<f64>,
    /// Mean application data that arrive a second in the whole network, as the scenario says, in
    /// bit/s.
    pub offered_bps: Option<f64>,
    /// Offered load of the busiest access link of a sender: the mean application data that start
    /// at an edge node over `access.rate`, as if its senders shared one link.
    pub offered_load_access: Option<f64>,
    /// Offered load of the busiest access link of a receiver: the mean application data that end
    /// at an edge node over the rate of `access.receiver`, as if its receivers shared one link.
    pub offered_load_receiver: Option<f64>,
    /// Offered load of the busiest fibre: the mean application data that cross it over
    /// `network.link_rate` times its wavelengths.
    pub offered_load_fibre: Option<f64>,
    /// Connections that arrived, from the start of the run.
    pub started: u64,
    /// Of these, connections whose last byte was acknowledged at the sender.
    pub completed: u64,
    /// Mean number of open connections in the measured time.
    pub active: f64,
    /// Connections that began in the measured time.
    pub cohort: u64,
    /// Of the cohort, connections whose last byte was not at the receiver at the end of the run.
    pub censored: u64,
    /// Mean time from the start of a connection of the cohort until its last byte was at the
    /// receiver, all before it there, in s.
    pub received_mean_s: Option<f64>,
    /// That mean with each censored connection at its age at the end: a bound from below.
    pub received_mean_bound_s: Option<f64>,
    /// The time that half of the cohort did not exceed, in s.
    pub received_p50_s: Option<f64>,
    /// The time that 90 % did not exceed, in s.
    pub received_p90_s: Option<f64>,
    /// The time that 99 % did not exceed, in s.
    pub received_p99_s: Option<f64>,
    /// The time that 99.9 % did not exceed, in s.
    pub received_p999_s: Option<f64>,
    /// Of the cohort, connections whose last byte was not acknowledged at the end of the run.
    pub unacknowledged: u64,
    /// Mean time from the start of a connection of the cohort until its last byte was acknowledged
    /// at the sender, in s.
    pub acknowledged_mean_s: Option<f64>,
    /// That mean with each connection that was not acknowledged at its age at the end.
    pub acknowledged_mean_bound_s: Option<f64>,
    /// The time that half of the cohort did not exceed, in s.
    pub acknowledged_p50_s: Option<f64>,
    /// The time that 90 % did not exceed, in s.
    pub acknowledged_p90_s: Option<f64>,
    /// The time that 99 % did not exceed, in s.
    pub acknowledged_p99_s: Option<f64>,
    /// The time that 99.9 % did not exceed, in s.
    pub acknowledged_p999_s: Option<f64>,
    /// Mean over the cohort of the slow-down, which [`SlowdownSummary`] defines.
    pub slowdown_mean: Option<f64>,
    /// The slow-down that half of the cohort did not exceed.
    pub slowdown_p50: Option<f64>,
    /// The slow-down that 99 % did not exceed.
    pub slowdown_p99: Option<f64>,
    /// Slow-down of the cohort by size.
    pub slowdown: Vec<SlowdownSummary>,
    /// The connections that were done in the measured time, whenever they began.
    pub departed: DepartedSummary,
}

/// Slow-down of the connections of a cohort that have a size: the time until the last byte was at
/// the receiver over the ideal time of the transfer. That is the time its bytes and the headers of
/// its segments take at the slowest of its access links and a wavelength, and the delay of the
/// access links and of the shortest of its routes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SlowdownSummary {
    /// The least size.
    pub label: String,
    /// The least size, in bytes.
    pub from_bytes: u64,
    /// Ten times that: all are smaller.
    pub below_bytes: u64,
    /// Connections of the cohort of such sizes.
    pub connections: u64,
    /// Of these, connections whose last byte was not at the receiver at the end of the run.
    pub censored: u64,
    /// Their mean slow-down; absent where one is censored.
    pub mean: Option<f64>,
    /// The slow-down that half of them did not exceed; absent where a censored one could change it.
    pub p50: Option<f64>,
    /// The same of 99 %.
    pub p99: Option<f64>,
}

/// The connections of a demand whose last byte was acknowledged in the measured time, whenever they
/// began. Where that time is short against theirs, these are rather the short ones.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct DepartedSummary {
    /// How many.
    pub connections: u64,
    /// Mean time from the start of a connection until its last byte was acknowledged, in s.
    pub completion_time_s: f64,
    /// Mean over connections of application data / completion time, in bit/s.
    pub throughput_bps: f64,
    /// Variance over connections of that throughput, in (bit/s)^2.
    pub throughput_variance: f64,
    /// Least and greatest of these throughputs, in bit/s.
    pub throughput_range_bps: (f64, f64),
    /// Mean of the application data of a connection, in bytes.
    pub size_bytes: f64,
}
