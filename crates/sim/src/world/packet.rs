//! Packets: compact records, copied from link to link.

use burstlab_tcp::{Ack, SackBlocks};
use burstlab_units::Bytes;
use serde::{Deserialize, Serialize};

use super::tie_key::TieKey;
use crate::measure::{NO_ROW, row_behind, row_goes_on};

/// The owner of a data packet: a flow, a source of cross-traffic or of batches, or a batch of which
/// packets are kept one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Owner(u32);

impl Owner {
    /// Marks the number of a source.
    const SOURCE: u32 = 1 << 31;

    /// A batch; the `seq` of its last packet is 1, and of all others 0.
    pub(super) const BATCH: Self = Self(u32::MAX);

    /// The flow in a slot.
    #[inline]
    pub(super) const fn flow(slot: u32) -> Self {
        Self(slot)
    }

    /// A source of cross-traffic or of batches.
    #[inline]
    pub(super) const fn source(number: u32) -> Self {
        Self(Self::SOURCE | number)
    }

    /// Whether it is a source or a batch, and no flow.
    #[inline]
    pub(super) const fn is_background(self) -> bool {
        self.0 & Self::SOURCE != 0
    }

    /// The slot of a flow. The number of any other owner is above all slots.
    #[inline]
    pub(super) const fn slot(self) -> u32 {
        self.0
    }

    /// The number of a flow among flows, or of a source among sources.
    #[inline]
    pub(super) const fn ordinal(self) -> u32 {
        self.0 & !Self::SOURCE
    }

    /// Its place among all owners.
    #[inline]
    pub(super) const fn place(self) -> u32 {
        self.0
    }

    /// The key of the draws of a source without a name, the `nth` of them.
    pub(super) fn unnamed_source(nth: u64) -> u64 {
        u64::from(Self::SOURCE) | nth
    }
}

/// A data packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DataPacket {
    pub(super) owner: Owner,
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

/// A congestion window as packets carry it.
#[inline]
pub(super) fn stamp(cwnd: f64) -> u16 {
    cwnd.min(f64::from(u16::MAX)) as u16
}

impl DataPacket {
    /// A segment that is sent for the first time, in a run without a trace.
    #[inline]
    pub(super) fn first(flow: u32, seq: u64, size: Bytes, cwnd: f64) -> Self {
        let (owner, size) = (Owner::flow(flow), size.get() as u32);
        Self { owner, nth: 1, cwnd: stamp(cwnd), size, row: NO_ROW, seq }
    }

    /// Slot of its flow.
    #[inline]
    pub(super) fn flow(&self) -> u32 {
        self.owner.slot()
    }

    /// Its segment, and which transmission of it this is.
    #[inline]
    pub(super) fn transmission(&self) -> (u64, u32) {
        (self.seq, u32::from(self.nth))
    }

    /// Whether it belongs to cross-traffic or to a batch.
    #[inline]
    pub(super) fn is_cross(&self) -> bool {
        self.owner.is_background()
    }

    /// Whether it belongs to a batch.
    #[inline]
    pub(super) fn is_of_batch(&self) -> bool {
        self.owner == Owner::BATCH
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
}

/// An ACK in transit to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AckPacket {
    pub(super) flow: u32,
    /// Row in the trace, or `NO_ROW`.
    pub(super) row: u32,
    pub(super) next: u64,
    /// Bytes on the wire.
    size: u32,
    /// Whether an edge node wrote it in the name of the receiver.
    pub(super) written: bool,
    /// Of a connection with options: which of the ACKs for `next` it is, from 1; else 0.
    pub(super) nth: u16,
    /// SACK blocks: where each begins above `next`, a signed number, and its length; 0: none.
    /// Written so, a packet takes half the room of its ACK, and packets of many flows are what
    /// fills the memory.
    sack: [(u32, u32); 3],
}

impl AckPacket {
    #[inline]
    pub(super) fn new(flow: u32, row: u32, ack: &Ack) -> Self {
        let near = |segments: u64| u32::try_from(segments).expect("a window has fewer than 2^32");
        let mut sack = [(0, 0); 3];
        for (packed, &(left, right)) in sack.iter_mut().zip(ack.sack.as_slice()) {
            let above = i32::try_from(left as i64 - ack.next as i64).expect("blocks are near");
            *packed = (above as u32, near(right - left));
        }
        let size = near(ack.size.get());
        Self { flow, row, next: ack.next, size, written: false, nth: 0, sack }
    }

    /// An ACK of `size` without SACK blocks, in a run without a trace.
    #[inline]
    pub(super) fn plain(flow: u32, next: u64, size: Bytes) -> Self {
        let size = size.get() as u32;
        Self { flow, row: NO_ROW, next, size, written: false, nth: 0, sack: [(0, 0); 3] }
    }

    /// The same, as the `nth` ACK for its segment.
    pub(super) fn nth(self, nth: u16) -> Self {
        Self { nth, ..self }
    }

    /// An ACK that an edge node writes in the name of the receiver.
    pub(super) fn of_edge(flow: u32, row: u32, next: u64, size: Bytes) -> Self {
        Self { row, written: true, ..Self::plain(flow, next, size) }
    }

    /// By how many segments its first SACK block is longer than that of `other`, if that is all
    /// that sets them apart, and neither is of a connection with options.
    fn longer_than(&self, other: &Self) -> Option<u64> {
        let [(above, length), behind @ ..] = self.sack;
        let [(other_above, other_length), other_behind @ ..] = other.sack;
        let alike = (self.next, self.nth, above, behind)
            == (other.next, 0, other_above, other_behind)
            && self.written == other.written;
        if alike { length.checked_sub(other_length).map(u64::from) } else { None }
    }

    /// Whether it has no SACK blocks.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.sack[0].1 == 0
    }

    #[inline]
    pub(super) fn ack(&self) -> Ack {
        let mut sack = SackBlocks::NONE;
        for &(above, length) in self.sack.iter().take_while(|&&(_, length)| length > 0) {
            let left = self.next.wrapping_add_signed(i64::from(above as i32));
            sack.push(left, left + u64::from(length));
        }
        Ack { next: self.next, sack, size: Parcel::bytes(self) }
    }
}

/// A packet of either kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Packet {
    Data(DataPacket),
    Ack(AckPacket),
}

impl Packet {
    #[inline]
    pub(super) fn owner(&self) -> Owner {
        match self {
            Self::Data(packet) => packet.owner,
            Self::Ack(packet) => Owner::flow(packet.flow),
        }
    }

    /// Slot of its flow.
    #[inline]
    pub(super) fn flow(&self) -> u32 {
        match self {
            Self::Data(packet) => packet.flow(),
            Self::Ack(packet) => packet.flow,
        }
    }

    /// The data packet, if it is one.
    #[inline]
    pub(super) fn data(&self) -> Option<&DataPacket> {
        match self {
            Self::Data(packet) => Some(packet),
            Self::Ack(_) => None,
        }
    }

    /// Whether it is this data packet.
    pub(super) fn is_data(&self, packet: &DataPacket) -> bool {
        let name = |one: &DataPacket| (one.owner, one.seq, one.nth, one.row);
        self.data().is_some_and(|own| name(own) == name(packet))
    }

    /// Row in the trace.
    pub(super) fn row(&self) -> u32 {
        match self {
            Self::Data(packet) => packet.row,
            Self::Ack(packet) => packet.row,
        }
    }

    /// Bytes on the wire.
    pub(super) fn bytes(&self) -> Bytes {
        match self {
            Self::Data(packet) => packet.bytes(),
            Self::Ack(packet) => Parcel::bytes(packet),
        }
    }
}

/// A packet that the optical network carries.
pub(super) trait Parcel: Copy {
    fn owner(&self) -> Owner;
    /// Slot of its flow.
    #[inline]
    fn flow(&self) -> u32 {
        self.owner().slot()
    }
    fn bytes(&self) -> Bytes;
    /// Sequence number and transmission of a data packet.
    fn segment(&self) -> Option<(u64, u32)>;
    /// Its segment, or the one that it asks for.
    fn number(&self) -> u64;
    /// Where it comes to its first edge node, of a host that has its links to itself.
    fn enters_at(&self) -> TieKey;
    /// Row in the trace, or `NO_ROW`.
    fn row(&self) -> u32;
    /// The same packet, its number higher by `numbers`, and so many packets behind this one.
    fn after(&self, numbers: u64, packets: u32) -> Self;
    /// By how much its number is above that of `other`, if they differ in nothing else but the
    /// row.
    fn distance(&self, other: &Self) -> Option<u64>;
    /// Whether it is so many packets behind `first` in the trace, if they are traced.
    #[inline]
    fn row_follows(&self, first: &Self, packets: u32) -> bool {
        row_goes_on(self.row(), first.row(), packets)
    }
}

impl Parcel for DataPacket {
    #[inline]
    fn owner(&self) -> Owner {
        self.owner
    }
    fn bytes(&self) -> Bytes {
        Self::bytes(self)
    }
    fn segment(&self) -> Option<(u64, u32)> {
        Some(self.transmission())
    }
    fn number(&self) -> u64 {
        self.seq
    }
    #[inline]
    fn enters_at(&self) -> TieKey {
        TieKey::DATA_UP.of(self.owner.place())
    }
    #[inline]
    fn row(&self) -> u32 {
        self.row
    }
    #[inline]
    fn after(&self, numbers: u64, packets: u32) -> Self {
        Self { seq: self.seq + numbers, row: row_behind(self.row, packets), ..*self }
    }
    #[inline]
    fn distance(&self, other: &Self) -> Option<u64> {
        let alike = self.owner == other.owner
            && (self.nth, self.cwnd, self.size) == (other.nth, other.cwnd, other.size);
        if alike { self.seq.checked_sub(other.seq) } else { None }
    }
}

impl Parcel for AckPacket {
    #[inline]
    fn owner(&self) -> Owner {
        Owner::flow(self.flow)
    }
    fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn segment(&self) -> Option<(u64, u32)> {
        None
    }
    fn number(&self) -> u64 {
        self.next
    }
    #[inline]
    fn enters_at(&self) -> TieKey {
        TieKey::ACK_UP.of(self.flow)
    }
    #[inline]
    fn row(&self) -> u32 {
        self.row
    }
    /// Of an ACK with SACK blocks the first one is longer by so many segments: such ACKs follow one
    /// another behind a gap.
    #[inline]
    fn after(&self, numbers: u64, packets: u32) -> Self {
        let mut after = Self { row: row_behind(self.row, packets), ..*self };
        match self.is_plain() {
            true => after.next += numbers,
            false => after.sack[0].1 += numbers as u32,
        }
        after
    }
    #[inline]
    fn distance(&self, other: &Self) -> Option<u64> {
        let alike = self.flow == other.flow && (self.size, self.nth) == (other.size, other.nth);
        match (alike, self.is_plain(), other.is_plain()) {
            (true, true, true) => self.next.checked_sub(other.next),
            (true, false, false) => self.longer_than(other),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_behind_a_gap_differ_in_the_length_of_their_first_block_alone() {
        let packet = |next: u64, blocks: &[(u64, u64)]| {
            let mut sack = SackBlocks::NONE;
            blocks.iter().for_each(|&(left, right)| sack.push(left, right));
            AckPacket::new(1, NO_ROW, &Ack { next, sack, size: Bytes::new(56) })
        };
        let first = packet(7, &[(12, 15), (9, 10)]);
        let later = packet(7, &[(12, 18), (9, 10)]);
        assert_eq!((later.distance(&first), first.distance(&later)), (Some(3), None));
        assert_eq!((first.after(3, 3), first.after(3, 3).ack()), (later, later.ack()));
        for other in [
            packet(8, &[(12, 18), (9, 10)]),
            packet(7, &[(11, 18), (9, 10)]),
            packet(7, &[(12, 18), (9, 11)]),
            packet(7, &[(12, 18)]),
            packet(7, &[]),
            later.nth(1),
            AckPacket { flow: 2, ..later },
            AckPacket { written: true, ..later },
        ] {
            assert_eq!((other.distance(&first), first.distance(&other)), (None, None), "{other:?}");
        }
        assert_eq!(first.nth(1).distance(&first.nth(1)), None, "each has options of its own");
        let plain = packet(7, &[]);
        let next = plain.after(2, 1);
        assert_eq!((next, next.distance(&plain)), (packet(9, &[]), Some(2)));
    }
}
