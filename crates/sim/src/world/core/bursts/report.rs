//! The numbers and tables of a mesh.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Mesh;
use super::burst::BurstKind;
use super::under_way::UnderWay;
use crate::measure::{Extent, NetworkSummary, NetworkTally, Recorder, RunBytes, Table};
use crate::topology::Graph;

/// What was counted by the end of the measured time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuredNetwork {
    tally: NetworkTally,
    /// How long each wavelength of each fibre was reserved.
    busy: Vec<Vec<Span>>,
}

/// A share of bursts that is not worth a word.
const TRACE: f64 = 0.001;

impl Mesh {
    /// The measured time is over, and the run goes on.
    pub(in crate::world) fn measured(&mut self, now: Time) {
        let (tally, busy) = (self.tally.clone(), self.busy(now));
        self.measured = Some(Box::new(MeasuredNetwork { tally, busy }));
    }

    /// The numbers of the measured time, which lasted so long; the run ends at `now`.
    pub(in crate::world) fn summary(
        &self,
        now: Time,
        measured: Span,
        under_way: &UnderWay,
    ) -> NetworkSummary {
        let (tally, busy) = match &self.measured {
            None => (&self.tally, &self.busy(now)),
            Some(then) => (&then.tally, &then.busy),
        };
        let end = self.measured_from.saturating_add(measured);
        let links = 0..self.graph.links.len() as u32;
        let up: Vec<f64> =
            links.map(|link| self.outages.share_up(link, self.measured_from, end)).collect();
        tally.summary(&Extent {
            graph: &self.graph,
            busy,
            up: &up,
            classes: &self.rules.burst_classes,
            run: BurstKind::ALL.map(|kind| self.bytes(kind, under_way)),
            signal: self.rules.sending.as_secs_f64() / f64::from(self.scenario.signalling.channels),
            measured,
        })
    }

    /// How long each wavelength of each fibre was reserved by `now`.
    pub(super) fn busy(&self, now: Time) -> Vec<Vec<Span>> {
        let busy = |port: &burstlab_optical::scheduling::Port| {
            (0..port.wavelengths()).map(|wavelength| port.busy(wavelength, now)).collect()
        };
        self.ports.iter().map(busy).collect()
    }

    /// What bursts of a kind carried in the whole run.
    fn bytes(&self, kind: BurstKind, under_way: &UnderWay) -> RunBytes {
        let counts = &self.counts[kind as usize];
        RunBytes {
            bytes_sent: counts.bytes_sent,
            bytes_delivered: counts.bytes_delivered,
            bytes_lost: counts.bytes_lost,
            bytes_in_flight: under_way.carried[kind as usize],
        }
    }

    /// What to do about late headers, where they are more than a trace of all bursts.
    pub(in crate::world) fn late_headers(&self, network: &NetworkSummary) -> Option<String> {
        let late: u64 = network.nodes.iter().map(|node| node.all.late_headers).sum();
        let share = late as f64 / network.all.bursts.max(1) as f64;
        if share <= TRACE {
            return None;
        }
        let signalling = &self.scenario.signalling;
        let (field, value) = match signalling.offset {
            Some(offset) => ("signalling.offset", offset),
            None => ("signalling.guard", signalling.guard()),
        };
        let worst =
            network.links.iter().max_by(|a, b| a.control_load.total_cmp(&b.control_load))?;
        let latest = self.measured.as_ref().map_or(&self.tally, |then| &then.tally).latest();
        let all = &network.all;
        let micro = |seconds: f64| format!("{:.3} us", seconds * 1e6);
        let channels = match signalling.channels {
            1 => "the control channel".to_string(),
            many => format!("one of {many} control channels"),
        };
        Some(format!(
            "{field} = {value}: {:.2} % of all bursts ({late}) were lost because their headers \
             came late, by up to {}; headers wait {} for {channels} of a fibre (at most {}) and {} \
             for a processor (at most {}), and from {} to {} signals load the channels to {:.2}; \
             fix: write at least {} for what was seen here, or more signalling.channels, a higher \
             signalling.rate{}",
            share * 100.0,
            latest,
            micro(all.control_wait_s),
            micro(all.longest_control_wait_s),
            micro(all.processor_wait_s),
            micro(all.longest_processor_wait_s),
            worst.from,
            worst.to,
            worst.control_load,
            value + latest,
            if signalling.processors.is_some() { " or more signalling.processors" } else { "" },
        ))
    }

    /// The histograms.
    pub(in crate::world) fn table(&self) -> Table {
        self.measured.as_ref().map_or(&self.tally, |then| &then.tally).histograms()
    }

    /// Adds the bursts that are under way to the trace.
    pub(in crate::world) fn record_rest(&self, now: Time, recorder: &mut Recorder) {
        self.record_waiting(now, recorder);
        if recorder.traces_bursts() {
            for burst in self.bursts.live() {
                recorder.burst(&self.row(burst, None));
                self.record_hops(burst, false, recorder);
            }
        }
    }

    pub(in crate::world) fn graph(&self) -> &Graph {
        &self.graph
    }
}
