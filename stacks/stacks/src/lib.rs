//! Third-party QUIC and TCP stacks as hosts of a scenario: `[[flows]] stack = "quinn"`. Each is
//! what its authors published, unchanged; a host here gives it the time, the packets and an
//! application that sends bytes from one end to the other.
//!
//! Nothing random changes a result. What a stack draws for its own decisions follows from the seed
//! of its connection; keys and connection ids are new in each process, and of a size that is always
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

use burstlab_sim::scenario::{Connection, Host, Stacks};
use burstlab_units::Time;

/// Bytes that IP version 4 and UDP put before each datagram (RFC 791, RFC 768).
#[cfg(any(feature = "quinn", feature = "noq", feature = "quiche"))]
const HEADERS: u64 = 28;

/// A stack, and its congestion controls, that which it uses by itself first.
type Known = (&'static str, &'static [&'static str]);

/// The stacks that this crate was built with.
const KNOWN: &[Known] = &[
    #[cfg(feature = "quinn")]
    ("quinn", quinn::CONGESTION_CONTROLS),
    #[cfg(feature = "noq")]
    ("noq", noq::CONGESTION_CONTROLS),
    #[cfg(feature = "quiche")]
    ("quiche", quiche::CONGESTION_CONTROLS),
    #[cfg(feature = "smoltcp")]
    ("smoltcp", smoltcp::CONGESTION_CONTROLS),
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
        KNOWN.iter().map(|(name, _)| *name).collect()
    }

    fn congestion_controls(&self, stack: &str) -> Vec<&str> {
        let known = KNOWN.iter().find(|(name, _)| *name == stack);
        known.map_or(Vec::new(), |(_, controls)| controls.to_vec())
    }

    /// quiche draws which numbers of packets it leaves out, so that nobody acknowledges what has
    /// not come; where the program was linked for it, from the seed.
    #[cfg(feature = "quiche")]
    fn repeats(&self, stack: &str, _congestion_control: &str) -> bool {
        stack != "quiche" || chance::is_linked()
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

/// What the application of an end has to write, and when.
#[derive(Debug)]
struct Supply {
    /// Bytes that it has, and has not written: all of them where it always has more.
    unwritten: u64,
    /// What it has later.
    later: VecDeque<(Time, u64)>,
}

impl Supply {
    /// That of the sender of a connection; the receiver has none.
    fn of(connection: &Connection, near: bool) -> Self {
        let unwritten = if near && connection.bytes.is_none() { u64::MAX } else { 0 };
        let writes = connection.writes.iter().filter(|_| near).copied();
        Self { unwritten, later: writes.collect() }
    }

    /// It is `now`: the application has what it has by then.
    fn comes_to(&mut self, now: Time) {
        while let Some(&(_, bytes)) = self.later.front().filter(|(at, _)| *at <= now) {
            self.later.pop_front();
            self.unwritten = self.unwritten.saturating_add(bytes);
        }
    }

    /// When it has more.
    fn next(&self) -> Option<Time> {
        self.later.front().map(|&(at, _)| at)
    }

    /// So many bytes are written.
    fn wrote(&mut self, bytes: u64) {
        self.unwritten -= if self.unwritten == u64::MAX { 0 } else { bytes };
    }

    /// Whether all is written, and nothing comes later.
    fn is_over(&self) -> bool {
        self.unwritten == 0 && self.later.is_empty()
    }
}
