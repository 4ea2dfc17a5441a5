//! What a run counts always, and records when asked.

mod chunks;
mod columns;
mod completion;
mod connections;
mod digest;
mod histogram;
mod ledger;
mod network;
mod ops;
mod packets;
mod recorder;
mod summary;
mod wlan;

pub use columns::{Column, Piece, Table};
pub(crate) use columns::{NONE as NO_BURST, Rows};
pub(crate) use completion::{Spread, Took, Transfer, slowdowns};
pub(crate) use connections::{ConnectionRow, Connections, Samples};
pub(crate) use digest::Digest;
pub(crate) use histogram::Histogram;
pub(crate) use ledger::{LedgerKind, LedgerRow, SenderBefore, SenderState};
pub(crate) use network::{Ended, NetworkTally};
pub use ops::{OpsSummary, PairSummary, PortSummary, SwitchSummary};
pub(crate) use packets::{NO_ROW, PacketCause, SentRow};
pub use recorder::Trace;
pub(crate) use recorder::{BurstRow, CwndEvent, CwndRow, HopRow, Recorder};
pub use summary::{
    Cause, Confusion, Counters, DemandSummary, DepartedSummary, FlowSummary, HopSummary,
    LinkSummary, NetworkSummary, NodeSummary, Resolutions, RouteSummary, SizeSummary,
    SlowdownSummary, Summary,
};
pub use wlan::{WlanSummary, WlanWay};
