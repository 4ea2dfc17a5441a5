//! A run of a scenario, from the first event to the numbers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use burstlab_kernel::RandomSource;

use crate::checkpoint::{self, CheckpointError, Head};
use crate::measure::{Piece, StackSummary, Summary, Table, Trace};
use crate::scenario::{Interrupt, Resolved, ScenarioError, StackCrate};
use crate::take_up::take_up;
use crate::world::World;

/// Events between two looks at the monitor.
const SLICE: u32 = 1 << 14;

/// Of a stopped run, the numbers of so many flows are reported, the first that the scenario lists:
/// those of a million take ten seconds to write down.
pub const FLOWS_WHEN_STOPPED: usize = 1 << 12;

/// A view of a run from another thread: its progress, and a means to stop it.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    interrupt: Interrupt,
    shared: Arc<Shared>,
    /// Events between two looks at it, if not [`SLICE`].
    slice: Option<u32>,
    /// Rows of tables that the run may hold, if there is a limit.
    rows: Option<u64>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Bits of an `f64`.
    progress: AtomicU64,
    wanted: AtomicBool,
    /// Why a run cannot go on.
    stuck: Mutex<Option<ScenarioError>>,
    /// Looks at the monitor until the engine is to fail, and whether it is to at all.
    fails: AtomicU64,
}

impl Monitor {
    /// A monitor whose run fails at the given look at it, from 1, as by a fault of the engine: to
    /// see what becomes of one.
    #[must_use]
    pub fn failing(look: u64) -> Self {
        let monitor = Self::default();
        monitor.shared.fails.store(look, Ordering::Relaxed);
        monitor
    }

    /// The same, at which its run looks after each `events` events, at least one: to cut the run
    /// there. It changes no number.
    #[must_use]
    pub fn looked_at_each(mut self, events: u32) -> Self {
        self.slice = Some(events.max(1));
        self
    }

    /// The same, whose run ends with an error once it holds more than so many rows of tables: for
    /// who keeps them all in memory.
    #[must_use]
    pub fn holding(mut self, rows: u64) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Why the run cannot go on for the rows that it holds, if it cannot.
    fn refuses(&self, held: u64) -> Option<ScenarioError> {
        let most = self.rows.filter(|&most| held > most)?;
        let problem = format!("its tables have {held} rows, and memory is for {most}");
        let fix = "carry fewer bytes, or run for a shorter time";
        Some(ScenarioError::new("run.duration", "", problem, fix))
    }

    /// Why the run could not go on, if it could not.
    #[must_use]
    pub fn stuck(&self) -> Option<ScenarioError> {
        self.shared.stuck.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn look(&self) {
        let left = self.shared.fails.load(Ordering::Relaxed);
        assert!(left != 1, "a fault was asked for");
        self.shared.fails.store(left.saturating_sub(1), Ordering::Relaxed);
    }

    /// How much of the run is done, from 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.shared.progress.load(Ordering::Relaxed))
    }

    /// Asks the run to end soon; its results so far are kept.
    pub fn cancel(&self) {
        self.interrupt.cancel();
    }

    /// Whether nobody has asked the run to end.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.interrupt.goes_on()
    }

    /// The request of [`cancel`](Self::cancel), where no more of a monitor is needed.
    #[must_use]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Asks a run that is [kept](Simulation::advance_kept) to be so soon.
    pub fn keep(&self) {
        self.shared.wanted.store(true, Ordering::Relaxed);
    }

    /// Whether a checkpoint was asked for since the last call.
    fn takes_wish(&self) -> bool {
        self.shared.wanted.swap(false, Ordering::Relaxed)
    }

    fn report(&self, progress: f64) {
        self.shared.progress.store(progress.to_bits(), Ordering::Relaxed);
    }
}

/// The output of a run.
#[derive(Clone, Debug)]
pub struct Output {
    /// The numbers.
    pub summary: Summary,
    /// The traced tables, in chunks: a table of more than 2^18 rows comes in several, in order.
    pub tables: Vec<Table>,
}

/// A scenario that runs. A plain value: a clone goes on from the same instant.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) world: World,
    head: Head,
    pub(crate) traced: bool,
    /// Whether classes of Python take part, and third-party stacks.
    foreign: bool,
    stacks: bool,
    crates: Vec<StackSummary>,
    warnings: Vec<String>,
    pub(crate) running: bool,
}

/// Written by hand to stay in this crate: a derived clone is inlined, and the extension module then
/// holds a second copy of what clones each type of a world.
impl Clone for Simulation {
    #[inline(never)]
    fn clone(&self) -> Self {
        let Self { world, head, traced, foreign, stacks, crates, warnings, running } = self;
        Self {
            world: world.clone(),
            head: head.clone(),
            traced: *traced,
            foreign: *foreign,
            stacks: *stacks,
            crates: crates.clone(),
            warnings: warnings.clone(),
            running: *running,
        }
    }
}

impl Simulation {
    /// Replication `replication` (from 0) of a checked scenario under `seed`.
    ///
    /// # Panics
    ///
    /// Where the scenario [needs](Resolved::needs_classes) classes of Python, and has none who
    /// makes them; and the same of [stacks](Resolved::with_stacks).
    #[must_use]
    pub fn new(resolved: &Resolved, seed: u64, replication: u64, trace: Trace) -> Self {
        let foreign = resolved.needs_classes();
        assert!(!foreign || resolved.classes.is_some(), "nobody makes the classes of Python");
        let stacks = resolved.needs_stacks();
        assert!(!stacks || resolved.stacks.is_some(), "nobody makes the third-party stacks");
        let random = RandomSource::new(seed, replication);
        let world = World::new(resolved, &random, trace);
        let head = Head::new(resolved, seed, replication);
        let traced = trace != Trace::default();
        let warnings = resolved.warnings.clone();
        let crates = resolved.stack_crates().into_iter().map(summary_of).collect();
        Self { world, head, traced, foreign, stacks, crates, warnings, running: true }
    }

    /// Whether flows have a third-party stack: then it has no checkpoints, and cannot be cloned.
    #[must_use]
    pub fn has_stacks(&self) -> bool {
        self.stacks
    }

    /// The run that [`checkpoint`](Self::checkpoint) wrote as `bytes`, at the instant it was
    /// written: it goes on as if nothing had been between.
    ///
    /// # Errors
    ///
    /// Where `bytes` are cut or damaged, or of another scenario, seed, replication or version. Not
    /// compared are the seed and the number of replications that the scenario has. Where only the
    /// scenario has surgery, it is taken up, as long as none of its bursts was closed before.
    pub fn resume(
        resolved: &Resolved,
        seed: u64,
        replication: u64,
        bytes: &[u8],
    ) -> Result<Self, CheckpointError> {
        let mut fresh = Self::new(resolved, seed, replication, Trace::default());
        let (running, mut world): (bool, World) = checkpoint::read(&fresh.head, bytes)?;
        take_up(&mut world, &fresh.world)?;
        world.adopt(fresh.world).ok_or_else(|| {
            CheckpointError::damaged("it has flows that are of no entry of its scenario")
        })?;
        (fresh.world, fresh.running) = (world, running);
        Ok(fresh)
    }

    /// Whether [`resume`](Self::resume) will take `bytes`.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn check(
        resolved: &Resolved,
        seed: u64,
        replication: u64,
        bytes: &[u8],
    ) -> Result<(), CheckpointError> {
        checkpoint::checked(&Head::new(resolved, seed, replication), bytes).map(drop)
    }

    /// All that makes the run go on from here, between two [`advance`](Self::advance).
    ///
    /// # Errors
    ///
    /// Where it is traced: the rows of its tables would have to be stored with it. Where classes
    /// of Python take part, or third-party stacks, whose state nobody can store.
    pub fn checkpoint(&self) -> Result<Vec<u8>, CheckpointError> {
        if self.traced {
            return Err(CheckpointError::new(
                "a traced run has no checkpoints",
                "leave out the trace, or the checkpoints",
            ));
        }
        if self.foreign {
            return Err(CheckpointError::new(
                "a run with a class of Python has no checkpoints",
                "leave out the checkpoints, or write tcp.window_law and tcp.detector without it",
            ));
        }
        if self.stacks {
            return Err(CheckpointError::new(
                "a run whose flows have a third-party stack has no checkpoints",
                "leave out the checkpoints, or flows.stack",
            ));
        }
        Ok(checkpoint::write(&self.head, &(self.running, &self.world)))
    }

    /// The same run with `rows` rows a chunk of a table, a power of two; else 2^18. It changes no
    /// number. To be said before the first event.
    #[must_use]
    pub fn in_chunks_of(mut self, rows: u32) -> Self {
        self.world.set_chunk(rows);
        self
    }

    /// Runs to the end, or until `monitor` is cancelled, and keeps the tables in memory.
    #[must_use]
    pub fn run(mut self, monitor: &Monitor) -> Output {
        self.advance_to_end(monitor);
        self.output()
    }

    /// Processes all events, or until `monitor` is cancelled.
    pub fn advance_to_end(&mut self, monitor: &Monitor) {
        while self.goes_on(monitor) {}
    }

    /// The same, and hands the tables over to `take` piece by piece, 2^18 rows at a time as soon as
    /// they are final or nearly so. So it holds the rows that may still change, and a few chunks of
    /// each table, however long it is. The rest comes with [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// That of `take`, which ends the run.
    pub fn advance_streaming<E>(
        &mut self,
        monitor: &Monitor,
        mut take: impl FnMut(Piece) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.goes_on(monitor) {
            self.drain().into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    /// Runs like [`run`](Self::run), and hands the tables over to `take`
    /// [piece by piece](Self::advance_streaming), and what is left at the end.
    ///
    /// # Errors
    ///
    /// That of `take`, which ends the run.
    pub fn stream<E>(
        mut self,
        monitor: &Monitor,
        mut take: impl FnMut(Piece) -> Result<(), E>,
    ) -> Result<Summary, E> {
        self.advance_streaming(monitor, &mut take)?;
        let (summary, pieces) = self.finish();
        pieces.into_iter().try_for_each(take)?;
        Ok(summary)
    }

    /// Processes all events, or until `monitor` is cancelled, and calls `keep`, which may take a
    /// [checkpoint](Self::checkpoint), whenever `monitor` is [asked](Monitor::keep) for one, and at
    /// the end or where the run is cancelled.
    ///
    /// # Errors
    ///
    /// That of `keep`, which ends the run.
    pub fn advance_kept<E>(
        &mut self,
        monitor: &Monitor,
        mut keep: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        // One that was at its end is kept already.
        let mut kept = !self.running;
        // One that is cancelled while a checkpoint is taken needs no other.
        while !kept || (self.running && monitor.goes_on()) {
            let goes_on = self.goes_on(monitor);
            kept = !goes_on || monitor.takes_wish();
            if kept {
                keep(self)?;
            }
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// The output of a run of which nothing was drained.
    fn output(self) -> Output {
        let (summary, pieces) = self.finish();
        Output { summary, tables: pieces.into_iter().map(Piece::rows).collect() }
    }

    /// Processes some events, unless `monitor` was cancelled; returns whether the run goes on.
    fn goes_on(&mut self, monitor: &Monitor) -> bool {
        monitor.look();
        let events = monitor.slice.unwrap_or(SLICE);
        let goes_on = monitor.goes_on() && self.advance(events);
        monitor.report(self.world.progress());
        let asked = goes_on || self.world.has_failed();
        let too_long = monitor.refuses(self.world.held_rows());
        if let Some(stuck) = too_long.or_else(|| self.world.is_stuck().filter(|_| asked)) {
            *monitor.shared.stuck.lock().unwrap_or_else(PoisonError::into_inner) = Some(stuck);
            return false;
        }
        goes_on
    }

    /// Processes up to `events` events, and looks at the monitor; returns whether the run goes on.
    pub(crate) fn steps(&mut self, events: u32, monitor: &Monitor) -> bool {
        monitor.look();
        let goes_on = monitor.goes_on() && self.advance(events);
        monitor.report(self.world.progress());
        goes_on
    }

    /// Processes up to `events` events; returns whether the run goes on after them.
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
    pub fn finish(mut self) -> (Summary, Vec<Piece>) {
        self.conclude(&Monitor::default())
    }

    /// As [`finish`](Self::finish), and leaves unused memory to be dropped later: that takes a
    /// second where millions of bursts are in flight. If `monitor` was cancelled, somebody waits
    /// for the end: then only the numbers of [`FLOWS_WHEN_STOPPED`] flows are returned.
    #[must_use]
    pub fn conclude(&mut self, monitor: &Monitor) -> (Summary, Vec<Piece>) {
        let warnings = std::mem::take(&mut self.warnings);
        let random = (self.head.seed, self.head.replication);
        let stopped = !monitor.goes_on();
        let flows = if stopped { FLOWS_WHEN_STOPPED } else { usize::MAX };
        let (mut summary, pieces) = self.world.finish(random, self.running, flows, warnings);
        summary.stacks = std::mem::take(&mut self.crates);
        (summary, pieces)
    }
}

fn summary_of((label, of): (String, StackCrate)) -> StackSummary {
    StackSummary { label, crate_name: of.name, version: of.version, source: of.source }
}
