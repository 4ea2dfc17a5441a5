//! Packets and windows of a run, row by row.

/// A packet of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketRow {
    /// The flow.
    pub flow: u32,
    /// Whether the sender of the flow has sent it, or its receiver.
    pub from_sender: bool,
    /// Its number among those of the same host, from 0.
    pub number: u64,
    /// Its contents: `data`, `handshake`, `mtu-probe`, `control` or `ack`.
    pub carries: &'static str,
    /// Its fate: `delivered`, `lost` or `in-flight`.
    pub fate: &'static str,
    /// When it was sent, in picoseconds.
    pub sent_ps: u64,
    /// When it was delivered, in picoseconds.
    pub delivered_ps: Option<u64>,
    /// Its size on a link, in bytes.
    pub size: u32,
    /// The burst that carried it.
    pub burst: Option<u64>,
    /// Its bytes, where the run [captures](crate::Lab::capturing) them. These are a packet of IP,
    /// or what UDP carries.
    pub says: Vec<u8>,
}

/// The window of a sender after something has changed it.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowRow {
    /// The flow.
    pub flow: u32,
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The event: `ack`, `fast-retransmit` or `timeout`.
    pub event: &'static str,
    /// The window, in packets of the largest size that the path takes; `None` where the stack does
    /// not tell.
    pub cwnd: Option<f64>,
    /// The threshold of slow start, in such packets; `None` as before.
    pub ssthresh: Option<f64>,
    /// The smoothed round trip, in picoseconds; `None` before the first measurement.
    pub srtt_ps: Option<u64>,
}
