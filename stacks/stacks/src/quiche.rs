//! quiche: QUIC with TLS 1.3 by BoringSSL. It reads the clock of the machine, and is told that of
//! the run (`virtual_clock.rs`).

use std::collections::VecDeque;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use burstlab_sim::scenario::{Connection as Wanted, Host, HostEvent, HostState, Packet};
use burstlab_units::{Bytes, Time};
use quiche::{Config, Connection, ConnectionId, Error, PROTOCOL_VERSION, RecvInfo};

use crate::clock::span;
use crate::{HEADERS, congestion_control, supply, virtual_clock};
use burstlab_tls::{Identity, PROTOCOL};

/// By their names in quiche, that which it uses by itself first.
pub(crate) const CONGESTION_CONTROLS: &[&str] = &["cubic", "reno", "bbr2"];

/// The largest datagram it sends, headers of IP and UDP not counted.
const DATAGRAM: usize = 1350;

/// Datagrams below this size carry an ACK and no data, and are never acknowledged.
const BARE: usize = 100;

/// What a receiver lets the sender send ahead, in bytes: as much as quinn-proto and noq-proto do
/// for a stream, so that the three compare.
const WINDOW: u64 = 1_250_000;

/// The one stream, of the client, in one direction (RFC 9000, section 2.1).
const STREAM: u64 = 2;

static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4433),
];

/// The sender of a connection, and its receiver.
pub(crate) fn hosts(wanted: &Wanted, identity: &Identity) -> [Box<dyn Host>; 2] {
    [Box::new(Quiche::new(wanted, identity, true)), Box::new(Quiche::new(wanted, identity, false))]
}

/// One end of a QUIC connection: the sender is the client, and writes one stream.
struct Quiche {
    near: bool,
    config: Config,
    connection: Option<Connection>,
    unwritten: u64,
    closed: bool,
    received: u64,
    /// A datagram that its pacing sends later.
    held: Option<(Time, Vec<u8>)>,
    events: VecDeque<HostEvent>,
    sent: Sent,
    lost: u64,
    probes: u64,
}

impl fmt::Debug for Quiche {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quiche").field("near", &self.near).finish_non_exhaustive()
    }
}

impl Quiche {
    fn new(wanted: &Wanted, identity: &Identity, near: bool) -> Self {
        let control = congestion_control(wanted, CONGESTION_CONTROLS);
        Self {
            near,
            config: config(control, (!near).then_some(identity)),
            connection: None,
            unwritten: if near { supply(wanted) } else { 0 },
            closed: false,
            received: 0,
            held: None,
            events: VecDeque::new(),
            sent: Sent::default(),
            lost: 0,
            probes: 0,
        }
    }

    /// The application's part, and what the connection has noted.
    fn goes_on(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        if self.near {
            write(connection, &mut self.unwritten, &mut self.closed);
        } else {
            self.received += read(connection);
        }
        let stats = connection.stats();
        let settled = stats.acked_bytes + stats.lost_bytes;
        if let Some(acked) = self.sent.settle(settled) {
            self.events.push_back(HostEvent::Acked(acked));
        }
        let Some(path) = connection.path_stats().next() else { return };
        let (lost, probes) = (path.lost as u64, path.total_pto_count as u64);
        if lost > self.lost {
            self.events.push_back(HostEvent::SomeLost((lost - self.lost) as u32));
        }
        if probes > self.probes {
            self.events.push_back(HostEvent::Timeout);
        }
        (self.lost, self.probes) = (lost, probes);
    }

    /// The next datagram that the connection sends now, or holds back.
    fn next(&mut self, now: Time) -> Option<Vec<u8>> {
        let mut bytes = vec![0; DATAGRAM];
        let (size, info) = self.connection.as_mut()?.send(&mut bytes).ok()?;
        bytes.truncate(size);
        let at = virtual_clock::time(info.at);
        if at > now {
            self.held = Some((at, bytes));
            return None;
        }
        Some(bytes)
    }
}

impl Host for Quiche {
    fn start(&mut self, now: Time) {
        if !self.near {
            return;
        }
        let id = ConnectionId::from_ref(&[1; 16]);
        let config = &mut self.config;
        let [own, other] = ADDRESSES;
        let opened = virtual_clock::at(now, || quiche::connect(None, &id, own, other, config));
        self.connection = Some(opened.expect("the configuration is sound"));
    }

    fn handle(&mut self, now: Time, mut packet: Packet) {
        let [client, server] = ADDRESSES;
        let (from, to) = if self.near { (server, client) } else { (client, server) };
        virtual_clock::at(now, || {
            if self.connection.is_none() && !self.near {
                let id = ConnectionId::from_ref(&[2; 16]);
                let opened = quiche::accept(&id, None, to, from, &mut self.config);
                self.connection = Some(opened.expect("the configuration is sound"));
            }
            if let Some(connection) = &mut self.connection {
                // What it cannot read it drops, as it would of any network.
                let _ = connection.recv(&mut packet.bytes, RecvInfo { from, to });
            }
            self.goes_on();
        });
    }

    fn handle_timeout(&mut self, now: Time) {
        virtual_clock::at(now, || {
            if let Some(connection) = &mut self.connection {
                let due = connection.timeout_instant().map(virtual_clock::time);
                if due.is_some_and(|at| at <= now) {
                    connection.on_timeout();
                }
            }
            self.goes_on();
        });
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let bytes = match self.held.take() {
            Some((at, bytes)) if at <= now => bytes,
            Some(held) => {
                self.held = Some(held);
                return None;
            }
            None => virtual_clock::at(now, || self.next(now))?,
        };
        self.sent.add(bytes.len());
        Some(Packet { size: Bytes::new(bytes.len() as u64 + HEADERS), bytes })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let connection = self.connection.as_ref()?;
        let due = connection.timeout_instant().map(virtual_clock::time);
        let held = self.held.as_ref().map(|held| held.0);
        due.into_iter().chain(held).min()
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn state(&self) -> HostState {
        let connection = self.connection.as_ref();
        let path = connection.and_then(|connection| connection.path_stats().next());
        let established = connection.is_some_and(Connection::is_established);
        // A stream all of which is acknowledged is no more.
        let gone = connection.is_some_and(|one| one.stream_capacity(STREAM).is_err());
        HostState {
            cwnd: path.as_ref().map(|path| path.cwnd as u64),
            ssthresh: None,
            in_flight: self.sent.in_flight(),
            packet: DATAGRAM as u64,
            rtt: path.filter(|_| established).map(|path| span(path.rtt)),
            timeout: None,
            received: self.received,
            finished: self.near && self.closed && gone,
        }
    }
}

/// The sender's application writes as much as the connection takes, and closes the stream then.
fn write(connection: &mut Connection, unwritten: &mut u64, closed: &mut bool) {
    while connection.is_established() && !*closed {
        let size = (*unwritten).min(BLOCK.len() as u64);
        let last = size == *unwritten;
        match connection.stream_send(STREAM, &BLOCK[..size as usize], last) {
            Ok(0) | Err(Error::Done) if !last || size > 0 => return,
            Ok(written) => {
                *closed = last && written as u64 == size;
                *unwritten -= if *unwritten == u64::MAX { 0 } else { written as u64 };
            }
            Err(_) => return,
        }
    }
}

/// The receiver's application reads all that is there; returns how much.
fn read(connection: &mut Connection) -> u64 {
    let (mut block, mut sum) = ([0; 1 << 16], 0);
    while let Ok((size, _)) = connection.stream_recv(STREAM, &mut block) {
        sum += size as u64;
    }
    sum
}

/// What was sent, by size: quiche tells how many bytes are acknowledged or lost, not which.
#[derive(Debug, Default)]
struct Sent {
    /// Of each datagram that may be acknowledged: its number, and how many bytes there are up to
    /// its end.
    open: VecDeque<(u64, u64)>,
    count: u64,
    bytes: u64,
    settled: u64,
}

impl Sent {
    fn add(&mut self, size: usize) {
        if size >= BARE {
            self.bytes += size as u64;
            self.open.push_back((self.count, self.bytes));
        }
        self.count += 1;
    }

    /// So many bytes are acknowledged or lost; returns the last of as many datagrams, if there are
    /// more than before.
    fn settle(&mut self, bytes: u64) -> Option<u64> {
        self.settled = bytes.min(self.bytes);
        let mut last = None;
        while self.open.front().is_some_and(|&(_, end)| end <= bytes) {
            last = self.open.pop_front().map(|(number, _)| number);
        }
        last
    }

    fn in_flight(&self) -> u64 {
        self.bytes - self.settled
    }
}

fn config(control: &str, identity: Option<&Identity>) -> Config {
    let mut config = Config::new(PROTOCOL_VERSION).expect("the version is known");
    config.set_application_protos(&[PROTOCOL]).expect("the protocol has a short name");
    config.set_cc_algorithm_name(control).expect("the names were checked");
    config.set_initial_max_data(WINDOW);
    config.set_initial_max_stream_data_uni(WINDOW);
    config.set_initial_max_streams_uni(1);
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    // It would add bytes of random number and size.
    config.grease(false);
    config.verify_peer(false);
    if let Some(identity) = identity {
        let (certificate, key) = identity.pem();
        let files = [Secret::new("certificate", certificate), Secret::new("key", key)];
        let [certificate, key] = &files;
        config.load_cert_chain_from_pem_file(certificate.path()).expect("it is a certificate");
        config.load_priv_key_from_pem_file(key.path()).expect("it is a key");
    }
    config
}

/// A file for as long as it is read: quiche takes certificates from files alone.
struct Secret(PathBuf);

impl Secret {
    fn new(name: &str, text: &str) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = format!("burstlab-{name}-{}-{count}.pem", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, text).expect("the directory of temporary files takes one");
        Self(path)
    }

    fn path(&self) -> &str {
        Path::to_str(&self.0).expect("the directory of temporary files has a name in UTF-8")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
