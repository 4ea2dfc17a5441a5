//! What a run leaves: its numbers and its tables.

use crate::world::core::Network;
use burstlab_units::Span;

use super::{World, totals};
use crate::measure::{DemandSummary, Piece, Summary};

impl World {
    /// Sets the rows of a chunk of the tables.
    pub(crate) fn set_chunk(&mut self, rows: u32) {
        self.context.recorder.set_chunk(rows);
        self.hosts.demands.set_chunk(rows);
        self.occupancy.set_chunk(rows);
    }

    /// Rows of tables that were not handed over.
    pub(crate) fn held_rows(&self) -> u64 {
        self.context.recorder.held() + self.hosts.demands.held() + self.occupancy.held()
    }

    /// Hands over the chunks of the tables that are full and final.
    pub(crate) fn drain(&mut self) -> Vec<Piece> {
        let mut tables: Vec<Piece> = self.context.recorder.drain(self.now).collect();
        tables.extend(self.hosts.demands.drain(self.core.graph()));
        tables.extend(self.occupancy.drain(self.core.graph()));
        tables
    }

    /// One digest of all that happened.
    fn gather_digests(&mut self) {
        let mut flows = self.hosts.demands.digest.clone();
        self.hosts.live().for_each(|flow| flows.absorb(flow.near.digest()));
        self.context.digest = self.context.digest.with(&flows);
    }

    /// The numbers of the run so far, of so many flows at most, and its tables.
    pub(crate) fn finish(
        &mut self,
        random: (u64, u64),
        interrupted: bool,
        most: usize,
        mut warnings: Vec<String>,
    ) -> (Summary, Vec<Piece>) {
        warnings.extend(first_of_each_list(&self.core.unmet()));
        warnings.extend(first_of_each_list(&self.access.unmet()));
        let measured = self.measured_span();
        let under_way = self.core.under_way(self.last_instant());
        let counters = totals::counters(self, &under_way);
        let over = |many: u64, few: u64| many as f64 / few.max(1) as f64;
        self.gather_digests();
        for word in [counters.packets_delivered, counters.packets_lost, counters.bursts_lost] {
            self.context.digest.add(self.now, 4, word);
        }
        let demand = self.close_demands(measured);
        let flows = self.flow_summaries(measured, most, &under_way.early_of);
        let dead = self.dead();
        warnings.extend(dead.ended());
        warnings.extend(dead.flows());
        warnings.extend(self.censored(flows.len(), &demand));
        let mut summary = Summary {
            seed: random.0,
            replication: random.1,
            simulated_s: self.now.as_secs_f64(),
            measured_s: measured.as_secs_f64(),
            fingerprint: self.context.digest.hex(),
            interrupted,
            warnings,
            events_per_packet: over(counters.events, counters.packets_delivered),
            packets_per_burst: self
                .core
                .per_burst(counters.packets_crossed, counters.bursts_delivered),
            counters,
            flows,
            network: None,
            ops: None,
            wlan: self.wlan_summaries(),
            demand,
            surgery: self.core.surgery(&self.context.surgery),
            stacks: Vec::new(),
        };
        let core = self.core.report(self.now, measured, &under_way, &mut self.context.recorder);
        (summary.network, summary.ops) = (core.network, core.ops);
        summary.warnings.extend(core.warnings);
        let mut tables = core.tables;
        let sampled = !self.sample_every.is_zero();
        tables.extend(self.hosts.demands.take_tables(self.core.graph(), sampled));
        tables.extend(self.take_occupancy());
        let recorder = std::mem::take(&mut self.context.recorder);
        tables.splice(0..0, recorder.finish(self.now, summary.network.is_some()));
        (summary, tables)
    }

    /// At the end of the run: connections under way leave their rows too. Returns what the demands
    /// achieved.
    fn close_demands(&mut self, measured: Span) -> Vec<DemandSummary> {
        if !self.hosts.demands.any() {
            return Vec::new();
        }
        for slot in 0..self.hosts.flows.len() as u32 {
            self.leave_row(slot);
        }
        self.hosts.demands.summaries(self.now, measured)
    }
}

/// Of the entries of each list of a script that were not met, the first, and how many others.
fn first_of_each_list(unmet: &[String]) -> impl Iterator<Item = String> {
    let list = |line: &String| line.find(": ").map(|end| line[..end].to_string());
    unmet.chunk_by(move |one, next| list(one) == list(next)).map(|same| match same {
        [alone] => alone.clone(),
        _ => format!("{} (and {} more of that list)", same[0], same.len() - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::first_of_each_list;

    #[test]
    fn a_list_that_is_not_met_is_one_line() {
        let unmet =
            ["a.x: packet 1 was never sent", "a.x: packet 4 was never sent", "b.x: packet 1"];
        let told: Vec<_> = first_of_each_list(&unmet.map(String::from)).collect();
        assert_eq!(
            told,
            ["a.x: packet 1 was never sent (and 1 more of that list)", "b.x: packet 1"]
        );
    }
}
