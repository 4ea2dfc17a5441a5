//! A run of a scenario, from the first event to the numbers.

use std::convert::Infallible;
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

    /// Runs to the end, or until `monitor` is told to cancel.
    #[must_use]
    pub fn run(self, monitor: &Monitor) -> Output {
        let mut tables = Vec::new();
        let keep = |chunk| -> Result<(), Infallible> {
            tables.push(chunk);
            Ok(())
        };
        match self.stream(monitor, keep) {
            Ok(summary) => Output { summary, tables },
            Err(never) => match never {},
        }
    }

    /// Runs like [`run`](Self::run), and hands the tables over to `take` chunk by chunk: a chunk of
    /// 2^18 rows when it is full and no row of it, or of an earlier one, can change any more, what
    /// is left at the end. So a run holds the rows that it may still change, and a chunk of each
    /// table, however long it is.
    ///
    /// # Errors
    ///
    /// That of `take`, which ends the run.
    pub fn stream<E>(
        mut self,
        monitor: &Monitor,
        mut take: impl FnMut(Table) -> Result<(), E>,
    ) -> Result<Summary, E> {
        while !monitor.cancelled() && self.advance(SLICE) {
            monitor.report(self.world.progress());
            self.drain().into_iter().try_for_each(&mut take)?;
        }
        monitor.report(self.world.progress());
        let output = self.finish();
        output.tables.into_iter().try_for_each(take)?;
        Ok(output.summary)
    }

    /// Processes up to `events` events; answers whether the run goes on after them.
    pub fn advance(&mut self, events: u32) -> bool {
        self.running = self.running && self.world.advance(events);
        self.running
    }

    /// The chunks of the tables that are full and final, to be called between two
    /// [`advance`](Self::advance): each chunk is handed over once, those of a table in order. With
    /// what [`finish`](Self::finish) hands over they are the whole tables.
    pub fn drain(&mut self) -> Vec<Table> {
        self.world.drain()
    }

    /// Rows of tables that were recorded and not handed over.
    #[must_use]
    pub fn held_rows(&self) -> u64 {
        self.world.held_rows()
    }

    /// The numbers and tables of what was run; interrupted where the end was not reached.
    #[must_use]
    pub fn finish(self) -> Output {
        let random = (self.seed, self.replication);
        let (summary, tables) = self.world.finish(random, self.running, self.warnings);
        Output { summary, tables }
    }
}
