//! Operations on single bursts, and the cost of a burst that was lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of an operation on a burst.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct SurgerySummary {
    /// Number of the burst; absent: every burst.
    pub burst: Option<u64>,
    /// On a path, its direction: `data` or `ack`.
    pub direction: Option<String>,
    /// `spare`, `kill`, `delay` or `convert`.
    pub operation: String,
    /// By how much later it was to land, in s.
    pub delay_s: Option<f64>,
    /// `done`; `nothing`: there was nothing to do, as the burst to be spared was not lost, that to
    /// be killed or delayed was lost by itself, that to be converted needed no other wavelength;
    /// `absent`: the run had no such burst.
    pub effect: String,
    /// To how many bursts it was done.
    pub bursts: u64,
    /// When it was done, or first done, in s.
    pub at_s: Option<f64>,
    /// Why the burst would have been lost.
    pub cause: Option<String>,
    /// Where, as in the table `bursts`.
    pub node: Option<u32>,
    /// The connections that it carried packets or ACKs of.
    pub connections: Vec<u32>,
}

/// A burst with packets of connections that was lost, or of which some was cut off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LostBurst {
    /// Its number.
    pub burst: u64,
    /// Whether it went back on a path, where it is numbered among those with ACKs.
    pub back: bool,
    /// Whether it carried ACKs alone.
    pub acks: bool,
    /// The clock when its loss, or its first cut, was certain, in ps.
    pub decided_ps: u64,
    /// Why.
    pub cause: String,
    /// Where, as in the table `bursts`.
    pub node: usize,
    /// The connections that it carried packets or ACKs of, rising.
    pub connections: Vec<u32>,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Its number.
    pub id: u32,
    /// When it began, in ps.
    pub started_ps: u64,
    /// Bytes of application data that are in order at its receiver.
    pub bytes: u64,
    /// Of a finite transfer: when all of it was there, or the end of the run, in ps; else nothing.
    pub until_ps: Option<u64>,
    /// Whether all of it was there.
    pub whole: bool,
}
