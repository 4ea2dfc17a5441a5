//! The world that runs scenarios, and its measures. The only place where TCP, optics, links and the
//! event queue meet.

mod batches;
mod by_number;
mod checkpoint;
mod measure;
mod needs;
mod parting;
mod run;
mod slab;
mod take_up;
mod world;

pub use burstlab_scenario as scenario;
pub use burstlab_scenario::topology;
pub use burstlab_traffic as traffic;

pub use batches::sequence;
pub use burstlab_tcp::{
    Classes, Decision, Discriminator, ForeignLaw, Moment, PythonClass, Round, Tallied, Verdict,
};
pub use burstlab_units::{Span, Time};
pub use checkpoint::CheckpointError;
pub use measure::{
    AckPacingSummary, BurstSummary, Cause, ClassSummary, Column, Confusion, Counters,
    DemandSummary, DepartedSummary, FlowSummary, HopSummary, LinkBursts, LinkClass, LinkSummary,
    LostBurst, MeasuredSlots, NetworkSummary, NodeLosses, NodeSummary, OpsSummary, PairSummary,
    Piece, PortSummary, Progress, Reductions, Resolutions, RouteSummary, RunBytes, SizeSummary,
    SlotSummary, SlowdownSummary, SpeedSummary, StackSummary, Summary, SurgerySummary,
    SwitchSummary, Table, Trace, WlanSummary, WlanWay, summary_schema,
};
pub use needs::{Need, Needs};
pub use parting::{Branches, NoBranch, Price, Prices};
pub use run::{FLOWS_WHEN_STOPPED, Monitor, Output, Simulation};
