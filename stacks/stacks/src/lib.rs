//! Third-party QUIC and TCP stacks as hosts of a scenario: `[[flows]] stack = "quinn"`. Each is
//! what its authors published, unchanged; a host here gives it the time, the packets and an
//! application that sends bytes from one end to the other.
//!
//! Nothing random changes a result. A stack's draws for its own decisions follow from the seed of
//! its connection. Keys and connection ids are new in each process, and of a size that is always
//! the same, so that no packet is longer or comes at another time for them.

#[cfg(feature = "quiche")]
mod chance;
#[cfg(any(feature = "quinn", feature = "noq", feature = "quiche"))]
mod clock;
#[cfg(feature = "noq")]
mod noq;
#[cfg(any(feature = "quinn", feature = "noq", feature = "quiche"))]
mod numbers;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod quic;
#[cfg(feature = "quiche")]
mod quiche;
#[cfg(feature = "quinn")]
mod quinn;
#[cfg(feature = "smoltcp")]
mod smoltcp;
#[cfg(feature = "quiche")]
mod virtual_clock;

use std::collections::VecDeque;
use std::sync::Arc;

use burstlab_sim::scenario::{Connection, Host, StackCrate, Stacks};
use burstlab_units::Time;

/// Bytes that IP version 4 and UDP put before each datagram (RFC 791, RFC 768).
#[cfg(any(feature = "quinn", feature = "noq", feature = "quiche"))]
const HEADERS: u64 = 28;

/// Streams of one direction that quinn and noq let the other end open, and quiche here.
const STREAMS: u32 = 100;

/// A stack, its crate with version and source, and its congestion controls, that which it uses by
/// itself first.
type Known = (&'static str, &'static str, &'static [&'static str]);

/// The stacks that this crate was built with.
const KNOWN: &[Known] = &[
    #[cfg(feature = "quinn")]
    ("quinn", env!("BURSTLAB_QUINN"), quinn::CONGESTION_CONTROLS),
    #[cfg(feature = "noq")]
    ("noq", env!("BURSTLAB_NOQ"), noq::CONGESTION_CONTROLS),
    #[cfg(feature = "quiche")]
    ("quiche", env!("BURSTLAB_QUICHE"), quiche::CONGESTION_CONTROLS),
    #[cfg(feature = "smoltcp")]
    ("smoltcp", env!("BURSTLAB_SMOLTCP"), smoltcp::CONGESTION_CONTROLS),
];

/// The stacks of this crate, by name. Connections of `quinn` and `noq` made by one value share a
/// certificate.
#[derive(Debug)]
pub struct AllStacks {
    #[cfg(any(feature = "quinn", feature = "noq"))]
    identity: burstlab_tls::Identity,
}

impl AllStacks {
    /// All stacks of the features that the crate was built with, with a new certificate.
    #[must_use]
    pub fn shared() -> Arc<dyn Stacks> {
        Arc::new(Self {
            #[cfg(any(feature = "quinn", feature = "noq"))]
            identity: burstlab_tls::Identity::new(),
        })
    }
}

impl Stacks for AllStacks {
    fn names(&self) -> Vec<&str> {
        KNOWN.iter().map(|(name, ..)| *name).collect()
    }

    fn congestion_controls(&self, stack: &str) -> Vec<&str> {
        let known = KNOWN.iter().find(|(name, ..)| *name == stack);
        known.map_or(Vec::new(), |(.., controls)| controls.to_vec())
    }

    fn streams(&self, stack: &str) -> u32 {
        if stack == "smoltcp" { 1 } else { STREAMS }
    }

    /// quiche sends no ECN, nor does smoltcp.
    fn has_ecn(&self, stack: &str) -> bool {
        ["quinn", "noq"].contains(&stack)
    }

    /// quiche draws which numbers of packets it leaves out, so that nobody acknowledges what has
    /// not come; where the program was linked for it, from the seed.
    #[cfg(feature = "quiche")]
    fn repeats(&self, stack: &str, _congestion_control: &str) -> bool {
        stack != "quiche" || chance::is_linked()
    }

    fn crate_of(&self, stack: &str) -> Option<StackCrate> {
        let (_, of, _) = KNOWN.iter().find(|(name, ..)| *name == stack)?;
        let mut words = of.split(' ').map(String::from);
        let (name, version, source) = (words.next()?, words.next()?, words.next()?);
        Some(StackCrate { name, version, source })
    }

    fn hosts(&self, connection: &Connection) -> [Box<dyn Host>; 2] {
        match connection.stack.as_str() {
            #[cfg(feature = "quinn")]
            "quinn" => quinn::hosts(connection, &self.identity),
            #[cfg(feature = "noq")]
            "noq" => noq::hosts(connection, &self.identity),
            #[cfg(feature = "quiche")]
            "quiche" => quiche::hosts(connection),
            #[cfg(feature = "smoltcp")]
            "smoltcp" => smoltcp::hosts(connection),
            other => panic!("{other} is none of the stacks that were built"),
        }
    }
}

/// The congestion control of a connection: that which it names, or the first of those that there
/// are.
fn congestion_control(connection: &Connection, known: &'static [&'static str]) -> &'static str {
    let named = connection.congestion_control.as_deref().unwrap_or(known[0]);
    known.iter().find(|name| **name == named).expect("the names of a connection were checked")
}

/// Data that the application of an end has to write, over which streams, and when.
#[derive(Debug)]
struct Supply {
    /// Bytes that it has, and has not written, of each stream: all of them where it always has
    /// more.
    unwritten: Vec<u64>,
    /// The data that it has later.
    later: VecDeque<(Time, u64)>,
    /// Bytes that have to come before, where it replies: times are counted from then on.
    awaits: Option<u64>,
    /// Whether it has data at all.
    sends: bool,
}

impl Supply {
    /// That of the sender of a connection, or of its receiver.
    fn of(connection: &Connection, near: bool) -> Self {
        let mut supply = Self {
            unwritten: vec![0; connection.streams as usize],
            later: VecDeque::new(),
            awaits: None,
            sends: true,
        };
        match &connection.back {
            _ if near && connection.bytes.is_none() => supply.add(u64::MAX),
            _ if near => supply.later = connection.writes.iter().copied().collect(),
            Some(back) => {
                supply.later = back.writes.iter().copied().collect();
                supply.awaits = connection.bytes.filter(|_| back.reply);
            }
            None => supply.sends = false,
        }
        supply
    }

    /// So many bytes are there to be written, which the streams share evenly.
    fn add(&mut self, bytes: u64) {
        let count = self.unwritten.len() as u64;
        for (unwritten, place) in self.unwritten.iter_mut().zip(0..) {
            let share = match bytes {
                u64::MAX => bytes,
                _ => bytes / count + u64::from(place < bytes % count),
            };
            *unwritten = unwritten.saturating_add(share);
        }
    }

    /// It is `now`: the application has what it has by then.
    fn comes_to(&mut self, now: Time) {
        while let Some(bytes) = self.due(now) {
            self.add(bytes);
        }
    }

    fn due(&mut self, now: Time) -> Option<u64> {
        self.next().filter(|&at| at <= now)?;
        self.later.pop_front().map(|(_, bytes)| bytes)
    }

    /// So many bytes have come to the application by `now`.
    fn hears(&mut self, now: Time, received: u64) {
        if self.awaits.is_some_and(|all| received >= all) {
            self.awaits = None;
            for (at, _) in &mut self.later {
                *at = now + at.since(Time::ZERO);
            }
            self.comes_to(now);
        }
    }

    /// When it has more, as far as that is known.
    fn next(&self) -> Option<Time> {
        self.later.front().filter(|_| self.awaits.is_none()).map(|&(at, _)| at)
    }

    /// So many bytes are written over a stream.
    fn wrote(&mut self, stream: usize, bytes: u64) {
        let unwritten = &mut self.unwritten[stream];
        *unwritten -= if *unwritten == u64::MAX { 0 } else { bytes };
    }

    /// Whether nothing comes later.
    fn has_all(&self) -> bool {
        self.later.is_empty()
    }

    /// Whether all is written, and nothing comes later.
    #[cfg(feature = "smoltcp")]
    fn is_over(&self) -> bool {
        self.has_all() && self.unwritten.iter().all(|&bytes| bytes == 0)
    }
}

#[cfg(test)]
mod tests {
    use burstlab_sim::scenario::Back;
    use burstlab_units::Span;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn writes_are_shared_out_and_a_reply_waits_for_all_of_the_request() {
        let back = Back { bytes: Some(7), writes: vec![(at(5), 4), (at(9), 3)], reply: true };
        let connection = Connection {
            flow: 0,
            stack: String::new(),
            congestion_control: None,
            bytes: Some(100),
            writes: vec![(at(0), 100)],
            back: Some(back),
            streams: 3,
            ecn: false,
            seed: 1,
        };
        let mut request = Supply::of(&connection, true);
        request.comes_to(at(0));
        assert_eq!((request.unwritten.as_slice(), request.has_all()), (&[34, 33, 33][..], true));
        let mut reply = Supply::of(&connection, false);
        reply.comes_to(at(50));
        reply.hears(at(60), 99);
        assert_eq!((reply.next(), reply.unwritten.as_slice()), (None, &[0, 0, 0][..]));
        reply.hears(at(70), 100);
        assert_eq!(reply.next(), Some(at(75)));
        reply.comes_to(at(75));
        assert_eq!((reply.next(), reply.unwritten.as_slice()), (Some(at(79)), &[2, 1, 1][..]));
    }
}
