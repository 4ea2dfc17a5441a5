//! A recorded connection of Linux played again to a [`Linux`] sender: the ACKs that came arrive at
//! their times, and what it sends, when, and how it stands after each ACK is compared.

mod receiver;

use std::fmt::Write as _;

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::linux::{Arrival, Clock, Congestion, Linux, LinuxOptions};
use crate::segment::Transmission;
pub use receiver::{ReceiverCase, ReceiverOutcome, replay_receiver};

/// By how much a time may differ.
const TOLERANCE: Span = Span::from_ms(1);
/// The share of states that must be equal, in percent.
const STATES_LEAST: usize = 99;
/// Phases in which BBR's gain cycle may begin.
const PHASES: u8 = 7;
/// TCP's flags.
const FIN: u32 = 1;
const SYN: u32 = 2;
const ECE: u32 = 64;
/// No recording lasts longer, in nanoseconds: a hundred days.
const LATEST_NS: u64 = 8_640_000_000_000_000;
/// A sequence number of a recording, which counts from the SYN, is below this.
const NUMBERS: u64 = 1 << 48;
/// The kernel says this where an ACK has no time stamp.
const NO_ECHO: i64 = -1;

/// A recorded connection to replay.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayCase {
    /// The sender.
    pub options: LinuxOptions,
    /// Bytes that the application writes before it closes; `None`: without end, but for `writes`.
    pub bytes: Option<u64>,
    /// The writes of the application in place of `bytes`, each after so many milliseconds and of so
    /// many bytes; the connection stays open behind them.
    #[serde(default)]
    pub writes: Option<Vec<(u64, u64)>>,
}

/// How a replay went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayOutcome {
    /// Whether all segments agree and enough states do.
    #[serde(rename = "match")]
    pub matches: bool,
    /// Segments that were recorded.
    pub rows: usize,
    /// Segments that agree before the first that does not.
    pub rows_equal: usize,
    /// ACKs, and those after which the states are equal.
    pub state_rows: usize,
    #[allow(missing_docs)]
    pub state_equal: usize,
    /// Where the two part first, with the states of both.
    pub first_difference: Option<String>,
}

/// An ACK of the recording, and how the kernel stood once it had dealt with it.
#[derive(Clone, Debug)]
struct Acknowledged {
    at: Time,
    ack: u64,
    window: u64,
    echo: Option<u64>,
    flags: u32,
    blocks: Vec<(u64, u64)>,
    cwnd: u32,
    ssthresh: u32,
    stage: u32,
    /// Values that are shown but not compared: srtt, rttvar, rto, unacked, sacked, lost,
    /// retransmitted, reordering, backoff.
    others: Vec<u64>,
    /// The shortest round trip.
    shortest: Span,
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    at: Time,
    seq: u64,
    length: u64,
}

#[derive(Default)]
struct Recording {
    acks: Vec<Acknowledged>,
    segments: Vec<Segment>,
    /// Of a connection that the other side opened: when the third packet of its handshake came,
    /// and the round trip of that.
    called: Option<(Time, Span)>,
    /// When the SYN went.
    syns: Vec<Time>,
}

/// Plays `case` with the rows of `trace`, in the columns of a recording of Linux.
///
/// # Errors
/// A row that cannot be read: its line, and what is wrong with it.
pub fn replay(case: &ReplayCase, trace: &str) -> Result<ReplayOutcome, String> {
    let recording = read(trace)?;
    if case.options.congestion != Congestion::Bbr {
        return Ok(play(case, &recording));
    }
    // The kernel drew the phase of the gain cycle: whichever goes furthest.
    let outcomes = (0..PHASES).map(|bbr_phase| {
        let options = LinuxOptions { bbr_phase, ..case.options.clone() };
        play(&ReplayCase { options, ..case.clone() }, &recording)
    });
    let best = outcomes.max_by_key(|one| (one.matches, one.rows_equal, one.state_equal));
    Ok(best.expect("there are phases"))
}

fn play(case: &ReplayCase, recording: &Recording) -> ReplayOutcome {
    let mut player = Player::new(case);
    if let Some((at, round_trip)) = recording.called {
        let syn = Time::from_ps(at.as_ps() - round_trip.as_ps());
        player.open(syn, at, recording.acks[0].window, 0);
    }
    for ack in &recording.acks {
        player.play(ack, &recording.syns);
    }
    let last = recording.acks.last().map_or(Time::ZERO, |ack| ack.at);
    let last = recording.segments.last().map_or(last, |segment| segment.at.max(last));
    player.end(last, recording.segments.len());
    player.judge(recording)
}

fn read(trace: &str) -> Result<Recording, String> {
    let mut recording = Recording::default();
    for (number, line) in trace.lines().enumerate() {
        let columns: Vec<&str> = line.split(',').collect();
        let shown = || line.chars().take(80).collect::<String>();
        let fault = || format!("line {}: {:?} is no row of a recording", number + 1, shown());
        match columns[0] {
            "A" => recording.acks.push(read_ack(&columns).ok_or_else(fault)?),
            "S" if is_syn(&columns) => recording.syns.extend(time(columns[1])),
            "S" => {
                let segment = read_segment(&columns).ok_or_else(fault)?;
                recording.segments.extend(segment);
            }
            "R" | "a" | "B" | "b" | "C" | "D" | "d" | "Q" | "q" | "" => {}
            _ => return Err(fault()),
        }
        let heard = |nth: usize| recording.acks.iter().rev().nth(nth).map(|ack| ack.at);
        if columns[0] == "A" && heard(1) > heard(0) {
            return Err(format!("line {}: {:?}: the ACK before is later", number + 1, shown()));
        }
    }
    recording.called = recording.find_call();
    Ok(recording)
}

impl Recording {
    /// Where no SYN is acknowledged it is the one that was called: it sends at once.
    fn find_call(&self) -> Option<(Time, Span)> {
        let (first, heard) = (self.segments.first()?, self.acks.first()?);
        let called = heard.flags & SYN == 0 && first.at <= heard.at;
        let syn = first.at.as_ps().checked_sub(heard.shortest.as_ps());
        (called && syn.is_some()).then_some((first.at, heard.shortest))
    }
}

/// A time of a row; none beyond what the engine can count.
fn time(text: &str) -> Option<Time> {
    let ns = text.parse::<u64>().ok().filter(|&ns| ns <= LATEST_NS)?;
    Some(Time::from_ps(ns * 1_000))
}

/// Whether a segment that is sent is a SYN.
fn is_syn(columns: &[&str]) -> bool {
    let flags = columns.get(4).and_then(|flags| flags.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & SYN != 0)
}

/// A segment with data or a FIN; other packets give nothing.
fn read_segment(columns: &[&str]) -> Option<Option<Segment>> {
    let &[_, at, seq, length, flags, ..] = columns else { return None };
    let (at, flags) = (time(at)?, flags.parse::<u32>().ok()?);
    let segment = Segment { at, seq: number(seq)?, length: number(length)? };
    let counts = segment.length > 0 || flags & FIN != 0;
    Some((counts && flags & SYN == 0).then_some(segment))
}

fn read_ack(columns: &[&str]) -> Option<Acknowledged> {
    let &[_, at, ack, window, echo, flags, blocks, cwnd, ssthresh, stage, ref others @ ..] =
        columns
    else {
        return None;
    };
    let block = |text: &str| {
        let (left, right) = text.split_once('-')?;
        Some((number(left)?, number(right)?))
    };
    let echo: i64 = echo.parse().ok()?;
    Some(Acknowledged {
        at: time(at)?,
        ack: number(ack)?,
        window: number(window)?,
        echo: (echo != NO_ECHO).then_some(echo.max(0) as u64),
        flags: flags.parse().ok()?,
        blocks: blocks.split_whitespace().map(block).collect::<Option<_>>()?,
        cwnd: cwnd.parse().ok()?,
        ssthresh: ssthresh.parse().ok()?,
        stage: stage.parse().ok()?,
        others: others.iter().take(9).map(|text| text.parse().ok()).collect::<Option<_>>()?,
        shortest: others.get(10).and_then(|text| number(text)).map_or(Span::ZERO, Span::from_us),
    })
}

/// A number of bytes, or one that is shown.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&number| number < NUMBERS)
}

/// The sender and its application.
struct Player {
    sender: Linux,
    clock: Clock,
    bytes: Option<u64>,
    /// Writes that are still to come, and the bytes of the next that were written already.
    writes: std::vec::IntoIter<(Time, u64)>,
    written: Option<u64>,
    opened: bool,
    sent: Vec<Segment>,
    out: Vec<Transmission>,
    /// After each ACK: window, threshold, stage, and the numbers that are shown.
    states: Vec<(u32, u32, u32, String)>,
}

impl Player {
    fn new(case: &ReplayCase) -> Self {
        let ms = |ms: u64| Time::ZERO.saturating_add(Span::from_ms(ms.min(LATEST_NS / 1_000_000)));
        let writes = case.writes.iter().flatten().map(|&(at, bytes)| (ms(at), bytes));
        Self {
            sender: Linux::new(&case.options),
            clock: Clock::new(case.options.clock_phase, case.options.wheel_phase),
            bytes: case.bytes,
            writes: writes.collect::<Vec<_>>().into_iter(),
            written: case.writes.as_ref().map(|_| 0),
            opened: false,
            sent: Vec::new(),
            out: Vec::new(),
            states: Vec::new(),
        }
    }

    fn play(&mut self, ack: &Acknowledged, syns: &[Time]) {
        self.go_on(ack.at);
        if ack.flags & SYN != 0 {
            if !self.opened {
                self.connect(ack, syns);
            }
        } else {
            self.hear(ack);
        }
        self.note_state();
        self.sender.write_more(ack.at, &mut self.out);
        self.collect(ack.at);
    }

    fn note_state(&mut self) {
        let info = self.sender.info();
        let [srtt, deviation, rto] = info.times_us;
        let [unacked, sacked, lost, again, reordering] = info.counts;
        let others = format!(
            "srtt {srtt}, rttvar {deviation}, rto {rto}, unacked {unacked}, sacked {sacked}, \
             lost {lost}, retransmitted {again}, reordering {reordering}"
        );
        self.states.push((info.cwnd, info.ssthresh, info.stage as u32, others));
    }

    /// The SYN is acknowledged. Of one that went more than once the time stamp says which, in ms.
    fn connect(&mut self, ack: &Acknowledged, syns: &[Time]) {
        let times = syns.iter().filter(|&&at| at > Time::ZERO && at < ack.at).count() as u32;
        let sent = match ack.echo.filter(|_| times > 0) {
            Some(echo) => self.clock.echoed(ack.at, echo),
            None => Time::ZERO,
        };
        self.open(sent, ack.at, ack.window, times);
    }

    /// The SYN, which left at `syn` and so many times again, is acknowledged; the application
    /// writes.
    fn open(&mut self, syn: Time, now: Time, window: u64, times: u32) {
        self.opened = true;
        self.sender.open(syn, now, window);
        self.sender.repeated_syns(times);
        // Its state is recorded before the application writes; nothing in it changes by that.
        let bytes = self.written.or(self.bytes).unwrap_or(u64::MAX);
        self.sender.offer(bytes);
        self.sender.write_more(now, &mut self.out);
        if self.bytes.is_some() && self.written.is_none() {
            self.sender.close(now, &mut self.out);
        }
        self.collect(now);
    }

    /// The application writes what is due until `end`, the timers run out that do before.
    fn go_on(&mut self, end: Time) {
        while let Some(&(at, bytes)) = self.writes.as_slice().first().filter(|(at, _)| *at <= end) {
            self.run_timers(at);
            self.writes.next();
            let written = self.written.unwrap_or(0).saturating_add(bytes);
            self.written = Some(written);
            if self.opened {
                self.sender.offer(written);
                self.sender.write_more(at, &mut self.out);
                self.collect(at);
            }
        }
        self.run_timers(end);
    }

    fn hear(&mut self, ack: &Acknowledged) {
        let blocks: Vec<(u64, u64)> = ack
            .blocks
            .iter()
            .map(|&(left, right)| (self.number(left), self.number(right)))
            .collect();
        let arrival = Arrival {
            next: self.number(ack.ack),
            blocks: &blocks,
            window: ack.window,
            echo: ack.echo,
            ece: ack.flags & ECE != 0,
            with_data: false,
        };
        self.sender.on_ack(ack.at, &arrival, &mut self.out);
        self.collect(ack.at);
    }

    /// The number of the segment that begins at `seq`; the FIN is one more than the data.
    fn number(&self, seq: u64) -> u64 {
        let end = self.bytes.map_or(u64::MAX, |bytes| bytes + 1);
        let data = self.sender.application().lengths().first_from(seq.min(end).saturating_sub(1));
        if seq > end && self.sender.queue().next() > data { data + 1 } else { data }
    }

    /// Lets the timer run out until `end`.
    fn run_timers(&mut self, end: Time) {
        while let Some(at) = self.sender.poll_timeout().filter(|&at| at <= end) {
            self.sender.on_timeout(at, &mut self.out);
            self.collect(at);
        }
    }

    /// The recording ends at `last`, with `count` segments: what we send later is not compared,
    /// unless it is what was recorded just before.
    fn end(&mut self, last: Time, count: usize) {
        self.go_on(last + TOLERANCE);
        while self.sent.len() > count && self.sent.last().is_some_and(|sent| sent.at > last) {
            self.sent.pop();
        }
    }

    fn collect(&mut self, at: Time) {
        // Without grouping every segment is whole for the sender, the last one too.
        let end = self.written.or(self.bytes).unwrap_or(u64::MAX);
        let (sender, out) = (&self.sender, &mut self.out);
        self.sent.extend(out.drain(..).map(|sent| {
            let [from, to] = [sent.seq, sent.seq + 1].map(|seq| sender.bytes_before(seq).min(end));
            Segment { at, seq: from + 1, length: to - from }
        }));
    }

    fn judge(&self, recording: &Recording) -> ReplayOutcome {
        let theirs = &recording.segments;
        let agree = |&i: &usize| match (self.sent.get(i), theirs.get(i)) {
            (Some(our), Some(their)) => {
                let apart = our.at.max(their.at).since(our.at.min(their.at));
                (our.seq, our.length) == (their.seq, their.length) && apart <= TOLERANCE
            }
            _ => false,
        };
        let most = theirs.len().max(self.sent.len());
        let rows_equal = (0..most).take_while(agree).count();
        let same = |(ack, our): (&Acknowledged, &(u32, u32, u32, String))| {
            (ack.cwnd, ack.ssthresh, ack.stage) == (our.0, our.1, our.2)
        };
        let pairs = || recording.acks.iter().zip(&self.states);
        let state_equal = pairs().filter(|&pair| same(pair)).count();
        let state_rows = recording.acks.len();
        let states = 100 * state_equal >= STATES_LEAST * state_rows;
        let segment = (rows_equal < most).then_some(rows_equal);
        let state = pairs().position(|pair| !same(pair));
        ReplayOutcome {
            matches: segment.is_none() && states,
            rows: theirs.len(),
            rows_equal,
            state_rows,
            state_equal,
            first_difference: self.describe(recording, segment, state),
        }
    }

    /// The earlier of the first segment and the first state that differ.
    fn describe(
        &self,
        recording: &Recording,
        segment: Option<usize>,
        state: Option<usize>,
    ) -> Option<String> {
        let theirs = &recording.segments;
        let sent_at = segment.and_then(|i| {
            let (our, their) = (self.sent.get(i), theirs.get(i));
            our.into_iter().chain(their).map(|segment| segment.at).min()
        });
        let stood_at = state.map(|i| recording.acks[i].at);
        let at = sent_at.into_iter().chain(stood_at).min()?;
        let mut text = format!("at {at}: ");
        if let Some(i) = segment.filter(|_| sent_at == Some(at)) {
            let name = |segment: Option<&Segment>| {
                segment.map_or("nothing".into(), |s| format!("{}+{} at {}", s.seq, s.length, s.at))
            };
            let (their, our) = (name(theirs.get(i)), name(self.sent.get(i)));
            write!(text, "segment {}: Linux sent {their}, we {our}; ", i + 1).expect("to a string");
        }
        let i = state
            .filter(|_| stood_at == Some(at))
            .or_else(|| recording.acks.iter().rposition(|ack| ack.at <= at));
        if let Some(i) = i {
            let ack = &recording.acks[i];
            let (cwnd, ssthresh, stage, others) = &self.states[i];
            write!(
                text,
                "after ACK {} at {} ({}): Linux {}; we cwnd {cwnd}, ssthresh {ssthresh}, \
                 stage {stage}, {others}",
                ack.ack,
                ack.at,
                i + 1,
                shown(ack),
            )
            .expect("to a string");
        }
        Some(text)
    }
}

/// The state that was recorded.
fn shown(ack: &Acknowledged) -> String {
    let mut text = format!("cwnd {}, ssthresh {}, stage {}", ack.cwnd, ack.ssthresh, ack.stage);
    let names =
        ["srtt", "rttvar", "rto", "unacked", "sacked", "lost", "retransmitted", "reordering"];
    for (name, value) in names.iter().zip(&ack.others) {
        write!(text, ", {name} {value}").expect("to a string");
    }
    text
}
