//! Hosts that are written elsewhere, such as a QUIC stack: what a run asks of them, and who makes
//! them. The contract is that of a stack without sockets and clock: it is handed packets with the
//! time, asked for packets, and says when it wants to be called again.

use std::fmt;
use std::sync::Arc;

use burstlab_units::{Bytes, Span, Time};

use super::{Flow, Scenario, ScenarioError};

/// A packet between a host and its access link. The segment belongs to the flow of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Its size on a link, all headers included; at least 1 byte, at most 65,535.
    pub size: Bytes,
    /// Its contents, for the host at the other end; empty where nobody reads them.
    pub bytes: Vec<u8>,
}

/// The codepoint of ECN in a header of IP, by its two bits (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Nothing: no queue may mark it.
    #[default]
    NotEct = 0,
    /// A queue may mark it, and the host uses the other codepoint (RFC 9331).
    Ect1 = 1,
    /// A queue may mark it.
    Ect0 = 2,
    /// A queue has marked it: it has met congestion.
    Ce = 3,
}

/// An event that a host reports. Packets are numbered in the order in which
/// [`poll_transmit`](Host::poll_transmit) returns them, from 0, whatever the stack calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// An ACK has come: of all packets that are acknowledged, the highest; of TCP, the last one up
    /// to which nothing is waited for.
    Acked(u64),
    /// The host takes this packet for lost. (RFC 9002, section 6.1.)
    Lost(u64),
    /// The host takes a number of packets for lost without naming them: the oldest missing ones. A
    /// probe of the path's largest packet is not among them: that is named.
    SomeLost(u32),
    /// TCP begins to repair a connection: after ACKs that reported a gap (RFC 6675, section 5), or
    /// since its timer has fired (RFC 6298). The [`Awaited`](Self::Awaited) packets follow. Until
    /// these are acknowledged no other repair of that connection begins, except by a time-out.
    Repairs {
        /// Whether its timer has fired.
        timed_out: bool,
        /// Segments by which its window becomes smaller at first; `None` where it does not, or the
        /// stack keeps it to itself.
        cost: Option<u32>,
    },
    /// Of the repair that has just begun: the data of this packet are not acknowledged.
    Awaited(u64),
    /// The host retransmits the data of this packet.
    Resent(u64),
    /// The host has waited long enough for an ACK: a probe time-out of QUIC (RFC 9002, section
    /// 6.2).
    Timeout,
    /// The host will never take this packet for lost: its content is no longer needed, such as a
    /// part of a finished handshake.
    Forgotten(u64),
    /// Of a receiver: it could not read the packet that came last, as it lacks the keys still, and
    /// drops it. Whoever sent that is right to take it for lost.
    Unread,
    /// Its connection is dead: nothing will be sent over it any more. Not of a connection that is
    /// closed after all was acknowledged.
    Ended(Ending),
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was heard for as long as the idle time-out (RFC 9000, section 10.1).
    Idle,
    /// TCP has sent its data again often enough, and gives up (RFC 9293, section 3.8.3).
    TimedOut,
    /// The other end has reset it.
    Reset,
    /// The other end has closed it.
    ClosedByPeer,
    /// Its own end has closed it.
    Closed,
    /// The handshake of TLS failed.
    Tls,
    /// An error of the transport, such as a packet that the protocol forbids.
    Transport,
}

impl Ending {
    /// Its name in a summary.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::TimedOut => "timed-out",
            Self::Reset => "reset",
            Self::ClosedByPeer => "closed-by-peer",
            Self::Closed => "closed",
            Self::Tls => "tls-error",
            Self::Transport => "transport-error",
        }
    }

    /// Its description in a warning.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Idle => "it heard nothing for as long as its idle time-out",
            Self::TimedOut => "it had sent its data again too often",
            Self::Reset => "the other end reset it",
            Self::ClosedByPeer => "the other end closed it",
            Self::Closed => "its own end closed it",
            Self::Tls => "the handshake of TLS failed",
            Self::Transport => "an error of the transport",
        }
    }
}

/// The contents of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carries {
    /// Application data.
    #[default]
    Data = 0,
    /// Parts of the handshake, and none of these data.
    Handshake = 1,
    /// A probe of the largest packet that the path takes (RFC 8899).
    MtuProbe = 2,
    /// Something else that the other end acknowledges, such as a PING or a FIN.
    Control = 3,
    /// ACKs alone, or nothing that is sent again if it is lost.
    Ack = 4,
}

impl Carries {
    /// The name of each in tables.
    pub const LABELS: &[&str] = &["data", "handshake", "mtu-probe", "control", "ack"];
}

/// The contents that a host has put into a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cargo {
    /// The kind of contents.
    pub carries: Carries,
    /// Packets of the protocol in it, at least one: a datagram of QUIC may have one of each space
    /// of numbers (RFC 9000, section 12.2), each of which [`HostEvent::SomeLost`] counts.
    pub packets: u32,
}

impl Default for Cargo {
    fn default() -> Self {
        Self { carries: Carries::Data, packets: 1 }
    }
}

/// How a host stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostState {
    /// Congestion window in bytes; `None` where the stack keeps it to itself.
    pub cwnd: Option<u64>,
    /// Slow-start threshold in bytes; `None` where there is none, or the stack keeps it to itself.
    pub ssthresh: Option<u64>,
    /// Bytes sent that are neither acknowledged nor taken for lost.
    pub in_flight: u64,
    /// Bytes of the largest packet it sends now, the unit in which windows are reported; at least
    /// 1.
    pub packet: u64,
    /// Smoothed round trip; `None` before the first measurement.
    pub rtt: Option<Span>,
    /// How long it waits for an ACK, where the stack reports it.
    pub timeout: Option<Span>,
    /// Bytes of application data that came to its application, in order.
    pub received: u64,
    /// Whether all that its application has to send is acknowledged; never where that has no end.
    pub finished: bool,
}

/// One end of a connection. After each call of [`start`](Self::start), [`handle`](Self::handle) and
/// [`handle_timeout`](Self::handle_timeout) it is asked for all events, then for all packets, then
/// for its next alarm. Time never runs backwards. The actions of a host follow only from these
/// calls and from its seed: it reads no clock and has no other source of randomness.
pub trait Host: fmt::Debug + Send {
    /// The flow begins.
    fn start(&mut self, now: Time);

    /// A packet of the other end is there.
    fn handle(&mut self, now: Time, packet: Packet);

    /// The instant of [`poll_timeout`](Self::poll_timeout) has come.
    fn handle_timeout(&mut self, now: Time);

    /// The next packet to send now, if there is one.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// The contents of the packet that [`poll_transmit`](Self::poll_transmit) has returned last.
    fn carried(&self) -> Cargo {
        Cargo::default()
    }

    /// When it wants to be called, if nothing comes before; an instant that has passed is now.
    fn poll_timeout(&mut self) -> Option<Time>;

    /// The events since it was asked last, oldest first.
    fn poll_event(&mut self) -> Option<HostEvent>;

    /// A queue marks a packet of this host that is in transit: it has met congestion (RFC 3168).
    /// Returns whether the packet can carry a mark, and now does. Not asked of a packet whose
    /// [`ecn`](Self::ecn) is a mark already.
    fn mark(&mut self, _packet: &mut Packet) -> bool {
        false
    }

    /// The codepoint of ECN of the packet that [`poll_transmit`](Self::poll_transmit) has returned
    /// last. A host whose bytes are packets of IP answers the default: the header is among them.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// The codepoint of ECN of the packet that [`handle`](Self::handle) is given next. Called where
    /// a [`Connection`] has ECN.
    fn hears_ecn(&mut self, _ecn: Ecn) {}

    /// Packets that may overtake another one, at most, before that is taken for lost (RFC 9002,
    /// section 6.1.1).
    fn reordering(&self) -> u64 {
        3
    }

    /// Lines of a key log (as NSS writes them) for the secrets that it has agreed on since it was
    /// asked last; `None` where there are none. Only a run that records datagrams asks.
    fn take_secrets(&mut self) -> Option<String> {
        None
    }

    /// How it stands.
    fn state(&self) -> HostState;
}

/// The connection for which two hosts are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Number of the flow, as tables have it.
    pub flow: u32,
    /// The stack, one of [`Stacks::names`].
    pub stack: String,
    /// Congestion control of the stack; `None`: the stack's default.
    pub congestion_control: Option<String>,
    /// Bytes that the sender's application has in all; `None`: it always has more.
    pub bytes: Option<u64>,
    /// When it has how many of them, in order; the first at the start of the flow or later. Empty
    /// where it always has more.
    pub writes: Vec<(Time, u64)>,
    /// Data of the receiver's application, if it sends some back.
    pub back: Option<Back>,
    /// Streams over which each application writes, at least 1: each write is shared out among them.
    pub streams: u32,
    /// Whether the network carries the ECN marks of [`Host::ecn`].
    pub ecn: bool,
    /// The number that all its chances follow from: of the seed, the replication and the flow.
    pub seed: u64,
}

/// Data that the receiver's application sends back over the same connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// Bytes that it has in all; `None`: it always has more.
    pub bytes: Option<u64>,
    /// When it has how many of them, in order. Where it always has more, when that begins, and
    /// [`u64::MAX`]. Where it replies, times are counted from the arrival of all that the sender's
    /// application has.
    pub writes: Vec<(Time, u64)>,
    /// Whether it replies: it has nothing before all of the other direction has arrived.
    pub reply: bool,
}

/// The crate that a stack was compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackCrate {
    /// Its name, such as `quinn-proto`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `registry`, `git`, or `path`: a directory, whose files may be those of no release.
    pub source: String,
}

/// Whoever makes hosts.
pub trait Stacks: fmt::Debug + Send + Sync {
    /// The stacks that there are.
    fn names(&self) -> Vec<&str>;

    /// The congestion controls of one of them, that which it uses by itself first.
    fn congestion_controls(&self, stack: &str) -> Vec<&str>;

    /// Streams that a connection of one of them may have in each direction, at most.
    fn streams(&self, _stack: &str) -> u32 {
        1
    }

    /// Whether one of them uses ECN.
    fn has_ecn(&self, _stack: &str) -> bool {
        false
    }

    /// Whether a run with a congestion control repeats: all that it draws follows from the seed of
    /// its [`Connection`].
    fn repeats(&self, _stack: &str, _congestion_control: &str) -> bool {
        true
    }

    /// The crate that one of them was compiled from, where that is known.
    fn crate_of(&self, _stack: &str) -> Option<StackCrate> {
        None
    }

    /// The sender of a connection, which opens it, and its receiver. Names are of those above.
    fn hosts(&self, connection: &Connection) -> [Box<dyn Host>; 2];

    /// The clock outside of the run, if there is one.
    fn outside(&self) -> Option<Arc<dyn ExternalClock>> {
        None
    }
}

/// The answer of [`ExternalClock::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// It is the time that was waited for, and nothing has come before.
    Due,
    /// A host has something to send.
    Host {
        /// When, not after the time that is waited for.
        at: Time,
        /// The flow, as tables number it.
        flow: u32,
        /// Whether it is the receiver.
        far: bool,
    },
    /// Nothing will come any more: the run ends.
    End {
        /// When.
        at: Time,
    },
}

/// A clock outside of a run: hosts on it send of themselves.
pub trait ExternalClock: fmt::Debug + Send + Sync {
    /// Waits until `until`, or until a host has something to send before. The time of the run is
    /// `now`, and all earlier events have happened.
    fn wait(&self, now: Time, until: Time) -> Wakeup;
}

/// Refuses fields of our own TCP in a flow with a third-party stack, and fields of such stacks in
/// any other flow.
pub(super) fn check(scenario: &Scenario, index: usize, flow: &Flow) -> Result<(), ScenarioError> {
    let at = |field: &str| format!("flows[{index}].{field}");
    let refuse = |field: &str, value: String, problem: &str, fix: &str| {
        Err(ScenarioError::new(at(field), value, problem, fix))
    };
    let Some(stack) = &flow.stack else {
        if flow.streams != 1 {
            let (problem, fix) =
                ("our own TCP has one stream", "remove it, or name a stack of QUIC");
            return refuse("streams", flow.streams.to_string(), problem, fix);
        }
        if flow.ecn {
            let fix = "write tcp.ecn with variant = \"linux\" for our own TCP, or name a stack";
            return refuse("ecn", "true".into(), "it belongs to a stack", fix);
        }
        let Some(name) = &flow.congestion_control else { return Ok(()) };
        let fix = "write tcp.variant for our own TCP, or name a stack";
        return refuse("congestion_control", name.clone(), "it belongs to a stack", fix);
    };
    if flow.ecn && !scenario.has_marking() {
        let problem = "no queue marks packets";
        let fix = "write access.marking = { above = \"30 KB\" }, or marking of access.receiver, \
                   edge or ops; or remove it";
        return refuse("ecn", "true".into(), problem, fix);
    }
    if flow.tcp != super::Overrides::default() {
        let problem = "a stack has a transport of its own";
        return refuse("tcp", String::new(), problem, "remove it, or remove stack");
    }
    let acks = |ops: &super::Ops| ops.dlcc.is_some();
    if scenario.ops.as_ref().is_some_and(acks) {
        let problem = "an edge that writes ACKs writes none of a stack";
        return refuse("stack", stack.clone(), problem, "remove it, or remove ops.dlcc");
    }
    Ok(())
}
