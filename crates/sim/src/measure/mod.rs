//! The counts that every run has, and the tables that a run records when asked.

mod ack_pacing;
mod burst_rows;
mod bursts;
mod chunks;
mod columns;
mod completion;
mod connections;
mod datagrams;
mod digest;
mod early;
mod fates;
mod histogram;
mod ledger;
pub(crate) mod loss;
mod mesh_summary;
mod network;
mod occupancy;
mod ops;
mod ordered;
mod packet_rows;
mod packets;
mod rates;
mod recorder;
mod schema;
mod speed;
mod summary;
mod surgery;
mod windows;
mod wlan;

pub use ack_pacing::AckPacingSummary;
pub(crate) use burst_rows::BurstRow;
pub(crate) use bursts::counts_all_pairs;
pub(crate) use columns::Rows;
pub use columns::{Column, Piece, Table};
pub(crate) use completion::{Spread, Took, Transfer, slowdowns};
pub(crate) use connections::{ConnectionRow, Connections, Samples};
pub(crate) use digest::Digest;
pub(crate) use histogram::Histogram;
pub(crate) use ledger::{LedgerKind, LedgerRow, SenderBefore, SenderState};
pub use mesh_summary::{
    BurstSummary, Cause, ClassSummary, HopSummary, LinkBursts, LinkClass, LinkSummary,
    NetworkSummary, NodeLosses, NodeSummary, Resolutions, RouteSummary, RunBytes, SizeSummary,
};
pub(crate) use network::{Ended, Extent, NetworkTally, Sort};
pub(crate) use occupancy::{Occupancy, Waiting};
pub use ops::{MeasuredSlots, OpsSummary, PairSummary, PortSummary, SlotSummary, SwitchSummary};
pub(crate) use packet_rows::{PacketCause, SentRow};
pub(crate) use packets::{NO_ROW, row_behind, row_goes_on};
pub(crate) use rates::{RateEvent, RateRow};
pub use recorder::Trace;
pub(crate) use recorder::{HopRow, Recorder, Step, StepRow};
pub use schema::summary_schema;
pub use speed::SpeedSummary;
pub use summary::{
    Confusion, Counters, DemandSummary, DepartedSummary, FlowSummary, Reductions, SlowdownSummary,
    StackSummary, Summary,
};
pub use surgery::{LostBurst, Progress, SurgerySummary};
pub(crate) use windows::{CwndEvent, CwndRow, SenderNow};
pub use wlan::{WlanSummary, WlanWay};
