//! What a run counts always, and records when asked.

mod columns;
mod digest;
mod ledger;
mod recorder;
mod summary;

pub use columns::{Column, Table};
pub(crate) use digest::Digest;
pub(crate) use ledger::{LedgerKind, LedgerRow, LedgerView, SenderState};
pub use recorder::Trace;
pub(crate) use recorder::{BurstRow, CwndEvent, CwndRow, PacketCause, Recorder, SentRow};
pub use summary::{Confusion, Counters, FlowSummary, Summary};
