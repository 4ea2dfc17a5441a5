//! The rows of packets, which change until their packet has come to its end.

use std::collections::{BTreeMap, VecDeque};

use burstlab_tcp::Ack;
use burstlab_units::Time;

use super::chunks::{Chunks, NAMES};
use super::columns::{NONE, Piece};
use super::early::{Early, Found};
use super::fates::{DELIVERED, IN_FLIGHT, LOST};
use super::packet_rows::{
    CarriedTable, OPEN, PacketCause, PacketTable, SackTable, SentRow, advertised,
};
use crate::scenario::Carries;

/// Stands for "no row": the packet is not traced.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Marks the name of a row whose packet joins no train.
const ALONE: u32 = 1 << 31;

/// The name of the row so many packets behind `row` in a train.
#[inline]
pub(crate) fn row_behind(row: u32, packets: u32) -> u32 {
    if row >= ALONE { row } else { row.wrapping_add(packets) & NAMES as u32 }
}

/// Whether a packet with this row may lie so many packets behind one with the row `first`. Of a
/// packet that is not traced the row is no hindrance.
#[inline]
pub(crate) fn row_goes_on(row: u32, first: u32, packets: u32) -> bool {
    row == NO_ROW || row < ALONE && row == row_behind(first, packets)
}

/// The rows of a train: the name of the first, and how many they are.
pub(crate) type TrainRows = (u32, u32);

/// The rows of packets.
///
/// A row is final when its packet is delivered or lost, its burst is closed and, of data, an ACK
/// covers its segment, whichever transmission of it got through. SACK blocks are in a table of
/// their own, as few ACKs have any: `packet` is the number of the ACK's row, from 0. So are ACKs on
/// data packets, where there are any.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    /// The mark counts the rows that are not final.
    rows: Chunks<PacketTable, u32>,
    sacks: Chunks<SackTable>,
    carried: Chunks<CarriedTable>,
    unacked: Unacked,
    /// Where rows may come ahead of the clock.
    early: Option<Box<Early>>,
}

impl Packets {
    pub(super) fn set_chunk(&mut self, rows: u32) {
        self.rows.set_chunk(rows);
        self.sacks.set_chunk(rows);
        self.carried.set_chunk(rows);
        self.early.iter_mut().for_each(|early| early.set_chunk(rows));
    }

    /// The same, with rows that come ahead of the clock.
    pub(super) fn ahead(&mut self) {
        self.early = Some(Box::new(Early::new(1 << 18)));
    }

    /// A packet is handed to its access link in this turn of an instant; returns the name of its
    /// row.
    pub(super) fn sent(&mut self, (now, turn): (Time, u32), flow: u32, packet: &SentRow) -> u32 {
        let row = match &mut self.early {
            None => {
                if let SentRow::Ack(ack, _) = packet {
                    self.selective(self.rows.added(), flow, ack);
                }
                let chunk = self.rows.add();
                chunk.mark += 1;
                chunk.rows.push(now, flow, packet);
                ALONE | self.rows.last()
            }
            Some(early) => {
                let (row, table) = early.add(now, turn);
                table.push(now, flow, packet);
                if let SentRow::Ack(ack, _) = packet {
                    ack.sack.as_slice().iter().for_each(|&block| early.selects(flow, block));
                }
                row
            }
        };
        if let SentRow::Data(t, _) = packet {
            self.unacked.add(flow, t.seq, row);
        }
        row
    }

    /// The row with this name.
    #[inline]
    fn at(&mut self, row: u32) -> Found<'_> {
        find(&mut self.rows, &mut self.early, row)
    }

    /// The threshold of the sender as it sent the packets in these rows, where that is known late.
    pub(super) fn below(&mut self, (row, count): TrainRows, ssthresh: f64) {
        for number in 0..count {
            let (table, place, _) = self.at(row_behind(row, number));
            table.ssthresh[place] = ssthresh;
        }
    }

    /// The data packet whose row came last carries an ACK for `flow`, which advertises `window`.
    pub(super) fn carries(&mut self, flow: u32, ack: &Ack, window: Option<u32>) {
        assert!(self.early.is_none(), "a host with data both ways goes by the clock");
        let (chunk, place) = self.rows.at(self.rows.last());
        chunk.rows.window_bytes[place] = advertised(window);
        let packet = self.rows.added() - 1;
        self.selective(packet, flow, ack);
        let table = &mut self.carried.add().rows;
        table.packet.push(packet);
        table.flow.push(flow);
        table.seq.push(ack.next as i64 - 1);
    }

    /// Notes the SACK blocks of an ACK that goes with row `packet`.
    fn selective(&mut self, packet: u64, flow: u32, ack: &Ack) {
        for &(left, right) in ack.sack.as_slice() {
            self.sacks.add().rows.push(packet, flow, (left, right));
        }
    }

    /// The packet of `row` reaches the edge and joins a burst, which is open.
    #[inline]
    pub(super) fn joined(&mut self, row: u32, now: Time) {
        let (table, place, _) = self.at(row);
        table.ingress_ps[place] = now.as_ps();
        table.burst[place] = OPEN;
    }

    /// The packet of `row` reaches the edge.
    pub(super) fn reached(&mut self, row: u32, now: Time) {
        let (table, place, _) = self.at(row);
        table.ingress_ps[place] = now.as_ps();
    }

    /// The burst that the packet of `row` has joined is closed, and has this label.
    #[inline]
    pub(super) fn in_burst(&mut self, row: u32, label: u64) {
        let (table, place, mark) = self.at(row);
        table.burst[place] = label;
        settle((table, place, mark));
    }

    /// The burst that carries the packet of `row` leaves the ingress.
    #[inline]
    pub(super) fn departed(&mut self, row: u32, at: Time) {
        let (table, place, _) = self.at(row);
        table.departed_ps[place] = at.as_ps();
    }

    /// The packet of `row` leaves its edge in slot `number`; of several, the last one counts.
    pub(super) fn departed_in(&mut self, row: u32, at: Time, number: u64) {
        let (table, place, _) = self.at(row);
        table.departed_ps[place] = at.as_ps();
        table.burst[place] = number;
    }

    /// The packet of `row` leaves the optical network at the far edge.
    #[inline]
    pub(super) fn crossed(&mut self, row: u32, at: Time) {
        let (table, place, _) = self.at(row);
        table.egress_ps[place] = at.as_ps();
    }

    /// The packet of `row` reaches the host it was sent to.
    #[inline]
    pub(super) fn delivered(&mut self, row: u32, now: Time) {
        self.ended(row, DELIVERED, 0, now.as_ps());
    }

    /// The packet of `row` is lost.
    pub(super) fn lost(&mut self, row: u32, cause: PacketCause) {
        self.ended(row, LOST, cause as u8, NONE);
    }

    #[inline]
    fn ended(&mut self, row: u32, fate: u8, cause: u8, delivered_ps: u64) {
        let (table, place, mark) = self.at(row);
        assert_eq!(table.fate[place], IN_FLIGHT, "a packet comes to one end");
        table.fate[place] = fate;
        table.cause[place] = cause;
        table.delivered_ps[place] = delivered_ps;
        settle((table, place, mark));
    }

    /// An ACK covers all segments of `flow` below `next`.
    pub(super) fn acked(&mut self, flow: u32, now: Time, next: u64) {
        let Self { rows, early, unacked, .. } = self;
        unacked.take_below(flow, next, |row| {
            let (table, place, mark) = find(rows, early, row);
            table.acked_ps[place] = now.as_ps();
            settle((table, place, mark));
        });
    }

    /// Rows that were ever added.
    pub(super) fn added(&self) -> u64 {
        self.rows.added()
    }

    /// Rows that were not handed over.
    pub(super) fn held(&self) -> u64 {
        let early = self.early.as_ref().map_or(0, |early| early.held());
        early + self.rows.held() + self.sacks.held() + self.carried.held()
    }

    /// Hands over the chunks whose rows are final, and early those that wait for a few rows: a flow
    /// that waits a minute for its timer must not hold up what all others send meanwhile.
    pub(super) fn drain(&mut self, now: Time) -> impl Iterator<Item = Piece> {
        if let Some(early) = &mut self.early {
            early.drain(now, &mut self.rows, &mut self.sacks);
        }
        let done: Vec<Piece> = self.rows.drain(|&open| open == 0).collect();
        let early = self.rows.thin(|&open| open as usize, PacketTable::is_final);
        if let Some(early) = &mut self.early {
            early.forget(&self.rows);
        }
        let carried = self.carried.drain(|()| true);
        done.into_iter().chain(early).chain(self.sacks.drain(|()| true)).chain(carried)
    }

    /// A stack has put this into the packet of `row`.
    pub(super) fn loaded(&mut self, row: u32, carries: Carries) {
        let (table, place, _) = self.at(row);
        table.carries[place] = carries as u8;
    }

    /// Hands over what is left.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Piece> {
        if let Some(early) = &mut self.early {
            early.settle(u64::MAX, &mut self.rows, &mut self.sacks);
        }
        let carried = (self.carried.added() > 0).then(|| self.carried.finish());
        self.rows.finish().chain(self.sacks.finish()).chain(carried.into_iter().flatten())
    }
}

/// The row with this name.
#[inline]
fn find<'a>(
    rows: &'a mut Chunks<PacketTable, u32>,
    early: &'a mut Option<Box<Early>>,
    row: u32,
) -> Found<'a> {
    match early {
        None => {
            let (chunk, place) = rows.at(row);
            (&mut chunk.rows, place, Some(&mut chunk.mark))
        }
        Some(early) => early.at(row, rows),
    }
}

/// A row has changed: counts it, if it is final now.
#[inline]
fn settle((table, place, mark): Found<'_>) {
    if let Some(open) = mark {
        *open -= u32::from(table.is_final(place));
    }
}

/// Rows of data packets that no ACK covers yet, by flow: sequence number and row, rising.
#[derive(Clone, Debug, Default)]
struct Unacked(BTreeMap<u32, VecDeque<(u64, u32)>>);

impl Unacked {
    fn add(&mut self, flow: u32, seq: u64, row: u32) {
        let waiting = self.0.entry(flow).or_default();
        if waiting.back().is_none_or(|&(last, _)| last <= seq) {
            waiting.push_back((seq, row));
        } else {
            let place = waiting.partition_point(|&(other, _)| other <= seq);
            waiting.insert(place, (seq, row));
        }
    }

    /// Takes out the rows of `flow` with a sequence number below `next`.
    fn take_below(&mut self, flow: u32, next: u64, mut take: impl FnMut(u32)) {
        let Some(waiting) = self.0.get_mut(&flow) else { return };
        while let Some(&(seq, row)) = waiting.front()
            && seq < next
        {
            waiting.pop_front();
            take(row);
        }
        // Flows come and go; those that have gone must not fill the memory.
        if waiting.is_empty() {
            self.0.remove(&flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use burstlab_tcp::{SackBlocks, SegmentFlags, Transmission};
    use burstlab_units::Bytes;

    use super::super::columns::Column;
    use super::*;

    fn data(seq: u64) -> Transmission {
        let size = Bytes::new(1000);
        let flags = SegmentFlags::default();
        Transmission { seq, size, retransmission: false, cwnd: 4.0, ssthresh: 8.0, flags }
    }

    fn ack(next: u64, blocks: &[(u64, u64)]) -> Ack {
        let mut sack = SackBlocks::NONE;
        blocks.iter().for_each(|&(left, right)| sack.push(left, right));
        Ack { next, sack, size: Bytes::new(40) }
    }

    fn sent(packets: &mut Packets, flow: u32, seq: u64) -> u32 {
        packets.sent((Time::from_ps(1), 0), flow, &SentRow::Data(&data(seq), 1))
    }

    #[test]
    fn a_row_is_final_when_its_packet_has_ended_and_its_segment_is_acknowledged() {
        let mut packets = Packets::default();
        packets.set_chunk(4);
        let at = Time::from_ps;
        let first = sent(&mut packets, 7, 0);
        let lost = sent(&mut packets, 7, 1);
        let ack = packets.sent((at(2), 0), 7, &SentRow::Ack(&ack(1, &[(2, 4)]), None));
        let again = sent(&mut packets, 7, 1);
        packets.lost(lost, PacketCause::Burst);
        packets.delivered(ack, at(4));
        packets.delivered(first, at(3));
        packets.acked(7, at(4), 1);
        assert_eq!(
            packets.drain(Time::MAX).count(),
            0,
            "one transmission was lost, one is in flight"
        );
        packets.acked(7, at(6), 2);
        assert_eq!(packets.drain(Time::MAX).count(), 0, "the other may still arrive");
        packets.delivered(again, at(7));
        let mut pieces = packets.drain(Time::MAX);
        let chunk = pieces.next().expect("all rows are final");
        assert!(pieces.next().is_none(), "the table of SACK blocks is not full");
        let acked = chunk.rows().columns.into_iter().find(|column| column.0 == "acked_ps");
        let expected = Column::U64(vec![4, 6, NONE, 6]);
        assert_eq!(acked.map(|column| column.1), Some(expected), "both transmissions are covered");
    }

    #[test]
    fn a_packet_that_a_script_loses_waits_for_the_label_of_its_burst() {
        let mut packets = Packets::default();
        packets.set_chunk(1);
        let (row, at) = (sent(&mut packets, 7, 0), Time::from_ps);
        packets.joined(row, at(2));
        packets.lost(row, PacketCause::Scripted);
        packets.acked(7, at(5), 1);
        assert_eq!(
            packets.drain(Time::MAX).count(),
            0,
            "another copy got through, and the burst is open"
        );
        packets.in_burst(row, 4);
        let chunk = packets.drain(Time::MAX).next().expect("the row is final");
        let burst = chunk.rows().columns.into_iter().find(|column| column.0 == "burst");
        assert_eq!(burst.map(|column| column.1), Some(Column::U64(vec![4])));
    }

    #[test]
    fn sack_blocks_name_the_row_of_their_ack() {
        let mut packets = Packets::default();
        let at = Time::from_ps;
        sent(&mut packets, 7, 1);
        packets.sent((at(2), 0), 7, &SentRow::Ack(&ack(1, &[(5, 6), (2, 4)]), None));
        packets.sent((at(3), 0), 7, &SentRow::Ack(&ack(6, &[]), Some(5)));
        packets.sent((at(4), 0), 9, &SentRow::Ack(&ack(6, &[(8, 9)]), None));
        let tables: Vec<_> = packets.finish().map(Piece::rows).collect();
        assert_eq!(
            tables.iter().map(|table| table.name).collect::<Vec<_>>(),
            ["packets", "packets_sack"]
        );
        let columns: Vec<_> = tables[1].columns.iter().map(|column| &column.1).collect();
        assert_eq!(columns[0], &Column::U64(vec![1, 1, 3]));
        assert_eq!(columns[2], &Column::U64(vec![5, 2, 8]));
        assert_eq!(columns[3], &Column::U64(vec![6, 4, 9]));
        let windows = tables[0].columns.iter().find(|column| column.0 == "window_bytes");
        let expected = Column::U64(vec![NONE, NONE, 5, NONE]);
        assert_eq!(windows.map(|column| &column.1), Some(&expected));
    }

    #[test]
    fn data_that_carries_an_ack_tells_the_window_of_that() {
        let mut packets = Packets::default();
        sent(&mut packets, 7, 1);
        sent(&mut packets, 7, 2);
        packets.carries(8, &ack(4, &[]), Some(70_000));
        sent(&mut packets, 7, 3);
        packets.carries(8, &ack(5, &[]), None);
        let tables: Vec<_> = packets.finish().map(Piece::rows).collect();
        let windows = tables[0].columns.iter().find(|column| column.0 == "window_bytes");
        let expected = Column::U64(vec![NONE, 70_000, NONE]);
        assert_eq!(windows.map(|column| &column.1), Some(&expected));
    }

    #[test]
    fn what_nobody_acknowledges_is_final_when_it_has_ended() {
        let mut packets = Packets::default();
        packets.set_chunk(2);
        let first = packets.sent((Time::from_ps(1), 0), 0, &SentRow::Other(0, Bytes::new(500)));
        let second = packets.sent((Time::from_ps(2), 0), 0, &SentRow::Other(1, Bytes::new(500)));
        packets.crossed(first, Time::from_ps(5));
        packets.delivered(first, Time::from_ps(5));
        assert_eq!(packets.drain(Time::MAX).count(), 0, "one is in flight");
        packets.lost(second, PacketCause::Burst);
        assert_eq!(packets.drain(Time::MAX).count(), 1);
    }

    #[test]
    fn flows_that_have_gone_leave_nothing() {
        let mut packets = Packets::default();
        for flow in 0..100 {
            for seq in [5, 6, 7, 6, 5] {
                sent(&mut packets, flow, seq);
            }
            packets.acked(flow, Time::from_ps(2), 7);
            assert_eq!(packets.unacked.0[&flow].len(), 1);
            packets.acked(flow, Time::from_ps(3), 8);
        }
        assert!(packets.unacked.0.is_empty());
    }
}
