//! The contents of packets of third-party hosts, eight bytes a row: tables have numbers alone.

use super::chunks::Chunks;
use super::columns::{Column, Piece, table};

/// Bytes of a row.
const WORD: usize = 8;

table! {
    /// One row eight bytes of a packet of third-party hosts, as it was sent.
    DatagramTable, "datagrams" {
        packet: u64 => Column::U64,
        flow: u32 => Column::U32,
        word: u32 => Column::U32,
        bytes: i64 => Column::I64,
    }
}

table! {
    /// One row for eight bytes of the key log lines, which decrypt the packets.
    SecretTable, "datagrams_keys" {
        flow: u32 => Column::U32,
        word: u64 => Column::U64,
        bytes: i64 => Column::I64,
    }
}

/// Eight bytes, the first one highest; missing ones at the end are `rest`.
fn words(bytes: &[u8], rest: u8) -> impl Iterator<Item = i64> {
    bytes.chunks(WORD).map(move |part| {
        let mut word = [rest; WORD];
        word[..part.len()].copy_from_slice(part);
        i64::from_be_bytes(word)
    })
}

/// The rows of both.
#[derive(Clone, Debug, Default)]
pub(super) struct Datagrams {
    rows: Chunks<DatagramTable>,
    secrets: Chunks<SecretTable>,
}

impl Datagrams {
    pub(super) fn set_chunk(&mut self, rows: u32) {
        self.rows.set_chunk(rows);
        self.secrets.set_chunk(rows);
    }

    /// The packet with a number among the rows of packets says this.
    pub(super) fn add(&mut self, packet: u64, flow: u32, bytes: &[u8]) {
        for (place, word) in (0..).zip(words(bytes, 0)) {
            let table = &mut self.rows.add().rows;
            table.packet.push(packet);
            table.flow.push(flow);
            table.word.push(place);
            table.bytes.push(word);
        }
    }

    /// Notes lines of a key log, filled by ends of lines.
    pub(super) fn agree(&mut self, flow: u32, lines: &str) {
        for word in words(lines.as_bytes(), b'\n') {
            let place = self.secrets.added();
            let table = &mut self.secrets.add().rows;
            table.flow.push(flow);
            table.word.push(place);
            table.bytes.push(word);
        }
    }

    pub(super) fn held(&self) -> u64 {
        self.rows.held() + self.secrets.held()
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Piece> {
        self.rows.drain(|()| true).chain(self.secrets.drain(|()| true))
    }

    pub(super) fn finish(self) -> impl Iterator<Item = Piece> {
        self.rows.finish().chain(self.secrets.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_eight_a_row_and_are_filled_at_the_end() {
        let mut datagrams = Datagrams::default();
        datagrams.add(7, 2, &[0xff, 0, 0, 0, 0, 0, 0, 1, 0x80]);
        datagrams.agree(2, "SECRET 12\n");
        let tables: Vec<_> = datagrams.finish().map(Piece::rows).collect();
        let column = |table: usize, name: &str| {
            let found = tables[table].columns.iter().find(|column| column.0 == name);
            found.map(|column| column.1.clone()).expect("there is one")
        };
        assert_eq!(column(0, "packet"), Column::U64(vec![7, 7]));
        assert_eq!(column(0, "word"), Column::U32(vec![0, 1]));
        let first = i64::from_be_bytes([0xff, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(column(0, "bytes"), Column::I64(vec![first, i64::MIN]));
        let text = [b"SECRET 1", b"2\n\n\n\n\n\n\n"].map(|word| i64::from_be_bytes(*word));
        assert_eq!(column(1, "bytes"), Column::I64(text.to_vec()));
    }
}
