//! What travels: compact records, copied from link to link.

use burstlab_tcp::Ack;
use burstlab_units::Bytes;

/// A data packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataPacket {
    /// Slot of its flow, or a source of other traffic (see [`OTHER`]).
    pub(super) flow: u32,
    /// Which transmission of its segment this is, from 1; the highest number stands for all above.
    pub(super) nth: u16,
    /// Congestion window of its sender as it was sent, in segments; the highest number stands for
    /// all above.
    pub(super) cwnd: u16,
    /// Bytes on the wire.
    pub(super) size: u32,
    /// Row in the trace, or `NO_ROW`.
    pub(super) row: u32,
    pub(super) seq: u64,
}

/// Marks, in [`DataPacket::flow`], the number of a source of other traffic.
pub(super) const OTHER: u32 = 1 << 31;

impl DataPacket {
    /// Whether it belongs to other traffic.
    #[inline]
    pub(super) fn is_other(&self) -> bool {
        self.flow & OTHER != 0
    }

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
        Some((self.seq, u32::from(self.nth)))
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
