//! TCP endpoints as plain values.
//!
//! A [`Sender`] and a [`Receiver`] are given each event and its time, and answer with the packets
//! that go on the wire. They own no clock, no event queue and no generator, and know nothing of the
//! network between them. Order of calls:
//!
//! 1. [`Sender::start`] sends the SYN; [`Sender::supply`] offers data, before or after.
//! 2. Every segment that arrives goes to [`Receiver::on_segment`], every ACK that arrives to
//!    [`Sender::on_ack`].
//! 3. After each call ask `poll_timeout()`, and call `on_timeout` at that instant unless a later
//!    answer has moved it. A call that comes early does nothing.
//!
//! Where nothing is lost, late or repaired, [`Receiver::take`] and an [`AckClock`] do for a whole
//! [run](PacketRun) of packets what step 2 does for each: the fast path. Its twin is step 2. So
//! does [`Receiver::take_behind`] for segments behind a gap.
//!
//! When a timer and a packet fall on the same instant, ns-2 serves first what was scheduled first,
//! which is nearly always the timer.
//!
//! Segments are counted, not bytes: segment 0 is the SYN, data are 1, 2, …
//!
//! The parts are axes that combine freely, one file for each algorithm:
//!
//! | axis | module | algorithms |
//! |---|---|---|
//! | window law | `congestion` | AIMD, Vegas, FAST, [foreign](ForeignLaw) |
//! | all of a sender | `linux` | Linux 6.12: Reno, CUBIC, DCTCP, Vegas, BBR; RACK, PRR, F-RTO |
//! | besides, in it | `linux` | BBR 3, HyStart++, excused reductions, [foreign](ForeignLaw) |
//! | slow start | `slow_start` | standard, every other round trip (Vegas) |
//! | loss recovery | `recovery` | Tahoe, Reno, New-Reno, SACK (ns-2, RFC 6675), Vegas |
//! | retransmission time-out | `rto` | ticks (4.4BSD, ns-2), RFC 6298 |
//! | false-time-out detection | `detection` | BLE, BACK, BNAK, oracle, [a class](Discriminator) |
//! | acknowledging | `receive` | each segment or delayed, with or without SACK |
//!
//! Packets of [`Linux`] and its receiver carry time stamps, flags, marks and the receiver's window
//! besides ([`SegmentOptions`], [`AckOptions`]); [`replay`](fn@replay) plays recorded ones. Absent:
//! byte counting, the other FIN and the states behind it.
//!
//! An endpoint of a connection in both directions is a [`Sender`] and a [`Receiver`]. Whoever
//! drives them asks the latter for the ACK that each segment of the former carries
//! ([`Receiver::piggyback`]), and takes one that came with data to [`Sender::on_ack_with_data`],
//! before the data.
//!
//! A [`Discriminator`] says whether a loss is one burst or congestion, to any sender. It reads a
//! [`Moment`], the state of the sender; laws that are classes of a user read the same. A classic
//! sender asks at a time-out, that of Linux at each reduction without a mark, whether one burst
//! carried the [`suspects`](field@Moment::suspects). Then the former pays half its window, and the
//! latter nothing. Burst ACKs, burst NAKs, retransmissions and the cumulative ACK are reports; a
//! burst NAK also asks for a repair at once. ACKs and marks are reported to classes alone, whose
//! senders leave the fast path. Built-in ones are cases of an `enum`; a class is a box in one more.
//! Each is a part of its sender, cloned and stored with it; a class is cloned only. A window below
//! `detector_window_min` is excused only by one that is sure. Nodes send what [`Listens`] says.
//!
//! Every difference between ns-2 and the RFCs is a field of [`Config`], never hidden in a variant;
//! a [`Profile`] is a set of values of these fields.

mod bitmap;
mod config;
mod congestion;
mod counters;
mod delays;
mod detection;
mod discriminator;
mod flow;
mod foreign;
mod hold;
mod lengths;
mod linux;
mod moment;
mod offered;
mod packet_run;
mod receive;
mod recovery;
mod replay;
mod round;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod slow_start;
mod window;

pub use config::{
    BackMode, BackoffEnd, BleOrder, BnakDelay, BnakPartial, ClassNotices, Config, ConfigError,
    Detector, EgressUnknown, FastRecoveryExit, Ncr, NewRenoTimer, Overrides, Profile, PythonClass,
    RenoFastRetransmits, RtoEstimator, SackRecovery, SlowStart, SsthreshBasis, Variant, VegasRules,
    WindowHalving, WindowLaw,
};
pub use counters::SenderCounters;
pub use detection::{Listens, NakDelay};
pub use discriminator::{BurstReport, Discriminator, Notice, Verdict};
pub use foreign::{Classes, Decision, ForeignLaw, TIMER_LEAST};
pub use linux::{Arrival, CallEnds, Congestion, Info, LawAlone, Linux, LinuxOptions, Stage};
pub use moment::Moment;
pub use packet_run::PacketRun;
pub use receive::linux::FullAck;
pub use receive::{Received, Receiver};
pub use replay::{
    ReceiverCase, ReceiverOutcome, ReplayCase, ReplayOutcome, replay, replay_receiver,
};
pub use round::{Round, Tallied};
pub use rto::RttView;
pub use segment::{
    Ack, AckOptions, Outlet, SackBlocks, SegmentFlags, SegmentOptions, SentRun, Transmission, Wires,
};
pub use sender::{AckClock, Classic, Reductions, Sender, State};
