//! The scenario's rules for edge nodes, ready for use.

use burstlab_link::MarkingRule;
use burstlab_units::{Bytes, Span};

use crate::scenario::{CoreForwarding, Edge, EdgeAssembly, Queues, Resolved};
use crate::world::ahead::policy::QueueRules;
use crate::world::core::rules::Rules;
use crate::world::packet::DataPacket;

#[derive(Clone, Debug, Default)]
pub(super) struct EdgeRules {
    pub(super) edge: Edge,
    pub(super) assembly: EdgeAssembly,
    pub(super) queues: Queues,
    /// Classes that queues are kept for.
    pub(super) classes: u32,
    /// Queues that a pair has for flows of different routes.
    pub(super) routes_apart: u32,
    /// Whether a failure may change the routes between two nodes.
    pub(super) reroutes: bool,
    /// Whether bursts meet others, and headers go ahead of them.
    pub(super) control: bool,
    /// Whether connections have data in both directions.
    pub(super) both_ways: bool,
    /// Whether tails of bursts are cut off, so that each packet of a batch has its place in one.
    pub(super) cuts: bool,
    /// Whether packets may be kept as trains: where no one looks at their order, or at one of them.
    pub(super) trains: bool,
    /// Whether packets of a burst may be kept as trains where they follow one another: no one looks
    /// at one of them.
    pub(super) joins: bool,
    /// Whether it matters in which order the packets of different flows lie in a burst: to links
    /// that they share, to what is cut off, and to marks that are drawn.
    pub(super) ordered: bool,
    /// The longest burst of a source: one that takes longer than any run.
    pub(super) longest: Bytes,
}

impl EdgeRules {
    pub(super) fn new(resolved: &Resolved, rules: &Rules) -> Self {
        let (scenario, assembly) = (&resolved.scenario, &resolved.assembly);
        let (edge, cuts, both_ways) = (&scenario.edge, rules.cuts, rules.both_ways);
        // A queue that marks at random draws a number for one packet of a burst after the other.
        let marks = resolved.core_marks.as_ref();
        let drawn = marks.is_some_and(|marks| matches!(marks.rule, MarkingRule::Red(_)));
        let looked_at = cuts || drawn;
        let ordered = scenario.access.shared
            || looked_at
            || scenario.core.forwarding == CoreForwarding::StoreAndForward;
        let script = &resolved.loss.data.script;
        let scripted = !script.carrying.is_empty() || !script.packets.is_empty();
        Self {
            edge: edge.clone(),
            assembly: assembly.clone(),
            queues: edge.queues,
            classes: match (assembly.data.thresholds(), edge.queues) {
                (Some(thresholds), _) => thresholds.len() as u32 + 1,
                (None, Queues::Class) => scenario.classes(),
                (None, Queues::Destination | Queues::Flow) => 1,
            },
            routes_apart: scenario.network.routes_apart(),
            reroutes: !scenario.failures.is_empty(),
            control: rules.control,
            both_ways,
            cuts,
            trains: !ordered && !scripted,
            joins: !looked_at && !scripted,
            ordered,
            longest: rules.bytes_in(Span::from_secs(10_000)),
        }
    }

    /// Classes of the queues of ACKs, or of data.
    pub(super) fn classes_of(&self, acks: bool) -> u32 {
        if acks && self.assembly.data.thresholds().is_some() { 1 } else { self.classes }
    }

    /// The class of a data packet.
    #[inline]
    pub(super) fn class_of(&self, packet: &DataPacket, class: u32) -> u32 {
        match self.assembly.data.thresholds() {
            Some(list) => list.partition_point(|&from| from <= u32::from(packet.cwnd)) as u32,
            None => class,
        }
    }

    /// The class of an ACK of a flow of `class`.
    #[inline]
    pub(super) fn class_of_ack(&self, class: u32) -> u32 {
        if self.assembly.data.thresholds().is_some() { self.edge.ack.class } else { class }
    }

    /// Whether packets leave spaced, each as it came.
    #[inline]
    pub(super) fn spaces(&self) -> bool {
        !self.edge.spacing.is_zero()
    }

    /// The facts about them that the announcement of packets needs.
    pub(super) fn queues(&self) -> QueueRules {
        QueueRules { classes: self.classes, ordered: self.ordered, cuts: self.cuts }
    }
}
