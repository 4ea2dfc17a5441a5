//! A run of a scenario, from the first event to the numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use burstlab_kernel::RandomSource;

use crate::measure::{Piece, Summary, Table, Trace};
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
    /// The traced tables, in chunks: a table of more than 2^18 rows comes in several, in order.
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

    /// The same run with `rows` rows a chunk of a table, a power of two; else 2^18. It changes no
    /// number. To be said before the first event.
    #[must_use]
    pub fn in_chunks_of(mut self, rows: u32) -> Self {
        self.world.set_chunk(rows);
        self
    }

    /// Runs to the end, or until `monitor` is told to cancel, and keeps the tables in memory.
    #[must_use]
    pub fn run(mut self, monitor: &Monitor) -> Output {
        while self.goes_on(monitor) {}
        let (summary, pieces) = self.finish();
        Output { summary, tables: pieces.into_iter().map(Piece::rows).collect() }
    }

    /// Runs like [`run`](Self::run), and hands the tables over to `take` piece by piece, 2^18 rows
    /// at a time as soon as they are final or nearly so, and what is left at the end. So it holds
    /// the rows that may still change, and a few chunks of each table, however long it is.
    ///
    /// # Errors
    ///
    /// That of `take`, which ends the run.
    pub fn stream<E>(
        mut self,
        monitor: &Monitor,
        mut take: impl FnMut(Piece) -> Result<(), E>,
    ) -> Result<Summary, E> {
        while self.goes_on(monitor) {
            self.drain().into_iter().try_for_each(&mut take)?;
        }
        let (summary, pieces) = self.finish();
        pieces.into_iter().try_for_each(take)?;
        Ok(summary)
    }

    /// Processes some events, unless `monitor` was told to cancel; answers whether the run goes on.
    fn goes_on(&mut self, monitor: &Monitor) -> bool {
        let goes_on = !monitor.cancelled() && self.advance(SLICE);
        monitor.report(self.world.progress());
        goes_on
    }

    /// Processes up to `events` events; answers whether the run goes on after them.
    pub fn advance(&mut self, events: u32) -> bool {
        self.running = self.running && self.world.advance(events);
        self.running
    }

    /// The chunks of the tables that are full and final or nearly so, to be called between two
    /// [`advance`](Self::advance). With what [`finish`](Self::finish) hands over they are the whole
    /// tables.
    pub fn drain(&mut self) -> Vec<Piece> {
        self.world.drain()
    }

    /// Rows of tables that were recorded and not handed over.
    #[must_use]
    pub fn held_rows(&self) -> u64 {
        self.world.held_rows()
    }

    /// The numbers of what was run, interrupted where the end was not reached, and what was not
    /// handed over of its tables.
    #[must_use]
    pub fn finish(self) -> (Summary, Vec<Piece>) {
        let random = (self.seed, self.replication);
        self.world.finish(random, self.running, self.warnings)
    }
}
