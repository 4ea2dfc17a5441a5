//! The scenario's rules for a mesh, ready for use.

use std::collections::BTreeSet;

use burstlab_kernel::Stream;
use burstlab_optical::scheduling::Conversion;
use burstlab_optical::signalling::offset_needed;
use burstlab_units::{Bytes, Rate, Serializer, Span};

use crate::scenario::{
    ConversionKind, Core, Cores, EdgeAssembly, FirstWavelength, IngressPort, Protocol, Queues,
    Resolution, RouteChoice, Scenario,
};
use crate::topology::{Graph, Routes};

/// Longer than any run.
const BEYOND: Span = Span::from_secs(9_000_000);

#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) rate: Rate,
    /// Whether headers go ahead of bursts: in a mesh.
    pub(super) control: bool,
    /// Whether the links to receivers drop packets: when, a sender may have to know by then.
    pub(super) drops_behind: bool,
    pub(super) protocol: Protocol,
    pub(super) processing: Span,
    pub(super) guard: Span,
    pub(super) offset: Option<Span>,
    pub(super) switching: Span,
    /// Time of a header on a control channel.
    pub(super) sending: Span,
    pub(super) requests: u32,
    pub(super) retry: Span,
    /// Kinds of nodes, and by node which; empty if all nodes are alike.
    kinds: Vec<NodeRules>,
    kind_of: Vec<u32>,
    /// Fibres that a burst may cross beyond its route.
    pub(super) detour: usize,
    pub(super) trailer: bool,
    /// How often a burst is retransmitted.
    pub(super) resends: u32,
    pub(super) buffer: u64,
    pub(super) wait: Span,
    pub(super) fifo: bool,
    /// Whether a burst sets out on a wavelength that is drawn.
    pub(super) random_wavelength: bool,
    pub(super) choice: RouteChoice,
    pub(super) class_offsets: Vec<Span>,
    /// Classes that bursts can have, rising, where they can have more than one; else none.
    pub(super) burst_classes: Vec<u32>,
    /// Whether connections have data in both directions.
    pub(super) both_ways: bool,
    /// How often a burst may pass a delay line on its whole path.
    pub(super) passes_on_path: u32,
    /// Whether packets come in batches.
    pub(super) batched: bool,
    /// Whether tails of bursts are cut off, so that each packet of a batch has its place in one.
    pub(super) cuts: bool,
    /// Whether a burst that carries nothing may go without a slot: nobody looks at it in flight.
    pub(super) light: bool,
}

/// The rules of a node for bursts that meet.
#[derive(Clone, Debug)]
pub(super) struct NodeRules {
    pub(super) conversion: Conversion,
    pub(super) contention: Vec<Resolution>,
    /// Whether a burst keeps its wavelength until `contention` comes to conversion.
    pub(super) keeps_wavelength: bool,
    /// How often a burst may pass a delay line.
    pub(super) passes: u32,
}

impl From<&Core> for NodeRules {
    fn from(core: &Core) -> Self {
        Self {
            conversion: match core.conversion {
                ConversionKind::Full => Conversion::Full,
                ConversionKind::None => Conversion::None,
                ConversionKind::Limited => Conversion::Limited(core.conversion_range.unwrap_or(0)),
            },
            contention: core.contention.clone(),
            keeps_wavelength: core.contention.contains(&Resolution::Conversion),
            passes: core.delay_lines.passes,
        }
    }
}

/// Classes that bursts of a scenario can have, rising; none where they can have one alone.
fn burst_classes(scenario: &Scenario, thresholds: Option<&[u32]>) -> Vec<u32> {
    let queued = match (thresholds, scenario.edge.queues) {
        (Some(thresholds), _) => (0..=thresholds.len() as u32).collect(),
        (None, Queues::Class) => scenario.packet_classes(),
        // Each burst has packets of any class, and an offset time as of class 0.
        (None, Queues::Destination | Queues::Flow) => match scenario.packet_classes() {
            none if none.is_empty() => none,
            _ => BTreeSet::from([0]),
        },
    };
    let drawn = scenario.bursts.iter().map(|bursts| bursts.class);
    let all: BTreeSet<u32> = queued.into_iter().chain(drawn).collect();
    if all.len() > 1 { all.into_iter().collect() } else { Vec::new() }
}

/// Whether a scenario lets bursts that carry nothing go [without a slot](Rules::light): there are
/// some, each pair has one route that stays, headers wait for no processor and are not refused,
/// nothing is cut or sent again, converters do not run out, and no table shows bursts in flight.
fn light(scenario: &Scenario, cores: &Cores) -> bool {
    let signalling = &scenario.signalling;
    !scenario.bursts.is_empty()
        && signalling.protocol != Protocol::TwoWay
        && signalling.processors.is_none()
        && scenario.network.route_choice() == RouteChoice::First
        && scenario.failures.is_empty()
        && scenario.run.occupancy.is_none()
        && cores.kinds().iter().all(|core| core.converters.is_none())
        && !scenario.tries(Resolution::Retransmission)
        && !scenario.tries(Resolution::Segmentation)
}

impl Default for Rules {
    fn default() -> Self {
        let scenario = Scenario::default();
        Self::new(&scenario, &EdgeAssembly::default(), &Cores::alike(&scenario.core))
    }
}

impl Rules {
    pub(super) fn new(scenario: &Scenario, assembly: &EdgeAssembly, cores: &Cores) -> Self {
        let (signalling, core, edge) = (&scenario.signalling, &scenario.core, &scenario.edge);
        let thresholds = assembly.data.thresholds();
        Self {
            rate: scenario.network.link_rate,
            control: !scenario.kind().is_path(),
            drops_behind: scenario.drops_behind(),
            protocol: signalling.protocol,
            processing: signalling.processing,
            guard: signalling.guard(),
            offset: signalling.offset,
            switching: signalling.switching,
            sending: Serializer::new(signalling.rate.unwrap_or(scenario.network.link_rate))
                .next(signalling.header_size),
            requests: signalling.requests,
            retry: signalling.retry,
            kinds: cores.kinds().iter().map(NodeRules::from).collect(),
            kind_of: cores.places().to_vec(),
            detour: scenario.detour(),
            trailer: core.segmentation.trailer,
            resends: if scenario.tries(Resolution::Retransmission) {
                core.retransmission.attempts
            } else {
                0
            },
            buffer: core.retransmission.buffer.map_or(u64::MAX, Bytes::get),
            wait: core.retransmission.wait,
            fifo: edge.port == IngressPort::Fifo,
            random_wavelength: edge.wavelength == FirstWavelength::Random,
            choice: scenario.network.route_choice(),
            class_offsets: edge.class_offsets.clone(),
            burst_classes: burst_classes(scenario, thresholds),
            passes_on_path: core.delay_lines.passes_on_path.unwrap_or(u32::MAX),
            batched: !scenario.batches.is_empty(),
            cuts: scenario.tries(Resolution::Segmentation),
            light: light(scenario, cores),
            both_ways: scenario.goes_both_ways(),
        }
    }

    /// The rules of the node that sends over a fibre.
    #[inline]
    pub(super) fn before(&self, link: u32, graph: &Graph) -> &NodeRules {
        if self.kind_of.is_empty() { &self.kinds[0] } else { self.differing(link, graph) }
    }

    #[cold]
    fn differing(&self, link: u32, graph: &Graph) -> &NodeRules {
        &self.kinds[self.kind_of[graph.link(link).from as usize] as usize]
    }

    /// By pair of nodes with hosts, where routes take turns: which is first. Each pair draws it, so
    /// that pairs that begin together are not in step.
    pub(super) fn turns(&self, graph: &Graph, routes: &Routes, draws: &Stream) -> Vec<u32> {
        match self.choice {
            RouteChoice::RoundRobin => {
                let edges = graph.edges();
                let pairs = edges.iter().flat_map(|&from| edges.iter().map(move |&to| (from, to)));
                let turn = |(ordinal, (from, to)): (u64, (u32, u32))| {
                    let [share, _] = draws.uniforms(ordinal);
                    (share * routes.peek(from, to).len() as f64) as u32
                };
                (0..).zip(pairs).map(turn).collect()
            }
            RouteChoice::First | RouteChoice::Random | RouteChoice::Ecmp => Vec::new(),
        }
    }

    /// Which count of bursts those from a node belong to: on a path those of ACKs have their own.
    #[inline]
    pub(super) fn counter(&self, from: u32) -> usize {
        usize::from(!self.control && !self.both_ways && from > 0)
    }

    /// Offset time of a burst of `class` whose route has `hops` fibres.
    pub(super) fn offset(&self, hops: usize, class: u32) -> Span {
        let headers = (hops + self.detour) as u32;
        let usual = offset_needed(headers, self.processing, self.guard);
        let usual = self.offset.unwrap_or(usual);
        usual + self.class_offsets.get(class as usize).copied().unwrap_or(Span::ZERO)
    }

    /// How far a header must be ahead of its burst that `hops` nodes are still to schedule.
    pub(super) fn ahead(&self, hops: usize) -> Span {
        let hops = hops as u64;
        self.processing * hops + self.sending * hops.saturating_sub(1) + self.switching
    }

    /// How long a burst of `size` takes, at least a picosecond. One that takes longer than any run
    /// takes that long: it does not land in the run.
    pub(super) fn hold(&self, size: Bytes) -> Span {
        Serializer::new(self.rate).next(size).clamp(Span::from_ps(1), BEYOND)
    }

    /// The bytes that `span` has room for.
    pub(super) fn bytes_in(&self, span: Span) -> Bytes {
        let bits = u128::from(span.as_ps()) * u128::from(self.rate.as_bps()) / 1_000_000_000_000;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}
