//! A recorded connection of Linux played again to a [`Receiver`]: the segments that came arrive at
//! their times, and what it acknowledges, when, and with which blocks and window is compared.

use std::collections::{BTreeMap, VecDeque};

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

use super::{FIN, SYN, TOLERANCE, time};
use crate::config::{Config, Overrides};
use crate::lengths::SegmentLengths;
use crate::receive::Receiver;
use crate::receive::linux::FullAck;
use crate::segment::{SegmentFlags, SegmentOptions};

/// TCP's flags.
const PSH: u32 = 8;
const CWR: u32 = 128;

/// A recorded connection to replay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiverCase {
    /// The endpoint.
    pub tcp: Overrides,
    /// How long a full segment takes on the receiver's link, in ns: so much before the first one
    /// the handshake ended.
    pub segment_ns: u64,
}

/// How it went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReceiverOutcome {
    /// Whether all ACKs agree: number, blocks, and within 1 ms.
    #[serde(rename = "match")]
    pub matches: bool,
    /// ACKs that were recorded, and those that agree before the first that does not.
    pub rows: usize,
    #[allow(missing_docs)]
    pub rows_equal: usize,
    /// Of these, those whose window agrees too.
    pub windows_equal: usize,
    /// Where the two part first.
    pub first_difference: Option<String>,
}

/// An ACK, in bytes as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    at: Time,
    ack: u64,
    window: u64,
    blocks: String,
}

/// A transmission in flight.
#[derive(Clone, Copy)]
struct Sent {
    options: SegmentOptions,
}

struct ReceiverPlayer {
    receiver: Receiver,
    lengths: SegmentLengths,
    /// The SYN, until it is answered.
    syn: Option<SegmentOptions>,
    /// When the last segment came.
    arrived: Time,
    /// By how much the clock of time stamps is ahead of a tick.
    phase: Span,
    /// By first byte, the transmissions in flight in order.
    sent: BTreeMap<u64, VecDeque<Sent>>,
    /// ACKs in flight: their rows without the time, and the time in ms.
    acks: VecDeque<(String, u32)>,
    heard: u32,
    theirs: Vec<Row>,
    ours: Vec<Row>,
    out: Vec<FullAck>,
    /// The end of the last data, where that is no whole segment.
    end: u64,
    /// One past the FIN, which goes with the last data.
    fin: Option<u64>,
}

/// Plays the segments of `trace` to the receiver of `case`.
///
/// # Errors
/// A row that cannot be read, or parameters that make no endpoint.
pub fn replay_receiver(case: &ReceiverCase, trace: &str) -> Result<ReceiverOutcome, String> {
    let config = Config::resolve(&case.tcp).map_err(|error| error.to_string())?;
    let mut player = ReceiverPlayer {
        receiver: Receiver::new(&config),
        lengths: SegmentLengths::new(config.segment_size.get() - config.headers().get()),
        syn: None,
        arrived: Time::ZERO,
        phase: config.rto_clock_phase,
        sent: BTreeMap::new(),
        acks: VecDeque::new(),
        heard: 0,
        theirs: Vec::new(),
        ours: Vec::new(),
        out: Vec::new(),
        end: 0,
        fin: None,
    };
    let mut opened = false;
    for (number, line) in trace.lines().enumerate() {
        let columns: Vec<&str> = line.split(',').collect();
        if columns[0] == "R" && !std::mem::replace(&mut opened, true) {
            let at = columns.get(1).and_then(|text| time(text)).unwrap_or(Time::ZERO);
            let at = at.as_ps().saturating_sub(case.segment_ns * 1_000);
            player.receiver.on_handshake(Time::from_ps(at));
        }
        let read = player.take(&columns);
        read.ok_or_else(|| format!("line {}: {line:?} is no row of a recording", number + 1))?;
    }
    // Its last ACK may wait for a timer.
    let last = player.theirs.last().map_or(Time::ZERO, |row| row.at);
    player.run_timers(last + TOLERANCE);
    Ok(player.judge())
}

impl ReceiverPlayer {
    fn take(&mut self, columns: &[&str]) -> Option<()> {
        match columns[0] {
            "S" => self.sends(columns),
            "C" => {
                let seq: u64 = columns.get(2)?.parse().ok()?;
                let last = self.sent.get_mut(&seq)?.back_mut()?;
                last.options.marked = true;
                Some(())
            }
            "D" | "Q" => {
                let seq: u64 = columns.get(2)?.parse().ok()?;
                if columns.get(3)? != &"0" {
                    self.sent.get_mut(&seq)?.pop_front();
                }
                Some(())
            }
            "R" => self.arrives(columns),
            "a" => self.acknowledges(columns),
            "A" => {
                let key =
                    [columns.get(2)?, columns.get(3)?, columns.get(6)?].map(|s| s.to_string());
                let key = key.join(" ");
                while let Some((row, ms)) = self.acks.pop_front() {
                    if row == key {
                        self.heard = ms;
                        break;
                    }
                }
                Some(())
            }
            _ => Some(()),
        }
    }

    fn sends(&mut self, columns: &[&str]) -> Option<()> {
        let &[_, _, seq, length, flags, stamp, ..] = columns else { return None };
        let (seq, length): (u64, u64) = (seq.parse().ok()?, length.parse().ok()?);
        let (flags, stamp): (u32, i64) = (flags.parse().ok()?, stamp.parse().ok()?);
        let markable = true;
        let flags_of = SegmentFlags {
            push: flags & PSH != 0,
            reduced: flags & CWR != 0,
            markable,
            probe: false,
        };
        let options = SegmentOptions {
            stamp: stamp.max(0) as u32,
            echo: self.heard,
            flags: flags_of,
            marked: false,
        };
        if flags & SYN != 0 {
            self.syn = Some(options);
        } else if length > 0 {
            self.sent.entry(seq).or_default().push_back(Sent { options });
            self.lengths.shorten(self.number(seq), length);
            self.end = self.end.max(seq + length);
            if flags & FIN != 0 {
                self.fin = Some(seq + length + 1);
            }
        } else if flags & FIN != 0 {
            self.end = self.end.max(seq);
        }
        Some(())
    }

    fn arrives(&mut self, columns: &[&str]) -> Option<()> {
        let &[_, at, seq, length, ..] = columns else { return None };
        let (at, seq, length) = (time(at)?, seq.parse::<u64>().ok()?, length.parse().ok()?);
        self.run_timers(at);
        let sent = self.sent.get_mut(&seq)?.pop_front()?;
        self.arrived = at;
        let number = self.number(seq);
        let size = Bytes::new(length);
        self.receiver.on_packet(at, (number, size), &sent.options, &mut self.out);
        self.collect(at);
        Some(())
    }

    fn acknowledges(&mut self, columns: &[&str]) -> Option<()> {
        let &[_, at, ack, window, blocks, ..] = columns else { return None };
        let row = Row {
            at: time(at)?,
            ack: ack.parse().ok()?,
            window: window.parse().ok()?,
            blocks: blocks.to_string(),
        };
        // The kernel's first packet answers the SYN, as that arrives.
        if let Some(options) = self.syn.take() {
            self.receiver.on_packet(row.at, (0, Bytes::ZERO), &options, &mut self.out);
            self.out.clear();
        }
        // One for several that a timer lets go has the time stamp of the last segment.
        let stamped = if row.blocks.is_empty() { row.at } else { self.arrived };
        let ms = ((stamped + self.phase).as_ps() / 1_000_000_000) as u32;
        self.acks.push_back((format!("{ack} {window} {blocks}"), ms));
        if row.ack > 1 || !self.ours.is_empty() {
            self.theirs.push(row);
        }
        Some(())
    }

    fn run_timers(&mut self, end: Time) {
        while let Some(at) = self.receiver.poll_timeout().filter(|&at| at <= end) {
            self.receiver.on_full_timeout(at, &mut self.out);
            self.collect(at);
        }
    }

    /// The segment that begins at `seq`.
    fn number(&self, seq: u64) -> u64 {
        self.lengths.first_from(seq - 1)
    }

    fn byte(&self, segment: u64) -> u64 {
        let byte = self.lengths.before(segment) + 1;
        match self.fin {
            Some(fin) if byte + 1 >= fin => fin,
            _ => byte.min(self.end.max(1)),
        }
    }

    fn collect(&mut self, at: Time) {
        let acks = std::mem::take(&mut self.out);
        for (ack, options) in &acks {
            let block =
                |&(left, right): &(u64, u64)| format!("{}-{}", self.byte(left), self.byte(right));
            let blocks: Vec<_> = ack.sack.as_slice().iter().map(block).collect();
            let row = Row {
                at,
                ack: self.byte(ack.next),
                window: u64::from(options.window),
                blocks: blocks.join(" "),
            };
            self.ours.push(row);
        }
        self.out = acks;
        self.out.clear();
    }

    fn judge(&self) -> ReceiverOutcome {
        let near = |a: Time, b: Time| a.max(b).since(a.min(b)) <= TOLERANCE;
        let same = |&i: &usize| match (self.ours.get(i), self.theirs.get(i)) {
            (Some(our), Some(their)) => {
                (our.ack, &our.blocks) == (their.ack, &their.blocks) && near(our.at, their.at)
            }
            _ => false,
        };
        let last = self.theirs.last().map_or(Time::ZERO, |row| row.at + Span::from_us(1));
        let most = self.theirs.len();
        let rows_equal = (0..most).take_while(same).count();
        let extra = self.ours.iter().skip(most).any(|row| row.at < last);
        let windows = (0..rows_equal).filter(|&i| self.ours[i].window == self.theirs[i].window);
        let whole = rows_equal == most && !extra;
        let text = |rows: &[Row], i: usize| {
            rows.get(i).map_or("nothing".into(), |row| {
                format!("{} win {} [{}] at {}", row.ack, row.window, row.blocks, row.at)
            })
        };
        ReceiverOutcome {
            matches: whole,
            rows: most,
            rows_equal,
            windows_equal: windows.count(),
            first_difference: (!whole).then(|| {
                let (their, our) = (text(&self.theirs, rows_equal), text(&self.ours, rows_equal));
                format!("ACK {}: Linux sent {their}, we {our}", rows_equal + 1)
            }),
        }
    }
}
