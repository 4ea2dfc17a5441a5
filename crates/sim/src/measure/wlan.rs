//! Numbers of the wireless cells of a run.

use burstlab_link::wlan::{Cell, Counts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wireless cell, from the beginning of the run, without its drain.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WlanSummary {
    /// Edge node of a mesh, or side of a path.
    pub name: String,
    /// Its stations, the base station not counted.
    pub stations: u32,
    /// Packets of the base station.
    pub down: WlanWay,
    /// Packets of the stations.
    pub up: WlanWay,
}

/// One direction over a wireless cell. Packets are conserved: offered = delivered + dropped after
/// retries + lost by the residual loss + dropped by full queues + in flight.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WlanWay {
    /// Packets handed to it, of data and of ACKs.
    pub offered: u64,
    /// Packets that reached the other side.
    pub delivered: u64,
    /// Packets that were tried too often and had not reached it.
    pub retry_dropped: u64,
    /// Packets that the residual loss of the scenario picked.
    pub residual_lost: u64,
    /// Packets dropped by a full queue.
    pub queue_dropped: u64,
    /// Packets that waited or were being sent at the end.
    pub in_flight: u64,
    /// Packets that were given up, those included that had reached the other side.
    pub given_up: u64,
    /// Data frames sent.
    pub data_frames: u64,
    /// RTS frames sent.
    pub rts_frames: u64,
    /// CTS and ACK frames sent.
    pub answers: u64,
    /// Of all these, frames that met others where they were to go.
    pub collisions: u64,
    /// Of all these, frames that were not received, without a collision.
    pub errors: u64,
    /// Data frames that the other side had already.
    pub duplicates: u64,
    /// Packets lost after retries, or by the residual loss, over these and the delivered ones.
    pub residual_loss_ratio: f64,
    /// Mean time that a delivered packet waited behind others, in s; none where none was delivered.
    pub wait_s: Option<f64>,
    /// Mean time from the head of the queue to the other side, in s; none where none was delivered.
    pub mac_delay_s: Option<f64>,
}

impl WlanSummary {
    /// That of a cell.
    pub(crate) fn of<P>(name: &str, cell: &Cell<P>) -> Self {
        let stations = 1..cell.nodes();
        let mut up = Counts::default();
        stations.clone().for_each(|node| up.add(cell.counts(node)));
        let in_flight = |node| cell.in_flight(node).count() as u64;
        Self {
            name: name.into(),
            stations: cell.nodes() - 1,
            down: WlanWay::of(cell.counts(0), in_flight(0)),
            up: WlanWay::of(&up, stations.map(in_flight).sum()),
        }
    }
}

impl WlanWay {
    fn of(counts: &Counts, in_flight: u64) -> Self {
        let lost = counts.retry_dropped + counts.residual_lost;
        let over = |many: f64, few: u64| many / few.max(1) as f64;
        let seconds =
            |ps: u128| (counts.delivered > 0).then(|| over(ps as f64 * 1e-12, counts.delivered));
        Self {
            offered: counts.offered,
            delivered: counts.delivered,
            retry_dropped: counts.retry_dropped,
            residual_lost: counts.residual_lost,
            queue_dropped: counts.queue_dropped,
            in_flight,
            given_up: counts.given_up,
            data_frames: counts.data_frames,
            rts_frames: counts.rts_frames,
            answers: counts.answers,
            collisions: counts.collisions,
            errors: counts.errors,
            duplicates: counts.duplicates,
            residual_loss_ratio: over(lost as f64, counts.delivered + lost),
            wait_s: seconds(counts.waited_ps),
            mac_delay_s: seconds(counts.served_ps),
        }
    }
}
