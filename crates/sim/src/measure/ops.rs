//! The numbers of a slotted network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers of a slotted network. Counts and maxima are of the whole run without its drain, means
/// and utilisation of the time after the warm-up. Slots are conserved: sent = delivered + dropped +
/// killed + in flight.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct OpsSummary {
    /// Length of a slot, in s.
    pub slot_s: f64,
    /// Slots that edge nodes sent.
    pub slots_sent: u64,
    /// Slots that reached their egress.
    pub slots_delivered: u64,
    /// Slots dropped at outputs that were not congested.
    pub slots_dropped_contention: u64,
    /// Slots dropped at congested outputs.
    pub slots_dropped_congestion: u64,
    /// Slots that `surgery` kills at their egress.
    pub slots_killed: u64,
    /// Slots on fibres and in switches at the end.
    pub slots_in_flight: u64,
    /// Counts after the warm-up.
    pub measured: MeasuredSlots,
    /// Of all these, slots that carry data, of flows or of other traffic.
    pub data: SlotSummary,
    /// Slots that carry ACKs alone.
    pub acks: SlotSummary,
    /// Bytes of the slots sent that carried nothing, headers of slots left out.
    pub padding_bytes: u64,
    /// Notifications sent to edge nodes.
    pub notifications: u64,
    /// Sets of four ACKs that edge nodes wrote.
    pub ack_sets: u64,
    /// Fast retransmissions that these began.
    pub ack_retransmissions: u64,
    /// ACKs of receivers that edge nodes dropped; they count among the lost ones of the run.
    pub acks_filtered: u64,
    /// Copies of segments that edge nodes sent; they count among the packets sent of the run.
    pub copies: u64,
    /// UDP packets that edge nodes sent over another route than the first.
    pub rerouted: u64,
    /// Positions taken of the buffer of a switch, on average over time; the largest of all nodes.
    pub buffer_mean: f64,
    /// Most positions taken at once at a node.
    pub buffer_max: u32,
    /// Backlog of all edge nodes, in bits: on average over the ends of units of smoothing.
    pub backlog_mean_bits: f64,
    /// The most of it.
    pub backlog_max_bits: f64,
    /// Of this, the part that was added since the rate of a buffer was cut, until it negotiates
    /// again: on average.
    pub extra_buffer_mean_bits: f64,
    /// The same over the whole run, warm-up included.
    pub extra_buffer_whole_bits: f64,
    /// The largest mean of it over 1 s.
    pub extra_buffer_max_bits: f64,
    /// Each node.
    pub switches: Vec<SwitchSummary>,
    /// Each output, by the fibre that begins there.
    pub ports: Vec<PortSummary>,
    /// Each buffer of an edge node that was used.
    pub edges: Vec<PairSummary>,
}

/// Slots after the warm-up, without the drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct MeasuredSlots {
    /// Time after the warm-up, in s.
    pub time_s: f64,
    /// Slots that edge nodes sent.
    pub sent: u64,
    /// Slots that reached their egress.
    pub delivered: u64,
    /// Slots dropped, by contention or congestion.
    pub dropped: u64,
}

/// Fates of slots of one kind in the whole run. They are conserved: sent = delivered + dropped +
/// killed + in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SlotSummary {
    /// Slots that edge nodes sent.
    pub slots_sent: u64,
    /// Slots that reached their egress.
    pub slots_delivered: u64,
    /// Slots dropped at outputs that were not congested.
    pub slots_dropped_contention: u64,
    /// Slots dropped at congested outputs.
    pub slots_dropped_congestion: u64,
    /// Slots that `surgery` kills at their egress.
    pub slots_killed: u64,
    /// Slots on fibres and in switches at the end.
    pub slots_in_flight: u64,
}

/// Numbers of a switch. Arrived = left + dropped + waiting.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct SwitchSummary {
    /// Name of the node.
    pub node: String,
    /// Slots that arrived in transit to another node, or were sent by the edge.
    pub arrived: u64,
    /// Slots that left.
    pub left: u64,
    /// Slots dropped.
    pub dropped: u64,
    /// Slots in the buffer at the end.
    pub waiting: u64,
    /// Positions taken on average.
    pub buffer_mean: f64,
    /// Most positions taken at once.
    pub buffer_max: u32,
}

/// Numbers of an output.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PortSummary {
    /// Node of the output.
    pub from: String,
    /// Node that its fibre leads to.
    pub to: String,
    /// Slots for the output.
    pub arrived: u64,
    /// Slots that left by it.
    pub carried: u64,
    /// Slots dropped while it was not congested.
    pub dropped_contention: u64,
    /// Slots dropped while it was.
    pub dropped_congestion: u64,
    /// Slots carried after the warm-up over those it could have.
    pub utilisation: f64,
}

/// Numbers of the buffer of an edge node for another one.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PairSummary {
    /// The edge node.
    pub from: String,
    /// The other one.
    pub to: String,
    /// The number of its route among those between the two, from 1.
    pub route: u32,
    /// Slots sent.
    pub slots: u64,
    /// Rates asked for.
    pub requests: u64,
    /// Of these, those not granted in full.
    pub refused: u64,
    /// Negotiations that did not take place because the rate was cut.
    pub frozen: u64,
    /// Notifications that cut the rate.
    pub cuts: u64,
    /// Backlog, in bits: on average over the ends of units of smoothing.
    pub backlog_mean_bits: f64,
    /// The most of it.
    pub backlog_max_bits: f64,
}
