//! A network for the tests of a transport: optical, with losses of whole bursts, spells of loss,
//! outages, contention and reordering by deflection, in virtual time and with the same result each
//! time. A stack without sockets takes part as two [`Host`]s, in a test of a few lines:
//!
//! ```
//! use burstlab_net::Lab;
//! use burstlab_stacks::AllStacks;
//!
//! let lab = Lab::path().losing(0.05).carrying(1_000_000);
//! let run = lab.run(AllStacks::shared(), "quinn", Some("cubic")).expect("the scenario is sound");
//! assert!(run.acknowledged_after_s().expect("it ends") < 10.0);
//! ```
//!
//! A [`Lab`] is a scenario of Burstlab with one flow; [`Lab::of`] takes any other. The output of a
//! run is a [`Run`]: its numbers, and the ledger. The ledger leads each reaction of the sender back
//! to the burst that was lost, or to none.

mod capture;
mod rows;
mod run;

use std::fmt;
use std::sync::Arc;

use burstlab_sim::scenario::{Resolved, Scenario};
use burstlab_sim::{Monitor, Simulation, Trace};
use serde_json::{Value, json};

pub use burstlab_sim::scenario::{
    Back, Cargo, Carries, Connection, Ecn, Ending, Host, HostEvent, HostState, Packet,
    ScenarioError, Stacks,
};
pub use burstlab_units::{Bytes, Span, Time};
pub use rows::{PacketRow, WindowRow};
pub use run::{Reaction, Run};

/// A network, and a flow over it.
#[derive(Clone, Debug)]
pub struct Lab {
    scenario: Value,
    seed: u64,
    windows: bool,
    captures: bool,
}

impl Lab {
    /// A path of two core nodes: 40 Mb/s, 20 ms from end to end and back, bursts of what comes
    /// within 1 ms. Nothing is lost.
    #[must_use]
    pub fn path() -> Self {
        Self::known(include_str!("path.toml"))
    }

    /// NSFNET with four wavelengths a fibre and background bursts. A burst of either kind is lost
    /// where no wavelength is free (from the first of its nodes to the last).
    #[must_use]
    pub fn nsfnet() -> Self {
        Self::known(include_str!("nsfnet.toml"))
    }

    /// NSFNET where a blocked burst takes another path, and packets overtake each other.
    #[must_use]
    pub fn reordering() -> Self {
        Self::known(include_str!("nsfnet.toml"))
            .with("core.contention", json!(["deflection"]))
            .with("core.deflection.hop_limit", json!(6))
    }

    /// A scenario of Burstlab, as TOML.
    ///
    /// # Errors
    /// Where it is no TOML. Its contents are checked when it is [run](Self::run).
    pub fn of(text: &str) -> Result<Self, ScenarioError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            ScenarioError::new("", "", error.message(), "write a scenario in TOML")
        })?;
        let scenario = serde_json::to_value(table).expect("a table of TOML is one of JSON");
        Ok(Self { scenario, seed: 1, windows: false, captures: false })
    }

    fn known(text: &str) -> Self {
        Self::of(text).expect("the networks of this crate are TOML")
    }

    /// The same where the field at a path such as `edge.timer` is `value`. It is checked when the
    /// scenario is [run](Self::run).
    #[must_use]
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        let mut place = &mut self.scenario;
        for key in path.split('.') {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[key];
        }
        *place = value.into();
        self
    }

    /// The same where each burst of data is lost with this chance, 0 to 1.
    #[must_use]
    pub fn losing(self, chance: f64) -> Self {
        self.with("loss.data", json!({"process": "bernoulli", "probability": chance}))
    }

    /// The same where bursts of data are lost in spells (Gilbert and Elliott): a spell begins
    /// before a burst with chance `begins` and ends with chance `ends`; in it every burst is lost.
    /// It is counted in bursts, and does not end while nothing is sent.
    #[must_use]
    pub fn losing_in_spells(self, begins: f64, ends: f64) -> Self {
        let spells = json!({
            "process": "gilbert-elliott", "good_to_bad": begins, "bad_to_good": ends,
        });
        self.with("loss.data", spells)
    }

    /// The same with outages: every burst of data is lost that is closed in a down spell. Up and
    /// down spells take turns on a clock; both are exponentially distributed with these means, such
    /// as "10 s" and "100 ms".
    #[must_use]
    pub fn losing_in_outages(self, mean_up: &str, mean_down: &str) -> Self {
        let outages = json!({"process": "outages", "mean_up": mean_up, "mean_down": mean_down});
        self.with("loss.data", outages)
    }

    /// The same where these bursts of data are lost, counted from 1. A sender that hears nothing
    /// sends ever less, so that many bursts take long.
    #[must_use]
    pub fn losing_bursts(self, bursts: std::ops::RangeInclusive<u64>) -> Self {
        let bursts: Vec<u64> = bursts.collect();
        self.with("loss.data", json!({"process": "script", "bursts": bursts}))
    }

    /// The same where the flow carries so many bytes, and the run ends with it.
    #[must_use]
    pub fn carrying(self, bytes: u64) -> Self {
        self.with("flows", json!([{"bytes": format!("{bytes} B")}]))
    }

    /// The same for so many seconds at most.
    #[must_use]
    pub fn lasting(self, seconds: f64) -> Self {
        self.with("run.duration", format!("{seconds} s"))
    }

    /// The same with another seed, from which all chances follow.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same where the run keeps each change of a window, for [`Run::windows`].
    #[must_use]
    pub fn watching_windows(mut self) -> Self {
        self.windows = true;
        self
    }

    /// The same where the run keeps the bytes of each packet, for [`Run::packets`] and
    /// [`Run::capture`].
    #[must_use]
    pub fn capturing(mut self) -> Self {
        self.captures = true;
        self
    }

    /// Runs the first flow over a stack, with a congestion control of it, or that which it uses by
    /// itself; all others as the scenario has them.
    ///
    /// # Errors
    /// The mistake in the scenario, or that of a host that never stops sending; and where a run is
    /// so long that its tables have no room in memory.
    pub fn run(
        &self,
        stacks: Arc<dyn Stacks>,
        stack: &str,
        control: Option<&str>,
    ) -> Result<Run, ScenarioError> {
        let mut scenario = self.scenario.clone();
        let flow = &mut scenario["flows"][0];
        flow["stack"] = json!(stack);
        if let Some(control) = control {
            flow["congestion_control"] = json!(control);
        }
        let resolved = Scenario::from_json(&scenario.to_string())?.resolve()?;
        self.simulate(&resolved.with_stacks(Some(stacks))?)
    }

    /// As [`run`](Self::run), with hosts of your own: the sender of a connection, which opens it,
    /// and its receiver.
    ///
    /// # Errors
    /// As there.
    pub fn run_hosts<F>(&self, hosts: F) -> Result<Run, ScenarioError>
    where
        F: Fn(&Connection) -> [Box<dyn Host>; 2] + Send + Sync + 'static,
    {
        self.run(Arc::new(Own(hosts)), OWN, None)
    }

    /// Runs the flow over our own TCP, of the scenario's `[tcp]`.
    ///
    /// # Errors
    /// The mistake in the scenario.
    pub fn run_tcp(&self) -> Result<Run, ScenarioError> {
        let resolved = Scenario::from_json(&self.scenario.to_string())?.resolve()?;
        self.simulate(&resolved)
    }

    fn simulate(&self, resolved: &Resolved) -> Result<Run, ScenarioError> {
        let (cwnd, datagrams) = (self.windows, self.captures);
        let always = Trace { packets: true, bursts: true, ledger: true, ..Trace::default() };
        let trace = Trace { cwnd, datagrams, ..always };
        let monitor = Monitor::default().holding(MOST_ROWS);
        let output = Simulation::new(resolved, self.seed, 0, trace).run(&monitor);
        let entries = resolved.scenario.flows().iter();
        let each = entries.flat_map(|one| (0..one.count).map(|_| one.reverse.is_some()));
        let flows = each.flat_map(|both| [Some(false), both.then_some(true)]);
        let flows = flows.flatten().zip(0..);
        let back = flows.filter(|(back, _)| *back).map(|(_, flow)| flow).collect();
        monitor.stuck().map_or_else(|| Ok(Run::new(output, back)), Err)
    }
}

/// Rows of tables that a run may keep in memory: some 400 MB.
const MOST_ROWS: u64 = 1 << 22;

/// The name of hosts that a test brings along.
const OWN: &str = "own";

struct Own<F>(F);

impl<F> fmt::Debug for Own<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

impl<F: Fn(&Connection) -> [Box<dyn Host>; 2] + Send + Sync> Stacks for Own<F> {
    fn names(&self) -> Vec<&str> {
        vec![OWN]
    }

    fn congestion_controls(&self, _stack: &str) -> Vec<&str> {
        Vec::new()
    }

    fn streams(&self, _stack: &str) -> u32 {
        u32::MAX
    }

    fn has_ecn(&self, _stack: &str) -> bool {
        true
    }

    fn hosts(&self, connection: &Connection) -> [Box<dyn Host>; 2] {
        (self.0)(connection)
    }
}
