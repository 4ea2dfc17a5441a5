//! The counts of a mesh while it runs. All begin anew with the measured time.

use burstlab_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use super::Histogram;
use super::burst_rows::BURST_KINDS;
use super::bursts::{KINDS, KindTally, Waits, grown};
use super::columns::{Column, Rows, Table, table};
use super::loss::LossCause;
use super::mesh_summary::{
    BurstSummary, ConverterUse, LinkBursts, LinkClass, LinkSummary, NetworkSummary, NodeLosses,
    NodeSummary, Resolutions, RunBytes,
};
use crate::topology::{Graph, Link};

pub(crate) use super::bursts::{Ended, Sort};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct NodeTally {
    processor: Waits,
    /// By kind of burst.
    lost: [[u64; LossCause::LABELS.len()]; KINDS],
}

/// Fates of the bursts of a kind that came to a fibre; each is in one of these, except `contended`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct PortTally {
    contended: u64,
    carried: u64,
    lost: u64,
    deflected: u64,
    resent: u64,
    refused: u64,
}

impl PortTally {
    fn absorb(&mut self, other: Self) {
        self.contended += other.contended;
        self.carried += other.carried;
        self.lost += other.lost;
        self.deflected += other.deflected;
        self.resent += other.resent;
        self.refused += other.refused;
    }
}

impl From<PortTally> for LinkBursts {
    fn from(port: PortTally) -> Self {
        let PortTally { contended, carried, lost, deflected, resent, refused } = port;
        let offered = carried + lost + deflected + resent + refused;
        Self { offered, contended, carried, lost, deflected, resent, refused }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LinkTally {
    /// By kind of burst.
    kinds: [PortTally; KINDS],
    /// By class of bursts of all kinds, where they can have several.
    classes: Vec<PortTally>,
    /// Headers on control channels, and trailers.
    control: Waits,
    trailers: u64,
}

impl LinkTally {
    /// Counts a burst that came to the fibre.
    #[inline]
    fn count(&mut self, sort: Sort, count: impl Fn(&mut PortTally)) {
        count(&mut self.kinds[sort.kind]);
        if let Some(class) = sort.class {
            count(grown(&mut self.classes, class as usize));
        }
    }
}

/// The counts of a mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NetworkTally {
    names: Vec<String>,
    nodes: Vec<NodeTally>,
    links: Vec<LinkTally>,
    /// By kind of burst.
    kinds: [KindTally; KINDS],
    /// By how much the header was too late that was late most.
    latest: Span,
    flows: Histogram,
    segments: Histogram,
    segments_of_flow: Histogram,
    bursts_of_flow: Histogram,
    lost_of_flow: Histogram,
}

/// The network and the times that the numbers of a mesh refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<'a> {
    pub(crate) graph: &'a Graph,
    /// How long each wavelength of each fibre was reserved.
    pub(crate) busy: &'a [Vec<Span>],
    /// By node, its converters, and how long they were taken; empty if no node has a limit.
    pub(crate) converters: &'a [Option<(u64, Span)>],
    /// Share of the measured time that each fibre was up.
    pub(crate) up: &'a [f64],
    /// Classes that bursts can have, where they can have several.
    pub(crate) classes: &'a [u32],
    /// The bytes of each kind of bursts.
    pub(crate) run: [RunBytes; KINDS],
    /// Time of a signal on a control channel, over the channels of a fibre.
    pub(crate) signal: f64,
    pub(crate) measured: Span,
}

impl Extent<'_> {
    /// The use of the converters of a node, if it has a limited number.
    fn converters_of(&self, node: usize) -> Option<ConverterUse> {
        let (number, taken) = (*self.converters.get(node)?)?;
        let all = number as f64 * self.measured.as_secs_f64();
        let utilisation = if all > 0.0 { taken.as_secs_f64() / all } else { 0.0 };
        Some(ConverterUse { number, utilisation })
    }
}

impl NetworkTally {
    pub(crate) fn new(graph: &Graph) -> Self {
        Self {
            names: graph.nodes.iter().map(|node| node.name.clone()).collect(),
            nodes: vec![NodeTally::default(); graph.nodes.len()],
            links: vec![LinkTally::default(); graph.links.len()],
            kinds: Default::default(),
            latest: Span::ZERO,
            flows: Histogram::default(),
            segments: Histogram::default(),
            segments_of_flow: Histogram::default(),
            bursts_of_flow: Histogram::default(),
            lost_of_flow: Histogram::default(),
        }
    }

    /// Bursts of the kind in this place.
    #[inline]
    pub(crate) fn of(&mut self, kind: usize) -> &mut KindTally {
        &mut self.kinds[kind]
    }

    /// A burst of `packets` packets was assembled in `took`.
    pub(crate) fn assembled(&mut self, kind: usize, packets: u64, bytes: Bytes, took: Span) {
        let tally = &mut self.kinds[kind];
        tally.packets.add(packets);
        tally.bytes.add(bytes.get());
        tally.assembly_ns.add(took.as_ps() / 1000);
    }

    /// A burst that carries no packets is sent.
    pub(crate) fn drawn(&mut self, kind: usize, bytes: Bytes) {
        self.kinds[kind].bytes.add(bytes.get());
    }

    /// A burst carries `segments` segments of `flows` flows.
    pub(crate) fn carries(&mut self, segments: u32, flows: u32) {
        self.segments.add(u64::from(segments));
        self.flows.add(u64::from(flows));
    }

    /// A burst carries `count` segments of one flow.
    #[inline]
    pub(crate) fn segments_of_flow(&mut self, count: u32) {
        self.segments_of_flow.add(u64::from(count));
    }

    /// A connection that is done travelled in `bursts` bursts, of which `lost` were lost.
    pub(crate) fn connection(&mut self, bursts: u64, lost: u64) {
        self.bursts_of_flow.add(bursts);
        self.lost_of_flow.add(lost);
    }

    /// A burst waited at its ingress for a wavelength.
    pub(crate) fn waited(&mut self, kind: usize, wait: Span) {
        self.kinds[kind].port_wait_ns.add(wait.as_ps() / 1000);
    }

    /// A node's processor takes a header that waited.
    #[inline]
    pub(crate) fn served(&mut self, kind: usize, node: u32, wait: Span) {
        self.nodes[node as usize].processor.add(wait);
        self.kinds[kind].processor.add(wait);
    }

    /// A fibre is reserved for a burst, and its header waits for a control channel there.
    #[inline(always)]
    pub(crate) fn carried(&mut self, sort: Sort, link: u32, wait: Span) {
        let tally = &mut self.links[link as usize];
        tally.count(sort, |port| port.carried += 1);
        tally.control.add(wait);
        self.kinds[sort.kind].control.add(wait);
    }

    /// A trailer is put on a control channel of a fibre.
    pub(crate) fn trailed(&mut self, link: u32) {
        self.links[link as usize].trailers += 1;
    }

    /// The fibre has no wavelength that is free, none that a converter is free for, or none as the
    /// scenario wills. Returns the counts of the burst's kind.
    pub(crate) fn contended(&mut self, sort: Sort, link: u32) -> &mut Resolutions {
        self.links[link as usize].count(sort, |port| port.contended += 1);
        let steps = &mut self.kinds[sort.kind].resolutions;
        steps.contentions += 1;
        steps
    }

    /// A burst takes another fibre.
    pub(crate) fn deflected(&mut self, sort: Sort, link: u32) {
        self.links[link as usize].count(sort, |port| port.deflected += 1);
        self.kinds[sort.kind].resolutions.deflected += 1;
    }

    /// The ingress of a burst is to send it again.
    pub(crate) fn resent(&mut self, sort: Sort, link: u32) {
        self.links[link as usize].count(sort, |port| port.resent += 1);
        self.kinds[sort.kind].resolutions.resent += 1;
    }

    /// A two-way reservation is refused.
    pub(crate) fn refused(&mut self, sort: Sort, link: u32) {
        self.links[link as usize].count(sort, |port| port.refused += 1);
        self.kinds[sort.kind].resolutions.refused += 1;
    }

    /// A header comes too late, by so much.
    pub(crate) fn late(&mut self, by: Span) {
        self.latest = self.latest.max(by);
    }

    /// By how much the header was too late that was late most.
    pub(crate) fn latest(&self) -> Span {
        self.latest
    }

    /// A burst has ended: it landed, or it was lost for a cause, at a node, before a fibre.
    pub(crate) fn ended(
        &mut self,
        burst: &Ended,
        lost: Option<(LossCause, u32)>,
        link: Option<u32>,
    ) {
        let nodes = self.nodes.len();
        let sort = burst.sort;
        self.kinds[sort.kind].ended(burst, nodes, lost);
        let Some((cause, node)) = lost else { return };
        self.nodes[node as usize].lost[sort.kind][cause as usize] += 1;
        if let Some(link) = link {
            self.links[link as usize].count(sort, |port| port.lost += 1);
        }
    }

    /// The numbers.
    pub(crate) fn summary(&self, extent: &Extent) -> NetworkSummary {
        let [data, acks, background] = &self.kinds;
        let of = |tally: &KindTally, run| -> BurstSummary {
            tally.summary(&self.names, extent.classes, run)
        };
        let mut all = data.clone();
        all.absorb(acks);
        all.absorb(background);
        let whole = extent.run.iter().fold(RunBytes::default(), |sum, kind| RunBytes {
            bytes_sent: sum.bytes_sent + kind.bytes_sent,
            bytes_delivered: sum.bytes_delivered + kind.bytes_delivered,
            bytes_lost: sum.bytes_lost + kind.bytes_lost,
            bytes_in_flight: sum.bytes_in_flight + kind.bytes_in_flight,
        });
        NetworkSummary {
            data: of(data, extent.run[0]),
            acks: of(acks, extent.run[1]),
            background: of(background, extent.run[2]),
            all: of(&all, whole),
            segments_per_burst: self.segments.mean(),
            flows_per_burst: self.flows.mean(),
            nodes: self.node_summaries(extent),
            links: self.link_summaries(extent),
        }
    }

    fn node_summaries(&self, extent: &Extent) -> Vec<NodeSummary> {
        let losses = |lost: &[u64; LossCause::LABELS.len()]| NodeLosses {
            bursts_lost: lost.iter().sum(),
            contention: lost[LossCause::Contention as usize],
            late_headers: lost[LossCause::LateHeader as usize],
            no_converter: lost[LossCause::NoConverter as usize],
        };
        let summary = |((node, name), tally): ((usize, &String), &NodeTally)| {
            let [data, acks, background] = tally.lost.each_ref().map(losses);
            let sum = |of: fn(&NodeLosses) -> u64| of(&data) + of(&acks) + of(&background);
            NodeSummary {
                name: name.clone(),
                headers: tally.processor.count,
                processor_wait_s: tally.processor.mean_s(),
                longest_processor_wait_s: tally.processor.longest_s(),
                data,
                acks,
                background,
                all: NodeLosses {
                    bursts_lost: sum(|one| one.bursts_lost),
                    contention: sum(|one| one.contention),
                    late_headers: sum(|one| one.late_headers),
                    no_converter: sum(|one| one.no_converter),
                },
                converters: extent.converters_of(node),
            }
        };
        self.names.iter().enumerate().zip(&self.nodes).map(summary).collect()
    }

    fn link_summaries(&self, extent: &Extent) -> Vec<LinkSummary> {
        let measured = extent.measured.as_secs_f64();
        let over = |time: f64| if measured > 0.0 { time / measured } else { 0.0 };
        let links =
            extent.graph.links.iter().zip(&self.links).zip(extent.busy.iter().zip(extent.up));
        type Used<'a> = (&'a Vec<Span>, &'a f64);
        let summary = |((link, tally), (busy, &up)): ((&Link, &LinkTally), Used<'_>)| {
            let wavelengths: Vec<f64> = busy.iter().map(|span| over(span.as_secs_f64())).collect();
            let [data, acks, background] = tally.kinds.map(LinkBursts::from);
            let mut all = PortTally::default();
            tally.kinds.iter().for_each(|&kind| all.absorb(kind));
            let of_class = |&class: &u32| LinkClass {
                class,
                bursts: tally.classes.get(class as usize).copied().unwrap_or_default().into(),
            };
            let signals = (tally.control.count + tally.trailers) as f64;
            LinkSummary {
                from: self.names[link.from as usize].clone(),
                to: self.names[link.to as usize].clone(),
                data,
                acks,
                background,
                all: all.into(),
                utilisation: wavelengths.iter().sum::<f64>() / wavelengths.len() as f64,
                wavelengths,
                up,
                control_load: over(signals * extent.signal),
                control_wait_s: tally.control.mean_s(),
                longest_control_wait_s: tally.control.longest_s(),
                classes: extent.classes.iter().map(of_class).collect(),
            }
        };
        links.map(summary).collect()
    }

    /// The histograms as one table.
    pub(crate) fn histograms(&self) -> Table {
        let mut table = HistogramTable::default();
        let kinds = |of: fn(&KindTally) -> &Histogram| {
            (0u8..).zip(self.kinds.iter().map(of)).collect::<Vec<_>>()
        };
        let data = |histogram| vec![(0, histogram)];
        let all = [
            kinds(|kind| &kind.packets),
            data(&self.segments),
            data(&self.flows),
            data(&self.segments_of_flow),
            kinds(|kind| &kind.bytes),
            kinds(|kind| &kind.assembly_ns),
            kinds(|kind| &kind.port_wait_ns),
            kinds(|kind| &kind.processor.classes),
            kinds(|kind| &kind.control.classes),
            data(&self.bursts_of_flow),
            data(&self.lost_of_flow),
        ];
        for (code, histograms) in (0u8..).zip(all) {
            for (kind, histogram) in histograms {
                for (value, count) in histogram.classes() {
                    table.of.push(code);
                    table.kind.push(kind);
                    table.value.push(value);
                    table.count.push(count);
                }
            }
        }
        table.into_table()
    }
}

const HISTOGRAMS: &[&str] = &[
    "packets-per-burst",
    "segments-per-burst",
    "flows-per-burst",
    "segments-per-flow-and-burst",
    "bytes-per-burst",
    "assembly-ns",
    "port-wait-ns",
    "processor-wait-ns",
    "control-wait-ns",
    "bursts-per-flow",
    "lost-bursts-per-flow",
];

table! {
    /// One row a class of a histogram of bursts of one kind: its least value, and how often it was
    /// seen.
    HistogramTable, "histograms" {
        of: u8 => |codes| Column::Category(codes, HISTOGRAMS),
        kind: u8 => |codes| Column::Category(codes, BURST_KINDS),
        value: u64 => Column::U64,
        count: u64 => Column::U64,
    }
}
