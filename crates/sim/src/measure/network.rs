//! What a mesh counts while it runs. All counts begin anew with the measured time.

use burstlab_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use super::Histogram;
use super::columns::{Column, Rows, Table, table};
use super::summary::{Cause, HopSummary, LinkSummary, NodeSummary, RouteSummary, SizeSummary};
use super::summary::{NetworkSummary, Resolutions};
use crate::topology::Graph;
use crate::world::LossCause;

/// A burst that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) hops: usize,
    pub(crate) bytes: Bytes,
    /// Packets it was closed with, and packets that were in it at its end.
    pub(crate) packets: u64,
    pub(crate) packets_left: u64,
    /// Time from its closing to its end.
    pub(crate) took: Span,
}

/// Bursts that ended, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Fate {
    ended: u64,
    lost: u64,
}

impl Fate {
    fn add(&mut self, lost: bool) {
        self.ended += 1;
        self.lost += u64::from(lost);
    }

    fn ratio(self) -> f64 {
        if self.ended == 0 { 0.0 } else { self.lost as f64 / self.ended as f64 }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct NodeTally {
    headers: u64,
    waited: u128,
    longest: Span,
    lost: [u64; LossCause::LABELS.len()],
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct LinkTally {
    offered: u64,
    contended: u64,
    carried: u64,
    lost: u64,
}

/// What happens in a mesh.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NetworkTally {
    names: Vec<String>,
    nodes: Vec<NodeTally>,
    links: Vec<LinkTally>,
    /// By first and last node.
    routes: Vec<(Fate, u128)>,
    hops: Vec<Fate>,
    /// By power of two of the length.
    sizes: Vec<Fate>,
    all: Fate,
    /// Packets in bursts that ended, and those of them that were in bursts that were lost.
    packets_ended: u64,
    packets_lost: u64,
    pub(crate) resolutions: Resolutions,
    packets: Histogram,
    bytes: Histogram,
    assembly_ns: Histogram,
    port_wait_ns: Histogram,
    header_wait_ns: Histogram,
    flows: Histogram,
    segments: Histogram,
    segments_of_flow: Histogram,
    bursts_of_flow: Histogram,
    lost_of_flow: Histogram,
}

impl NetworkTally {
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes.len();
        Self {
            names: graph.nodes.iter().map(|node| node.name.clone()).collect(),
            nodes: vec![NodeTally::default(); nodes],
            links: vec![LinkTally::default(); graph.links.len()],
            routes: vec![(Fate::default(), 0); nodes * nodes],
            hops: Vec::new(),
            sizes: Vec::new(),
            all: Fate::default(),
            packets_ended: 0,
            packets_lost: 0,
            resolutions: Resolutions::default(),
            packets: Histogram::default(),
            bytes: Histogram::default(),
            assembly_ns: Histogram::default(),
            port_wait_ns: Histogram::default(),
            header_wait_ns: Histogram::default(),
            flows: Histogram::default(),
            segments: Histogram::default(),
            segments_of_flow: Histogram::default(),
            bursts_of_flow: Histogram::default(),
            lost_of_flow: Histogram::default(),
        }
    }

    /// A burst of `packets` packets was assembled in `took`.
    pub(crate) fn assembled(&mut self, packets: u64, bytes: Bytes, took: Span) {
        self.packets.add(packets);
        self.bytes.add(bytes.get());
        self.assembly_ns.add(took.as_ps() / 1000);
    }

    /// A burst carries `segments` data packets of `flows` flows.
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
    pub(crate) fn waited(&mut self, wait: Span) {
        self.port_wait_ns.add(wait.as_ps() / 1000);
    }

    /// A node's processor takes a header that waited.
    pub(crate) fn served(&mut self, node: u32, wait: Span) {
        let tally = &mut self.nodes[node as usize];
        tally.headers += 1;
        tally.waited += u128::from(wait.as_ps());
        tally.longest = tally.longest.max(wait);
        self.header_wait_ns.add(wait.as_ps() / 1000);
    }

    /// A burst asks for a wavelength of a fibre.
    #[inline]
    pub(crate) fn offered(&mut self, link: u32) {
        self.links[link as usize].offered += 1;
    }

    /// A burst goes on over a fibre.
    #[inline]
    pub(crate) fn carried(&mut self, link: u32) {
        self.links[link as usize].carried += 1;
    }

    /// The fibre has none that is free, or none as the scenario wills.
    pub(crate) fn contended(&mut self, link: u32, injected: bool) {
        self.links[link as usize].contended += 1;
        self.resolutions.contentions += 1;
        self.resolutions.injected += u64::from(injected);
    }

    /// A burst has ended: it landed, or it was lost for a cause, at a node, on its way to a fibre.
    pub(crate) fn ended(
        &mut self,
        burst: &Ended,
        lost: Option<(LossCause, u32)>,
        link: Option<u32>,
    ) {
        let is_lost = lost.is_some();
        self.all.add(is_lost);
        self.packets_ended += burst.packets;
        self.packets_lost += if is_lost { burst.packets_left } else { 0 };
        let route = burst.from as usize * self.nodes.len() + burst.to as usize;
        self.routes[route].0.add(is_lost);
        if !is_lost {
            self.routes[route].1 += u128::from(burst.took.as_ps());
        }
        let size = 64 - burst.bytes.get().leading_zeros() as usize;
        for (list, place) in [(&mut self.hops, burst.hops), (&mut self.sizes, size)] {
            list.resize(list.len().max(place + 1), Fate::default());
            list[place].add(is_lost);
        }
        let Some((cause, node)) = lost else { return };
        self.nodes[node as usize].lost[cause as usize] += 1;
        if let Some(link) = link {
            self.links[link as usize].lost += 1;
        }
    }

    /// The numbers; `busy` is how long each wavelength of each fibre was reserved.
    pub(crate) fn summary(
        &self,
        graph: &Graph,
        busy: &[Vec<Span>],
        measured: Span,
    ) -> NetworkSummary {
        let share = |span: &Span| {
            if measured.is_zero() { 0.0 } else { span.as_secs_f64() / measured.as_secs_f64() }
        };
        let name = |node: u32| self.names[node as usize].clone();
        let links = graph.links.iter().zip(&self.links).zip(busy);
        let links = links.map(|((link, tally), busy)| {
            let wavelengths: Vec<f64> = busy.iter().map(share).collect();
            LinkSummary {
                from: name(link.from),
                to: name(link.to),
                offered: tally.offered,
                contended: tally.contended,
                carried: tally.carried,
                lost: tally.lost,
                utilisation: wavelengths.iter().sum::<f64>() / wavelengths.len() as f64,
                wavelengths,
            }
        });
        let routes = (0u32..).zip(&self.routes).filter(|(_, (fate, _))| fate.ended > 0);
        let nodes = self.nodes.len() as u32;
        let routes = routes.map(|(index, &(fate, took))| RouteSummary {
            from: name(index / nodes),
            to: name(index % nodes),
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
            mean_delay_s: mean_s(took, fate.ended - fate.lost),
        });
        let packets_lost = self.packets_lost + self.resolutions.packets_cut;
        NetworkSummary {
            bursts: self.all.ended,
            bursts_lost: self.all.lost,
            burst_loss_ratio: self.all.ratio(),
            packets: self.packets_ended,
            packets_lost,
            packet_loss_ratio: packets_lost as f64 / self.packets_ended.max(1) as f64,
            packets_per_burst: self.packets.mean(),
            segments_per_burst: self.segments.mean(),
            flows_per_burst: self.flows.mean(),
            bytes_per_burst: self.bytes.mean(),
            assembly_delay_s: self.assembly_ns.mean() * 1e-9,
            port_wait_s: self.port_wait_ns.mean() * 1e-9,
            header_wait_s: self.header_wait_ns.mean() * 1e-9,
            causes: self.causes(),
            resolutions: self.resolutions.clone(),
            nodes: self.node_summaries(),
            links: links.collect(),
            routes: routes.collect(),
            hops: self.by_hops(),
            sizes: self.by_size(),
        }
    }

    fn by_hops(&self) -> Vec<HopSummary> {
        let summary = |(hops, fate): (usize, &Fate)| HopSummary {
            hops: hops as u64,
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
        };
        seen(&self.hops).map(summary).collect()
    }

    fn by_size(&self) -> Vec<SizeSummary> {
        let summary = |(bits, fate): (usize, &Fate)| SizeSummary {
            below_bytes: 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX),
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
        };
        seen(&self.sizes).map(summary).collect()
    }

    fn causes(&self) -> Vec<Cause> {
        let cause = |&cause: &LossCause| Cause {
            cause: LossCause::LABELS[cause as usize].into(),
            bursts: self.nodes.iter().map(|node| node.lost[cause as usize]).sum(),
        };
        LossCause::OF_BURSTS.iter().map(cause).collect()
    }

    fn node_summaries(&self) -> Vec<NodeSummary> {
        let summary = |(name, tally): (&String, &NodeTally)| NodeSummary {
            name: name.clone(),
            headers: tally.headers,
            header_wait_s: mean_s(tally.waited, tally.headers),
            longest_header_wait_s: tally.longest.as_secs_f64(),
            bursts_lost: tally.lost.iter().sum(),
            contention: tally.lost[LossCause::Contention as usize],
            late_headers: tally.lost[LossCause::LateHeader as usize],
        };
        self.names.iter().zip(&self.nodes).map(summary).collect()
    }

    /// The histograms as one table.
    pub(crate) fn histograms(&self) -> Table {
        let mut table = HistogramTable::default();
        let all = [
            &self.packets,
            &self.segments,
            &self.flows,
            &self.segments_of_flow,
            &self.bytes,
            &self.assembly_ns,
            &self.port_wait_ns,
            &self.header_wait_ns,
            &self.bursts_of_flow,
            &self.lost_of_flow,
        ];
        for (code, histogram) in (0u8..).zip(all) {
            for (value, count) in histogram.classes() {
                table.of.push(code);
                table.value.push(value);
                table.count.push(count);
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
    "header-wait-ns",
    "bursts-per-flow",
    "lost-bursts-per-flow",
];

table! {
    /// One row a class of a histogram: its least value, and how often it was seen.
    HistogramTable, "histograms" {
        of: u8 => |codes| Column::Category(codes, HISTOGRAMS),
        value: u64 => Column::U64,
        count: u64 => Column::U64,
    }
}

/// The classes in which a burst ended.
fn seen(fates: &[Fate]) -> impl Iterator<Item = (usize, &Fate)> {
    fates.iter().enumerate().filter(|(_, fate)| fate.ended > 0)
}

fn mean_s(total: u128, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 * 1e-12 }
}
