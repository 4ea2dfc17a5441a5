//! What a run leaves.

use std::collections::BTreeSet;

use burstlab_sim::{Column, Output, Summary, Table};

/// A reaction of the sender, and the losses behind it: a row of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// When, in seconds.
    pub at_s: f64,
    /// `timeout` (a probe time-out, of QUIC), `fast-retransmit` (packets of one burst are taken for
    /// lost, after ACKs) or `spurious-retransmission` (a packet that is not lost is).
    pub kind: &'static str,
    /// The first packet behind it, numbered in the order of sending from 0.
    pub packet: u64,
    /// Packets and bursts that were lost behind it.
    pub lost_packets: u64,
    /// How many bursts these were in.
    pub lost_bursts: u64,
    /// The first of these bursts.
    pub burst: Option<u64>,
}

/// Packets below this size, headers and all, carry an ACK and no data to speak of, in bytes.
const BARE: u64 = 100;

/// The numbers and tables of a run.
#[derive(Clone, Debug)]
pub struct Run {
    output: Output,
}

impl Run {
    pub(crate) fn new(output: Output) -> Self {
        Self { output }
    }

    /// The numbers, as `summary.json` of a result has them.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.output.summary
    }

    /// One word that any change of what happened changes.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.output.summary.fingerprint
    }

    /// When all that the flow carries was acknowledged, in seconds; `None` where that was not.
    #[must_use]
    pub fn acknowledged_after_s(&self) -> Option<f64> {
        self.output.summary.flows[0].acknowledged_after_s
    }

    /// Application data in order that came to the receiver, in Mb/s of the measured time.
    #[must_use]
    pub fn goodput_mbps(&self) -> f64 {
        self.output.summary.flows[0].goodput_bps / 1e6
    }

    /// Whether each packet and each burst was delivered, lost, or under way at the end.
    #[must_use]
    pub fn conserves(&self) -> bool {
        let all = &self.output.summary.counters;
        let whole = |sent: u64, ends: [u64; 3]| sent == ends.iter().sum::<u64>();
        let packets = [all.packets_delivered, all.packets_lost, all.packets_in_flight];
        let acks = [all.acks_delivered, all.acks_lost, all.acks_in_flight];
        let bursts = [all.bursts_delivered, all.bursts_lost, all.bursts_in_flight];
        whole(all.packets_sent, packets)
            && whole(all.acks_sent, acks)
            && whole(all.bursts_sent, bursts)
    }

    /// What the sender did about losses, in order.
    #[must_use]
    pub fn reactions(&self) -> Vec<Reaction> {
        let kinds = self.labels("ledger", "kind");
        let column = |name| self.numbers("ledger", name);
        let rows = column("t_ps").into_iter().zip(kinds).zip(column("seq"));
        let losses = column("lost_packets").into_iter().zip(column("lost_bursts"));
        let rows = rows.zip(losses.zip(column("burst")));
        let row = |(((ps, kind), packet), ((lost_packets, lost_bursts), burst))| Reaction {
            at_s: ps as f64 / 1e12,
            kind,
            packet,
            lost_packets,
            lost_bursts,
            burst: (burst != u64::MAX).then_some(burst),
        };
        rows.map(row).collect()
    }

    /// Numbers of the bursts of data that were lost, without those whose packets are as small as
    /// the sender's own ACKs, which nobody sends again.
    #[must_use]
    pub fn lost_bursts(&self) -> BTreeSet<u64> {
        let kinds =
            self.labels("bursts", "direction").into_iter().zip(self.labels("bursts", "cause"));
        let (packets, bytes) = (self.numbers("bursts", "packets"), self.numbers("bursts", "bytes"));
        let bare = packets.into_iter().zip(bytes).map(|(packets, bytes)| bytes < BARE * packets);
        let rows = self.numbers("bursts", "burst").into_iter().zip(kinds).zip(bare);
        rows.filter(|((_, (kind, cause)), bare)| *kind == "data" && *cause != "none" && !bare)
            .map(|((number, _), _)| number)
            .collect()
    }

    /// Numbers of the lost bursts that are behind a reaction.
    #[must_use]
    pub fn explained_bursts(&self) -> BTreeSet<u64> {
        self.numbers("ledger_losses", "burst").into_iter().filter(|&one| one != u64::MAX).collect()
    }

    fn tables(&self, name: &str) -> impl Iterator<Item = &Table> {
        self.output.tables.iter().filter(move |table| table.name == name)
    }

    fn numbers(&self, table: &str, column: &str) -> Vec<u64> {
        let found = self.tables(table).flat_map(|table| &table.columns);
        let values = found.filter(|(name, _)| *name == column).map(|(name, column)| match column {
            Column::U64(values) => values.clone(),
            Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
            _ => panic!("{name} has no whole numbers"),
        });
        values.flatten().collect()
    }

    fn labels(&self, table: &str, column: &str) -> Vec<&'static str> {
        let found = self.tables(table).flat_map(|table| &table.columns);
        let values = found.filter(|(name, _)| *name == column).map(|(name, column)| match column {
            Column::Category(codes, labels) => {
                codes.iter().map(move |&code| labels[usize::from(code)])
            }
            _ => panic!("{name} has no labels"),
        });
        values.flatten().collect()
    }
}
