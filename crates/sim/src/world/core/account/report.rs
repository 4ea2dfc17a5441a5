//! The numbers and tables of a mesh.

use burstlab_units::{Span, Time};

use super::Account;
use super::counts::{MeasuredNetwork, TimeReserved};
use super::ended::row;
use super::occupied::Looked;
use crate::measure::{
    Extent, NetworkSummary, NetworkTally, Occupancy, Recorder, RunBytes, Table, Waiting,
};
use crate::world::core::burst::Bursts;
use crate::world::core::payload::BurstKind;
use crate::world::core::plan::Plan;
use crate::world::core::under_way::UnderWay;

/// A share of bursts that is not worth a word.
const TRACE: f64 = 0.001;

impl Account {
    /// Measuring begins; each wavelength was reserved for so long since the last look, if any.
    pub(crate) fn warmed_up(&mut self, now: Time, plan: &Plan, busy: &[Vec<Span>]) {
        self.measured_from = now;
        if plan.scenario.run.occupancy.is_some() {
            self.looked.begin_anew(busy);
        }
        self.tally = NetworkTally::new(&plan.graph);
    }

    /// The measured time is over, and the run goes on.
    pub(crate) fn measured(&mut self, busy: TimeReserved) {
        self.measured = Some(Box::new(MeasuredNetwork { tally: self.tally.clone(), busy }));
    }

    /// The numbers of the measured time, which lasted so long. By now each wavelength and each
    /// converter was reserved for so long, and a share of a time each fibre was up.
    pub(crate) fn summary(
        &self,
        plan: &Plan,
        busy: &TimeReserved,
        share_up: impl Fn(u32, Time, Time) -> f64,
        measured: Span,
        under_way: &UnderWay,
    ) -> NetworkSummary {
        let (tally, busy) = match &self.measured {
            None => (&self.tally, busy),
            Some(then) => (&then.tally, &then.busy),
        };
        let (begin, end) = (self.measured_from, self.measured_from.saturating_add(measured));
        let links = 0..plan.graph.links.len() as u32;
        let up: Vec<f64> = links.map(|link| share_up(link, begin, end)).collect();
        let channels = f64::from(plan.scenario.signalling.channels);
        tally.summary(&Extent {
            graph: &plan.graph,
            busy: &busy.channels,
            converters: &busy.converters,
            up: &up,
            classes: &plan.rules.burst_classes,
            run: BurstKind::ALL.map(|kind| self.bytes(kind, under_way)),
            signal: plan.rules.sending.as_secs_f64() / channels,
            measured,
        })
    }

    /// The bytes that bursts of a kind carried in the whole run.
    fn bytes(&self, kind: BurstKind, under_way: &UnderWay) -> RunBytes {
        let counts = &self.counts[kind as usize];
        RunBytes {
            bytes_sent: counts.bytes_sent,
            bytes_delivered: counts.bytes_delivered,
            bytes_lost: counts.bytes_lost,
            bytes_in_flight: under_way.carried[kind as usize],
        }
    }

    /// The advice on late headers, where they are more than a trace of all bursts.
    pub(crate) fn late_headers(&self, plan: &Plan, network: &NetworkSummary) -> Option<String> {
        let late: u64 = network.nodes.iter().map(|node| node.all.late_headers).sum();
        let share = late as f64 / network.all.bursts.max(1) as f64;
        if share <= TRACE {
            return None;
        }
        let signalling = &plan.scenario.signalling;
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
    pub(crate) fn table(&self) -> Table {
        self.measured.as_ref().map_or(&self.tally, |then| &then.tally).histograms()
    }

    /// Adds the bursts in flight to the trace.
    pub(crate) fn record_rest(&self, plan: &Plan, bursts: &Bursts, recorder: &mut Recorder) {
        if recorder.traces_bursts() {
            for burst in bursts.live() {
                recorder.burst(&row(plan, burst, None));
                self.record_hops(plan, burst, false, recorder);
            }
        }
    }

    /// Adds what there is at `now` at each fibre to the tables: what waits, how many wavelengths
    /// are taken, and how long each was reserved.
    pub(crate) fn look(
        &mut self,
        now: Time,
        (plan, bursts): (&Plan, &Bursts),
        (taken, busy): (&[u32], Vec<Vec<Span>>),
        tables: &mut Occupancy,
    ) {
        let mut waiting = vec![Waiting::default(); plan.graph.links.len()];
        for burst in bursts.live().filter(|burst| burst.departs > now) {
            if let Some(&link) = burst.route.first() {
                waiting[link as usize].add(1, burst.bytes.get());
            }
        }
        for (index, link) in plan.graph.links.iter().enumerate() {
            let ends = (link.from, link.to);
            tables.port(now, ends, taken[index], waiting[index]);
            for (wavelength, &busy) in busy[index].iter().enumerate() {
                let since = self.looked.since(index, wavelength, busy);
                tables.wavelength(now, ends, wavelength as u32, since);
            }
        }
        self.looked = Looked::at(busy);
    }
}
