//! The numbers of a mesh. All are of the measured time, if they do not say otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers of a mesh in the measured time. Bursts are counted by kind. A burst with a data packet,
/// of a flow or of other traffic, is one with data, whatever else it carries. One without data, but
/// with an ACK, is one of ACKs. One of batches alone, or of `[[bursts]]`, is a background burst.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NetworkSummary {
    /// Bursts with data.
    pub data: BurstSummary,
    /// Bursts of ACKs alone.
    pub acks: BurstSummary,
    /// Background bursts.
    pub background: BurstSummary,
    /// All three kinds together.
    pub all: BurstSummary,
    /// Mean segments of flows in a burst that carries one.
    pub segments_per_burst: f64,
    /// Mean flows with a segment in such a burst.
    pub flows_per_burst: f64,
    /// Each node.
    pub nodes: Vec<NodeSummary>,
    /// Each fibre, in one direction.
    pub links: Vec<LinkSummary>,
}

/// Bursts of one kind, or of all. Counts of ended bursts are of those that landed or were lost in
/// the measured time, whenever they were sent.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct BurstSummary {
    /// Bursts that ended.
    pub bursts: u64,
    /// Of these, bursts that were lost as a whole.
    pub bursts_lost: u64,
    /// Bursts lost over bursts that ended.
    pub burst_loss_ratio: f64,
    /// Of the lost ones, bursts lost at their ingress to contention that was not injected.
    pub contention_at_ingress: u64,
    /// Packets that were in bursts that ended as these were closed: data packets, ACKs and packets
    /// of batches alike. Bursts of `[[bursts]]` have none.
    pub packets: u64,
    /// Of these, packets in bursts that were lost, or cut off.
    pub packets_lost: u64,
    /// Of these, packets that were cut off.
    pub packets_cut: u64,
    /// Packets lost over packets.
    pub packet_loss_ratio: f64,
    /// Bytes of these packets, without padding; of bursts of `[[bursts]]`, their length.
    pub bytes: u64,
    /// Of these, bytes in bursts that were lost, or cut off: packets that were not left whole, or
    /// the part of a burst of `[[bursts]]` that was cut off.
    pub bytes_lost: u64,
    /// Of these, bytes that were cut off.
    pub bytes_cut: u64,
    /// Bytes lost over bytes.
    pub byte_loss_ratio: f64,
    /// Mean packets of a burst, over bursts that were assembled in the measured time.
    pub packets_per_burst: f64,
    /// Mean length of a burst with its padding, in bytes, over bursts that were assembled or, of
    /// `[[bursts]]`, sent in the measured time.
    pub bytes_per_burst: f64,
    /// Mean time from the first packet of a burst to its closing, in s, over bursts that were
    /// assembled in the measured time; each is rounded down to a nanosecond.
    pub assembly_delay_s: f64,
    /// Mean time a burst waits at a `fifo` ingress for a wavelength, in s, over bursts that were
    /// sent in the measured time; each is rounded down to a nanosecond.
    pub port_wait_s: f64,
    /// Times that a header came to the processor of a node.
    pub headers: u64,
    /// Mean time a header waits for the processor of a node, in s.
    pub processor_wait_s: f64,
    /// Longest time one did, in s.
    pub longest_processor_wait_s: f64,
    /// Mean time a header that is read waits for a control channel of its next fibre, in s.
    pub control_wait_s: f64,
    /// Longest time one did, in s.
    pub longest_control_wait_s: f64,
    /// Bytes of the whole run.
    pub run: RunBytes,
    /// Lost bursts by cause.
    pub causes: Vec<Cause>,
    /// Resolutions of blocked bursts.
    pub resolutions: Resolutions,
    /// Each pair of edge nodes between which bursts ended.
    pub routes: Vec<RouteSummary>,
    /// Bursts by the fibres of their route.
    pub hops: Vec<HopSummary>,
    /// Bursts by length, in powers of two.
    pub sizes: Vec<SizeSummary>,
    /// Bursts by class: each class that bursts of the scenario can have. Absent where they can have
    /// one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassSummary>,
}

/// Bytes that bursts carry, over the whole run, without padding. They are conserved: sent =
/// delivered + lost + in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RunBytes {
    /// Bytes in bursts that were sent; a burst that is sent again counts once.
    pub bytes_sent: u64,
    /// Bytes that landed.
    pub bytes_delivered: u64,
    /// Bytes in bursts that were lost, or cut off bursts that have landed.
    pub bytes_lost: u64,
    /// Bytes in bursts that are in flight at the end, as these were sent.
    pub bytes_in_flight: u64,
}

/// Lost bursts of one cause.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Cause {
    /// Its name.
    pub cause: String,
    /// How many bursts.
    pub bursts: u64,
}

/// Resolutions of blocked bursts in the measured time, each counted when it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Resolutions {
    /// Times that a burst asked for a wavelength of a fibre and got none.
    pub contentions: u64,
    /// Of these, contentions that the scenario injected.
    pub injected: u64,
    /// Of these, contentions in which a wavelength was free, and no converter for it.
    pub no_converter: u64,
    /// Bursts that were given another wavelength, where conversion is a step of its own.
    pub converted: u64,
    /// Bursts that passed a fibre delay line.
    pub delayed: u64,
    /// Bursts that took another fibre.
    pub deflected: u64,
    /// Times that a burst was fitted in by cutting.
    pub segmented: u64,
    /// Packets that were cut off.
    pub packets_cut: u64,
    /// Bytes that were cut off: of these packets, and of bursts of `[[bursts]]`.
    pub bytes_cut: u64,
    /// Bursts that the ingress sent again.
    pub resent: u64,
    /// Bursts of which it could keep no copy.
    pub no_copy: u64,
    /// Two-way reservations that were refused.
    pub refused: u64,
}

impl Resolutions {
    /// Adds the resolutions of other bursts.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.contentions += other.contentions;
        self.injected += other.injected;
        self.no_converter += other.no_converter;
        self.converted += other.converted;
        self.delayed += other.delayed;
        self.deflected += other.deflected;
        self.segmented += other.segmented;
        self.packets_cut += other.packets_cut;
        self.bytes_cut += other.bytes_cut;
        self.resent += other.resent;
        self.no_copy += other.no_copy;
        self.refused += other.refused;
    }
}

/// A node of a mesh. Headers are those of all kinds of bursts.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// Headers that came to its processor.
    pub headers: u64,
    /// Mean time they waited for it, in s.
    pub processor_wait_s: f64,
    /// Longest time one did, in s.
    pub longest_processor_wait_s: f64,
    /// Bursts with data that were lost here.
    pub data: NodeLosses,
    /// Bursts of ACKs.
    pub acks: NodeLosses,
    /// Background bursts.
    pub background: NodeLosses,
    /// Bursts of all kinds.
    pub all: NodeLosses,
    /// Its wavelength converters. Absent where their number is not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converters: Option<ConverterUse>,
}

/// The wavelength converters of a node, of all its pools together.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ConverterUse {
    /// How many there are.
    pub number: u64,
    /// Share of the measured time that they were taken, from 0 to 1.
    pub utilisation: f64,
}

/// Bursts that were lost at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct NodeLosses {
    /// Bursts lost here, for whatever cause.
    pub bursts_lost: u64,
    /// Of these, bursts lost to contention that was not injected.
    pub contention: u64,
    /// Of these, bursts whose header was late.
    pub late_headers: u64,
    /// Of these, bursts for which a wavelength was free, and no converter.
    pub no_converter: u64,
}

/// A fibre of a mesh, in one direction. Its wavelengths and its control channels are those of all
/// kinds of bursts.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct LinkSummary {
    /// Name of the node it leaves.
    pub from: String,
    /// Name of the node it reaches.
    pub to: String,
    /// Bursts with data that came to it.
    pub data: LinkBursts,
    /// Bursts of ACKs.
    pub acks: LinkBursts,
    /// Background bursts.
    pub background: LinkBursts,
    /// Bursts of all kinds.
    pub all: LinkBursts,
    /// Share of the measured time that its wavelengths were reserved, from 0 to 1.
    pub utilisation: f64,
    /// The same by wavelength.
    pub wavelengths: Vec<f64>,
    /// Share of the measured time that no failure held it down, from 0 to 1.
    pub up: f64,
    /// Headers and trailers that were put on its control channels, times the sending time of one,
    /// over the measured time of all these channels. Above 1, more came than they can send.
    pub control_load: f64,
    /// Mean time a header waited for one of them, in s.
    pub control_wait_s: f64,
    /// Longest time one did, in s.
    pub longest_control_wait_s: f64,
    /// Bursts of all kinds by class: each class that bursts of the scenario can have. Absent where
    /// they can have one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<LinkClass>,
}

/// Bursts of one class that came to a fibre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LinkClass {
    /// The class, from 0.
    pub class: u32,
    /// Bursts of the class.
    pub bursts: LinkBursts,
}

/// Fates of bursts that came to a fibre. A burst comes to a fibre when the node it leaves processes
/// its header with this fibre next on the route, or when it is deflected to it. One that comes
/// again, because it is sent or asked for again, counts again. Offered = carried + lost + deflected
/// + resent + refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LinkBursts {
    /// Bursts that came to it, on their route or deflected.
    pub offered: u64,
    /// Of these, bursts that found no wavelength free, or no converter for one, or met contention
    /// that was injected, whatever was done for them then. One that waits at a `fifo` ingress meets
    /// none.
    pub contended: u64,
    /// Of these, bursts that it was reserved for.
    pub carried: u64,
    /// Of these, bursts that were lost here: to contention, for want of a converter, to a late
    /// header, as the scenario prescribes, or because cutting had left nothing of them.
    pub lost: u64,
    /// Of these, bursts that took another fibre instead.
    pub deflected: u64,
    /// Of these, bursts that their ingress sends again.
    pub resent: u64,
    /// Of these, two-way reservations that were refused here. A burst that is refused too often is
    /// lost at its ingress, and at no fibre.
    pub refused: u64,
}

/// Bursts from one edge node to another.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RouteSummary {
    /// Name of the ingress.
    pub from: String,
    /// Name of the egress.
    pub to: String,
    /// Bursts that ended.
    pub bursts: u64,
    /// Of these, bursts that were lost.
    pub lost: u64,
    /// Lost over ended.
    pub loss_ratio: f64,
    /// Mean time from the closing of a burst until its last bit is at the egress, in s, over
    /// bursts that landed; none where no burst did.
    pub mean_delay_s: Option<f64>,
}

/// Bursts of one class: that of the queue in which a burst was assembled, and of `[[bursts]]` the
/// one that they state. It is the class whose extra offset time a burst has.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ClassSummary {
    /// The class, from 0.
    pub class: u32,
    /// Bursts that ended.
    pub bursts: u64,
    /// Of these, bursts that were lost as a whole.
    pub bursts_lost: u64,
    /// Bursts lost over bursts that ended.
    pub burst_loss_ratio: f64,
    /// Packets that were in bursts that ended as these were closed.
    pub packets: u64,
    /// Of these, packets in bursts that were lost, or cut off.
    pub packets_lost: u64,
    /// Packets lost over packets.
    pub packet_loss_ratio: f64,
    /// Bytes of these packets, without padding; of bursts of `[[bursts]]`, their length.
    pub bytes: u64,
    /// Of these, bytes in bursts that were lost, or cut off.
    pub bytes_lost: u64,
    /// Bytes lost over bytes.
    pub byte_loss_ratio: f64,
    /// Lost bursts by cause.
    pub causes: Vec<Cause>,
    /// Each pair of edge nodes between which bursts of the class ended.
    pub routes: Vec<RouteSummary>,
}

/// Bursts whose route has a number of fibres.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct HopSummary {
    /// Fibres of the route it was given by its ingress.
    pub hops: u64,
    /// Bursts that ended.
    pub bursts: u64,
    /// Of these, bursts that were lost.
    pub lost: u64,
    /// Lost over ended.
    pub loss_ratio: f64,
}

/// Bursts of like length.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SizeSummary {
    /// Their length as they were sent is below this and at least half of it, in bytes.
    pub below_bytes: u64,
    /// Bursts that ended.
    pub bursts: u64,
    /// Of these, bursts that were lost.
    pub lost: u64,
    /// Lost over ended.
    pub loss_ratio: f64,
}
