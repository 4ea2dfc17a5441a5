//! `[ops]`: a slotted network of optical packets, instead of bursts.

use burstlab_optical::slotted::{Filter, Guard, Packing, Reading, Refusal};
use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Marks;
use super::limits::SPAN_MAX;
use crate::topology::{Graph, Routes};

/// A slotted network of optical packets (Lu and Hunter 2009), which takes the place of `[edge]`,
/// `[core]` and `[signalling]`; it needs a mesh. Edge nodes put datagrams into slots of fixed
/// length, and the nodes switch slot by slot, with one small buffer for all their outputs. A fibre
/// takes whole slots, at least one; the slot takes `slot_size` at `network.link_rate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ops {
    /// Length of a slot. One datagram of 576 B fills the default.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = "1 MB"))]
    pub slot_size: Bytes,
    /// The part of a slot that the optical packet itself needs: header, guard time.
    pub slot_header: Bytes,
    /// How many datagrams a slot carries. A datagram longer than a slot travels in several slots,
    /// and is lost if one of these is lost.
    pub packing: Packing,
    /// Slots that may wait at a node, for all its outputs together.
    #[schemars(range(max = 1_000_000))]
    pub buffer: u32,
    /// The rule by which a node marks data packets that have to wait, by the slots that wait there,
    /// in bytes. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marks>,
    /// The order in which slots that arrive at a node at one time are served. The first slot for an
    /// output leaves; slots that find the buffer full are dropped.
    pub order: Order,
    /// How ACKs travel.
    pub acks: AckWay,
    /// Names of edge nodes that send their packets in the next free slot, without smoothing.
    pub unsmoothed: Vec<String>,
    /// Edge smoothing.
    pub smoothing: Smoothing,
    /// The rule by which switches recognise congestion.
    pub congestion: Congestion,
    /// Dual-layer congestion control. Absent: losses are left to TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dlcc: Option<Dlcc>,
}

/// In which order slots that arrive at once are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Round the fibres, from a random one and in a random sense.
    #[default]
    Random,
    /// Round the fibres, from the one that has not gone first for the longest time. Slots that
    /// arrive at once count only if one of them has to wait or is dropped.
    Rotating,
    /// Always in the same order.
    Fixed,
}

/// How ACKs travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckWay {
    /// In slots, as data does: smoothed, switched and perhaps dropped.
    #[default]
    Slotted,
    /// Beside the slots, in the time that light takes: none is late or lost in the core.
    Free,
}

/// Edge smoothing: an edge node has a buffer for each other edge node. The buffer sends its slots
/// evenly, at a rate that it negotiates with the links of its route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Smoothing {
    /// Whether edge nodes smooth their slots; otherwise a buffer sends in the next free slot.
    pub enabled: bool,
    /// Weight of the past in the estimate of the rate, nu of equation (1).
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub weight: f64,
    /// Time between updates of the estimate; Lu and Hunter use 5 ms to 100 ms.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub unit: Span,
    /// Units from one negotiation to the next.
    #[schemars(range(min = 1, max = 10_000))]
    pub units: u32,
    /// The least rate of a buffer: a share of the slots of a wavelength. A buffer has this rate
    /// before its first negotiation, even if a link has no capacity left. A buffer that was idle
    /// for an interval gives back its negotiated rate. Absent: 0.01, or less if more than ten
    /// buffers may share a wavelength. The least rates of all pairs of edge nodes whose routes use
    /// a fibre then take at most a tenth of the fibre.
    #[schemars(range(min = 1e-6, max = 1.0))]
    #[schemars(extend("x-default" = "`0.01`, or less where more than ten buffers share a fibre"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<f64>,
    /// When buffers negotiate, within an interval.
    pub phase: Phase,
    /// The answer to a buffer that asks for more than its route has left.
    pub refusal: Refusal,
}

/// When the buffers of edge nodes negotiate, within an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Each in a unit of its own, which its two edge nodes draw. If several ask in one unit, a draw
    /// of that time decides who asks first. The first interval is shorter by the units that were
    /// drawn.
    #[default]
    Drawn,
    /// Each a whole interval after its first packet. Buffers that begin together always ask
    /// together, in the order in which they were created. The number of the unit says which of them
    /// begins.
    Common,
}

/// When an output of a switch is congested. A slot that is dropped there is then lost by
/// congestion, otherwise by contention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Congestion {
    /// The output is congested from this share on: arrivals over its capacity. Lu and Hunter name
    /// no number.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// The longest round-trip time, T_d; arrivals are counted over twice this time. Windows of at
    /// most 128 slots are counted slot by slot, longer ones rounded up to a multiple of 32 slots.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub rtt_max: Span,
    /// A loss is congestion only if arrivals have been at `threshold` or above for more than this
    /// time, without a break. Each arrival is tested. 0 s: at once. The second test of Lu and
    /// Hunter 2009, section III, has two round trips.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub sustained: Span,
    /// Time over which the loss rate in notifications is counted, at least a slot; rounded like
    /// `rtt_max`. Lu and Hunter name no number.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub loss_window: Span,
}

/// Dual-layer congestion control (DLCC): a switch notifies the ingress edge of a slot lost by
/// congestion; the edge sends less and writes ACKs to the sender, which then halves its window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dlcc {
    /// Whether the edge subtracts the loss rate from its rate, and negotiates again only when its
    /// backlog is smaller.
    pub rate_cut: bool,
    /// Which of the notified loss rates since the last negotiation the edge subtracts.
    pub reading: Reading,
    /// How much of the loss rate each buffer subtracts.
    pub share: Share,
    /// Whether the edge writes four ACKs to the sender of a lost segment.
    pub acks: bool,
    /// Which ACKs of the receiver are dropped, among those that repeat the ACKs of the edge.
    pub filter: Filter,
    /// The rule that keeps ACKs of the edge from acknowledging data that are lost.
    pub guard: Guard,
    /// Time for which the edge remembers a segment, and its ACKs for it. Absent: twice
    /// `congestion.rtt_max`, at least 1 s.
    #[schemars(extend("x-default" = "twice `congestion.rtt_max`, at least 1 s"))]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX, "x-or" = "remove it"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Span>,
    /// How notifications travel.
    pub notification: Notification,
    /// Time from the drop to the edge, T_1. Absent: the propagation delay of the route in reverse.
    #[schemars(extend("x-default" = "the propagation delay of the route"))]
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_delay: Option<Span>,
    /// `piggybacked`: a notification that found no slot leaves alone after this time.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub piggyback_wait: Span,
    /// Rerouting of UDP while its first route is congested; needs `network.routes_per_pair` of at
    /// least 2. Absent: all packets take the first route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reroute: Option<Reroute>,
}

/// Rerouting of UDP (Lu and Hunter 2009, section IV). An edge node that is notified of congestion
/// at a fibre sends new packets of `[[traffic]]` over the first of their routes without such a
/// fibre, from a buffer of its own, which negotiates its own rate. If no route is free of such
/// fibres, they take the first route. Lu and Hunter name no times; both are ours. The field
/// `reroute` of `[[failures]]` is about fibres that are down, with bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reroute {
    /// Time from the first notification until the edge node has the new route.
    #[schemars(extend("x-maximum" = SPAN_MAX))]
    pub after: Span,
    /// The congestion of a fibre is over if the edge node has had no notification of it for this
    /// time; longer than `after`. A longer time leaves UDP on the other route for longer.
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-maximum" = SPAN_MAX))]
    #[schemars(extend("x-or" = "remove ops.dlcc.reroute"))]
    pub hold: Span,
}

impl Default for Reroute {
    fn default() -> Self {
        Self { after: Span::ZERO, hold: Span::from_secs(1) }
    }
}

/// How much of the notified loss rate each buffer subtracts from its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// All of it.
    #[default]
    Full,
    /// Its share of the granted rate of the congested link.
    Proportional,
}

/// How notifications travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notification {
    /// At once, by themselves.
    #[default]
    Dedicated,
    /// With the next slot that leaves the switch in their direction.
    Piggybacked,
}

impl Default for Ops {
    /// The switch of Lu and Hunter 2009, section VII.
    fn default() -> Self {
        Self {
            slot_size: Bytes::new(576),
            slot_header: Bytes::ZERO,
            packing: Packing::One,
            buffer: 20,
            marking: None,
            order: Order::Random,
            acks: AckWay::Slotted,
            unsmoothed: Vec::new(),
            smoothing: Smoothing::default(),
            congestion: Congestion::default(),
            dlcc: None,
        }
    }
}

impl Default for Smoothing {
    /// Lu and Hunter 2009 name the range of the unit only; the other numbers are ours.
    fn default() -> Self {
        Self {
            enabled: true,
            weight: 0.8,
            unit: Span::from_ms(20),
            units: 20,
            min_rate: None,
            phase: Phase::Drawn,
            refusal: Refusal::Keep,
        }
    }
}

impl Default for Congestion {
    fn default() -> Self {
        let (rtt_max, loss_window) = (Span::from_ms(400), Span::from_ms(20));
        Self { threshold: 0.9, rtt_max, sustained: Span::ZERO, loss_window }
    }
}

impl Default for Dlcc {
    fn default() -> Self {
        Self {
            rate_cut: true,
            reading: Reading::Recommended,
            share: Share::Full,
            acks: true,
            filter: Filter::All,
            guard: Guard::Copies,
            keep: None,
            notification: Notification::Dedicated,
            notification_delay: None,
            piggyback_wait: Span::from_ms(1),
            reroute: None,
        }
    }
}

/// The least rate of a buffer, and the part of a fibre that is for the least rates of all buffers,
/// where the scenario has none.
const LEAST: f64 = 0.01;
const LEAST_OF_ALL: f64 = 0.1;

/// No least rate is less.
const LEAST_MIN: f64 = 1e-6;

impl Ops {
    /// Whether the edge node called `name` smooths what it sends.
    #[must_use]
    pub fn smooths(&self, name: &str) -> bool {
        self.smoothing.enabled && !self.unsmoothed.iter().any(|other| other == name)
    }

    /// Rerouting of UDP, if there is any.
    #[must_use]
    pub fn reroute(&self) -> Option<&Reroute> {
        self.dlcc.as_ref().and_then(|dlcc| dlcc.reroute.as_ref())
    }

    /// How many routes of a pair may be used.
    #[must_use]
    pub fn routes(&self) -> usize {
        if self.reroute().is_some() { usize::MAX } else { 1 }
    }

    /// Writes the least rate that holds where there is none.
    pub(crate) fn fill(&mut self, graph: &Graph, routes: &Routes) {
        if self.smoothing.min_rate.is_some() {
            return;
        }
        let mut pairs = vec![0u32; graph.links.len()];
        let edges = graph.edges();
        for &from in edges.iter().filter(|&&from| self.smooths(graph.name(from))) {
            for &to in edges.iter().filter(|&&to| to != from) {
                let all = routes.peek(from, to);
                let used = all.iter().take(self.routes());
                used.flatten().for_each(|&link| pairs[link as usize] += 1);
            }
        }
        let shares = graph.links.iter().zip(pairs).filter(|&(_, pairs)| pairs > 0);
        let least = shares.fold(LEAST, |least, (link, pairs)| {
            least.min(LEAST_OF_ALL * f64::from(link.wavelengths) / f64::from(pairs))
        });
        self.smoothing.min_rate = Some(least.max(LEAST_MIN));
    }
}

impl Dlcc {
    /// How long the edge remembers a segment.
    #[must_use]
    pub fn keep(&self, rtt_max: Span) -> Span {
        self.keep.unwrap_or((rtt_max + rtt_max).max(Span::from_secs(1)))
    }
}
