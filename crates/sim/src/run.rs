//! A run of a scenario, from the first event to the numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use burstlab_kernel::RandomSource;

use crate::measure::{Summary, Table, Trace};
use crate::scenario::Resolved;
use crate::world::World;

/// Events between two looks at the monitor.
const SLICE: u32 = 1 << 14;

/// A view of a run from another thread: how far it is, and a way to stop it.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Bits of an `f64`.
    progress: AtomicU64,
    cancelled: AtomicBool,
}

impl Monitor {
    /// How much of the run is done, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.shared.progress.load(Ordering::Relaxed))
    }

    /// Asks the run to end soon; what it has done is kept.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    fn report(&self, progress: f64) {
        self.shared.progress.store(progress.to_bits(), Ordering::Relaxed);
    }
}

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Output {
    /// The numbers.
    pub summary: Summary,
    /// The traced tables.
    pub tables: Vec<Table>,
}

/// A scenario that runs. A plain value: a clone goes on from the same instant.
#[derive(Clone, Debug)]
pub struct Simulation {
    world: World,
    seed: u64,
    replication: u64,
    warnings: Vec<String>,
    running: bool,
}

impl Simulation {
    /// Replication `replication` (from 0) of a checked scenario under `seed`.
    #[must_use]
    pub fn new(resolved: &Resolved, seed: u64, replication: u64, trace: Trace) -> Self {
        let random = RandomSource::new(seed, replication);
        let world = World::new(resolved, &random, trace);
        Self { world, seed, replication, warnings: resolved.warnings.clone(), running: true }
    }

    /// Runs to the end, or until `monitor` is told to cancel.
    #[must_use]
    pub fn run(mut self, monitor: &Monitor) -> Output {
        while !monitor.cancelled() && self.advance(SLICE) {
            monitor.report(self.world.progress());
        }
        monitor.report(self.world.progress());
        self.finish()
    }

    /// Processes up to `events` events; answers whether the run goes on after them.
    pub fn advance(&mut self, events: u32) -> bool {
        self.running = self.running && self.world.advance(events);
        self.running
    }

    /// The numbers and tables of what was run; interrupted where the end was not reached.
    #[must_use]
    pub fn finish(self) -> Output {
        let random = (self.seed, self.replication);
        let (summary, tables) = self.world.finish(random, self.running, self.warnings);
        Output { summary, tables }
    }
}
