//! What travels: compact records, copied from link to link.

use burstlab_tcp::Ack;
use burstlab_units::Bytes;

/// A data packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataPacket {
    pub(super) flow: u32,
    /// Which transmission of its segment this is, from 1.
    pub(super) nth: u32,
    /// Bytes on the wire.
    pub(super) size: u32,
    /// Row in the trace, or `NO_ROW`.
    pub(super) row: u32,
    pub(super) seq: u64,
}

impl DataPacket {
    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
}

/// An ACK on its way back.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckPacket {
    pub(super) flow: u32,
    /// Row in the trace, or `NO_ROW`.
    pub(super) row: u32,
    pub(super) ack: Ack,
}

/// What the optical network carries.
pub(super) trait Parcel: Copy {
    fn flow(&self) -> u32;
    fn row(&self) -> u32;
    fn bytes(&self) -> Bytes;
    /// Sequence number and transmission of a data packet.
    fn segment(&self) -> Option<(u64, u32)>;
}

impl Parcel for DataPacket {
    fn flow(&self) -> u32 {
        self.flow
    }
    fn row(&self) -> u32 {
        self.row
    }
    fn bytes(&self) -> Bytes {
        Self::bytes(self)
    }
    fn segment(&self) -> Option<(u64, u32)> {
        Some((self.seq, self.nth))
    }
}

impl Parcel for AckPacket {
    fn flow(&self) -> u32 {
        self.flow
    }
    fn row(&self) -> u32 {
        self.row
    }
    fn bytes(&self) -> Bytes {
        self.ack.size
    }
    fn segment(&self) -> Option<(u64, u32)> {
        None
    }
}
