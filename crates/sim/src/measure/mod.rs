//! What a run counts always, and records when asked.

mod columns;
mod connections;
mod digest;
mod histogram;
mod ledger;
mod network;
mod recorder;
mod summary;

pub use columns::{Column, Table};
pub(crate) use connections::{ConnectionRow, Connections, Samples};
pub(crate) use digest::Digest;
pub(crate) use histogram::Histogram;
pub(crate) use ledger::{LedgerKind, LedgerRow, LedgerView, SenderState};
pub(crate) use network::{Ended, NetworkTally};
pub use recorder::Trace;
pub(crate) use recorder::{BurstRow, CwndEvent, CwndRow, NO_ROW, PacketCause, Recorder, SentRow};
pub use summary::{
    Cause, Confusion, Counters, DemandSummary, FlowSummary, HopSummary, LinkSummary,
    NetworkSummary, NodeSummary, Resolutions, RouteSummary, SizeSummary, Summary,
};
