//! The output of a run.

use std::collections::{BTreeMap, BTreeSet};

use burstlab_sim::{Column, Output, Summary, Table};

use crate::capture;
use crate::rows::{PacketRow, WindowRow};

/// A reaction of the sender, and the losses behind it: a row of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// The flow whose sender it is of.
    pub flow: u32,
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

/// The numbers and tables of a run.
#[derive(Clone, Debug)]
pub struct Run {
    output: Output,
    /// Flows that go back over the connection of the one before.
    back: BTreeSet<u32>,
}

impl Run {
    pub(crate) fn new(output: Output, back: BTreeSet<u32>) -> Self {
        Self { output, back }
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

    /// Whether each packet and each burst was delivered, lost, or in flight at the end.
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

    /// The sender's reactions to losses, in order.
    #[must_use]
    pub fn reactions(&self) -> Vec<Reaction> {
        let kinds = self.labels("ledger", "kind");
        let column = |name| self.numbers("ledger", name);
        let rows = column("flow").into_iter().zip(column("t_ps")).zip(kinds).zip(column("seq"));
        let losses = column("lost_packets").into_iter().zip(column("lost_bursts"));
        let rows = rows.zip(losses.zip(column("burst")));
        let row = |((((flow, ps), kind), packet), ((lost_packets, lost_bursts), burst))| Reaction {
            flow: flow as u32,
            at_s: ps as f64 / 1e12,
            kind,
            packet,
            lost_packets,
            lost_bursts,
            burst: (burst != u64::MAX).then_some(burst),
        };
        rows.map(row).collect()
    }

    /// Numbers of the bursts that were lost with application data in them.
    #[must_use]
    pub fn lost_bursts(&self) -> BTreeSet<u64> {
        let lost = self.lost_cargo().into_iter();
        lost.filter(|(_, carried)| carried.contains("data")).map(|(number, _)| number).collect()
    }

    /// Of these, the bursts that are behind a reaction.
    #[must_use]
    pub fn explained_bursts(&self) -> BTreeSet<u64> {
        let named: BTreeSet<u64> = self.numbers("ledger_losses", "burst").into_iter().collect();
        self.lost_bursts().intersection(&named).copied().collect()
    }

    /// Packets of senders that were lost, numbered in the order of sending from 0: of all flows
    /// together, and with data in both directions of both.
    #[must_use]
    pub fn lost_packets(&self) -> BTreeSet<u64> {
        let (kinds, fates) = (self.labels("packets", "kind"), self.labels("packets", "fate"));
        let rows = self.numbers("packets", "seq").into_iter().zip(kinds.into_iter().zip(fates));
        rows.filter(|(_, ends)| *ends == ("data", "lost")).map(|(packet, _)| packet).collect()
    }

    /// All bursts with packets of the sender that were lost, and what was in them: `data`,
    /// `handshake`, `mtu-probe`, `control` or `ack`. Of `ack` nothing is sent again, nor of a
    /// handshake that is over before its loss is noticed.
    #[must_use]
    pub fn lost_cargo(&self) -> BTreeMap<u64, BTreeSet<&'static str>> {
        let (kinds, fates) = (self.labels("packets", "kind"), self.labels("packets", "fate"));
        let carried = self.labels("packets", "carries").into_iter();
        let rows = self.numbers("packets", "burst").into_iter().zip(carried);
        let mut lost: BTreeMap<u64, BTreeSet<&'static str>> = BTreeMap::new();
        for ((burst, carried), (kind, fate)) in rows.zip(kinds.into_iter().zip(fates)) {
            if (kind, fate) == ("data", "lost") && burst != u64::MAX {
                lost.entry(burst).or_default().insert(carried);
            }
        }
        lost
    }

    /// All packets, in the order of sending. Their contents are there where the run
    /// [captures](crate::Lab::capturing) them.
    #[must_use]
    pub fn packets(&self) -> Vec<PacketRow> {
        let column = |name| self.numbers("packets", name).into_iter();
        let labels = |name| self.labels("packets", name).into_iter();
        let given = |value: u64| Some(value).filter(|&value| value != u64::MAX);
        let hosts = column("flow").zip(labels("kind")).zip(column("seq"));
        let what = labels("carries").zip(labels("fate"));
        let times = column("sent_ps").zip(column("delivered_ps"));
        let sizes = column("size_bytes").zip(column("burst"));
        let rows = hosts.zip(what).zip(times.zip(sizes));
        let row = |((((flow, kind), number), (carries, fate)), ((sent_ps, at), (size, burst)))| {
            let (delivered_ps, burst) = (given(at), given(burst));
            let (flow, size, from_sender) = (flow as u32, size as u32, kind == "data");
            let says = Vec::new();
            PacketRow {
                flow,
                from_sender,
                number,
                carries,
                fate,
                sent_ps,
                delivered_ps,
                size,
                burst,
                says,
            }
        };
        let mut packets: Vec<PacketRow> = rows.map(row).collect();
        let words = self.numbers("datagrams", "packet").into_iter();
        for (packet, word) in words.zip(self.numbers("datagrams", "bytes")) {
            packets[packet as usize].says.extend(word.to_be_bytes());
        }
        for packet in &mut packets {
            // The last word is filled. Of a host over UDP the headers are not among the bytes.
            let size = packet.size as usize;
            let is_whole = packet.says.len() >= size;
            packet.says.truncate(if is_whole {
                size
            } else {
                size.saturating_sub(capture::HEADERS)
            });
        }
        packets
    }

    /// Each change of a window, in order; none unless the run
    /// [watches](crate::Lab::watching_windows) them.
    #[must_use]
    pub fn windows(&self) -> Vec<WindowRow> {
        let known = |value: f64| Some(value).filter(|value| value.is_finite());
        let rows = self.numbers("cwnd", "flow").into_iter().zip(self.numbers("cwnd", "t_ps"));
        let windows = self.reals("cwnd", "cwnd").into_iter().zip(self.reals("cwnd", "ssthresh"));
        let rest = windows.zip(self.numbers("cwnd", "srtt_ps"));
        let rows = rows.zip(self.labels("cwnd", "event")).zip(rest);
        let row = |(((flow, at_ps), event), ((cwnd, ssthresh), srtt))| WindowRow {
            flow: flow as u32,
            at_ps,
            event,
            cwnd: known(cwnd),
            ssthresh: known(ssthresh),
            srtt_ps: Some(srtt).filter(|&srtt| srtt != u64::MAX),
        };
        rows.map(row).collect()
    }

    /// The secrets that decrypt what QUIC has sent, as lines of a key log.
    #[must_use]
    pub fn key_log(&self) -> String {
        let words = self.numbers("datagrams_keys", "bytes").into_iter();
        let bytes: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The packets as a file in the format pcapng, each when it was sent, together with the
    /// secrets. There are some where the run [captures](crate::Lab::capturing) their contents.
    #[must_use]
    pub fn capture(&self) -> Vec<u8> {
        let packets: Vec<_> =
            self.packets().into_iter().filter(|one| !one.says.is_empty()).collect();
        capture::pcapng(&packets, &self.back, &self.key_log())
    }

    fn tables(&self, name: &str) -> impl Iterator<Item = &Table> {
        self.output.tables.iter().filter(move |table| table.name == name)
    }

    fn numbers(&self, table: &str, column: &str) -> Vec<u64> {
        let found = self.tables(table).flat_map(|table| &table.columns);
        let values = found.filter(|(name, _)| *name == column).map(|(name, column)| match column {
            Column::U64(values) => values.clone(),
            Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
            Column::I64(values) => values.iter().map(|&value| value as u64).collect(),
            _ => panic!("{name} has no whole numbers"),
        });
        values.flatten().collect()
    }

    fn reals(&self, table: &str, column: &str) -> Vec<f64> {
        let found = self.tables(table).flat_map(|table| &table.columns);
        let values = found.filter(|(name, _)| *name == column).map(|(name, column)| match column {
            Column::F64(values) => values.clone(),
            _ => panic!("{name} has no real numbers"),
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
