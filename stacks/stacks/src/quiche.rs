//! quiche: QUIC with TLS 1.3 by BoringSSL. It reads the clock of the machine, and is given that of
//! the run (`virtual_clock.rs`). It draws random numbers from BoringSSL, and is given those that
//! follow from the seed (`chance.rs`).

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burstlab_sim::scenario::{
    Cargo, Carries, Connection as Wanted, Ending, Host, HostEvent, HostState, Packet,
};
use burstlab_units::{Bytes, Time};
use quiche::{Config, Connection, ConnectionId, Error, PROTOCOL_VERSION, RecvInfo};

use crate::chance::Chance;
use crate::clock::span;
use crate::numbers::{Heard, Numbers, Parts};
use crate::{HEADERS, Supply, congestion_control, virtual_clock};

/// By their names in quiche, that which it uses by itself first.
pub(crate) const CONGESTION_CONTROLS: &[&str] = &["cubic", "reno", "bbr2"];

/// The name of the application protocol (RFC 7301).
const PROTOCOL: &[u8] = b"burstlab";

/// The largest datagram it sends, headers of IP and UDP not counted.
const DATAGRAM: usize = 1350;

/// A datagram of fewer bytes is taken for ACKs alone: quiche does not tell what is in one.
const BARE: usize = 72;

/// Bytes of the seal at the end of a packet.
const SEAL: usize = 16;

/// Datagrams in flight that are remembered; a lost one is never asked for.
const MOST_IN_FLIGHT: usize = 1 << 16;

/// Bytes that a receiver lets the sender send ahead: as many as quinn-proto and noq-proto do for a
/// stream, so that the three compare.
const WINDOW: u64 = 1_250_000;

/// The first stream of one direction of the client, and of the server (RFC 9000, section 2.1).
const STREAMS: [u64; 2] = [2, 3];

/// From one stream to the next of its kind.
const STEP: u64 = 4;

/// The certificate of every receiver, and its key: BoringSSL takes no Ed25519 here, signatures of
/// ECDSA have several sizes, and those of RSA one. Nobody trusts it, so that it is no secret.
const CERTIFICATE: &str = include_str!("quiche/certificate.pem");
const KEY: &str = include_str!("quiche/key.pem");

static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4433),
];

/// The sender of a connection, and its receiver.
pub(crate) fn hosts(wanted: &Wanted) -> [Box<dyn Host>; 2] {
    let known = Arc::new(Mutex::new([OnTheWay::default(), OnTheWay::default()]));
    let end = |near: bool| Quiche::new(wanted, near, Arc::clone(&known));
    [Box::new(end(true)), Box::new(end(false))]
}

/// One end of a QUIC connection: the sender is the client. Each end that has data writes streams of
/// its own.
struct Quiche {
    near: bool,
    /// Whether both ends have data.
    both: bool,
    chance: Chance,
    config: Config,
    connection: Option<Connection>,
    secrets: Lines,
    supply: Supply,
    /// Which of its streams are closed.
    closed: Vec<bool>,
    /// All of them is acknowledged.
    finished: bool,
    received: u64,
    /// A datagram that its pacing sends later.
    held: Option<(Time, Vec<u8>)>,
    events: VecDeque<HostEvent>,
    /// Of the datagrams of each end, the sender's first.
    known: Arc<Mutex<[OnTheWay; 2]>>,
    sent: Sent,
    lost: u64,
    probes: u64,
    /// The contents of the last datagram.
    cargo: Cargo,
    /// Datagrams of the handshake, and the first one after them.
    numbers: Numbers,
    first: Option<u64>,
    /// Whether the connection is dead.
    ended: bool,
}

impl fmt::Debug for Quiche {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quiche").field("near", &self.near).finish_non_exhaustive()
    }
}

impl Quiche {
    fn new(wanted: &Wanted, near: bool, known: Arc<Mutex<[OnTheWay; 2]>>) -> Self {
        let control = congestion_control(wanted, CONGESTION_CONTROLS);
        Self {
            near,
            both: wanted.back.is_some(),
            chance: Chance::new(wanted.seed, near),
            config: config((control, wanted.streams), !near),
            connection: None,
            secrets: Lines::default(),
            supply: Supply::of(wanted, near),
            closed: vec![false; wanted.streams as usize],
            finished: false,
            received: 0,
            held: None,
            events: VecDeque::new(),
            known,
            sent: Sent::default(),
            lost: 0,
            probes: 0,
            cargo: Cargo::default(),
            numbers: Numbers::of(near),
            first: None,
            ended: false,
        }
    }

    /// Calls quiche at an instant of the run, with the chances of this end.
    fn at<T>(&mut self, now: Time, act: impl FnOnce(&mut Self) -> T) -> T {
        let mut chance = self.chance;
        let done = chance.with(|| virtual_clock::at(now, || act(self)));
        self.chance = chance;
        done
    }

    fn on_the_way(&self) -> MutexGuard<'_, [OnTheWay; 2]> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The application's part, and what the connection has noted.
    fn goes_on(&mut self, now: Time) {
        self.supply.comes_to(now);
        let Some(connection) = &mut self.connection else { return };
        if !self.near || self.both {
            self.received += read(connection, STREAMS[usize::from(self.near)], self.closed.len());
            self.supply.hears(now, self.received);
        }
        if self.supply.sends && !self.finished {
            let streams = (STREAMS[usize::from(!self.near)]..).step_by(STEP as usize);
            self.finished = true;
            for (place, (stream, closed)) in streams.zip(&mut self.closed).enumerate() {
                write(connection, &mut self.supply, (place, stream), closed);
                // A stream all of which is acknowledged is no more.
                self.finished &= *closed && connection.stream_capacity(stream).is_err();
            }
        }
        if connection.is_closed() && !self.ended {
            self.ended = true;
            self.events.push_back(HostEvent::Ended(ending(connection)));
        }
        let Some(path) = connection.path_stats().next() else { return };
        let (lost, probes) = (path.lost as u64, path.total_pto_count as u64);
        if probes > self.probes && !self.ended {
            self.events.push_back(HostEvent::Timeout);
        }
        if lost > self.lost {
            self.events.push_back(HostEvent::SomeLost((lost - self.lost) as u32));
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
        let [own, other] = ADDRESSES;
        let opened = self.at(now, |end| quiche::connect(None, &id, own, other, &mut end.config));
        let mut opened = opened.expect("the configuration is sound");
        opened.set_keylog(Box::new(self.secrets.clone()));
        self.connection = Some(opened);
    }

    fn handle(&mut self, now: Time, mut packet: Packet) {
        let [client, server] = ADDRESSES;
        let (from, to) = if self.near { (server, client) } else { (client, server) };
        let acked = comes(&mut self.on_the_way(), (self.near, self.both), &packet.bytes);
        if let Some(acked) = acked.filter(|&acked| self.sent.ack(acked)) {
            self.events.push_back(HostEvent::Acked(acked));
            if self.first.is_some_and(|first| first <= acked) {
                // Who acknowledges data has ended the handshake.
                self.numbers.forget(false, &mut self.events);
            }
        }
        let Parts { short, handshake, .. } = Parts::of(&packet.bytes);
        self.at(now, |end| {
            if end.connection.is_none() && !end.near {
                let id = ConnectionId::from_ref(&[2; 16]);
                let opened = quiche::accept(&id, None, to, from, &mut end.config);
                end.connection = Some(opened.expect("the configuration is sound"));
            }
            if let Some(connection) = &mut end.connection {
                // A packet that it cannot read it drops, as it would of any network.
                let _ = connection.recv(&mut packet.bytes, RecvInfo { from, to });
            }
            end.goes_on(now);
        });
        if handshake && !self.near && self.both {
            // So ends the first space of numbers of a server (RFC 9001, section 4.9.1).
            self.numbers.forget(true, &mut self.events);
        }
        let open = self.connection.as_ref().is_none_or(|one| !one.is_established());
        if self.both && short && open {
            self.events.push_back(HostEvent::Unread);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.at(now, |end| {
            if let Some(connection) = &mut end.connection {
                let due = connection.timeout_instant().map(virtual_clock::time);
                if due.is_some_and(|at| at <= now) {
                    connection.on_timeout();
                }
            }
            end.goes_on(now);
        });
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let bytes = match self.held.take() {
            Some((at, bytes)) if at <= now => bytes,
            Some(held) => {
                self.held = Some(held);
                return None;
            }
            None => self.at(now, |end| end.next(now))?,
        };
        let number = self.sent.add(bytes.len());
        left(&mut self.on_the_way(), (self.near, self.both), number, &bytes);
        let parts = Parts::of(&bytes);
        let carries = match (parts.short, bytes.len() < BARE) {
            (false, _) => Carries::Handshake,
            (_, true) => Carries::Ack,
            (_, false) => Carries::Data,
        };
        self.cargo = Cargo { carries, packets: parts.count() };
        self.numbers.sent(parts, false, &mut Heard::default(), &mut self.events);
        if parts.short {
            self.first.get_or_insert(number);
        }
        Some(Packet { size: Bytes::new(bytes.len() as u64 + HEADERS), bytes })
    }

    fn carried(&self) -> Cargo {
        self.cargo
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let connection = self.connection.as_ref()?;
        let due = connection.timeout_instant().map(virtual_clock::time);
        let held = self.held.as_ref().map(|held| held.0);
        let writes = self.supply.next().filter(|_| !self.ended);
        due.into_iter().chain(held).chain(writes).min()
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.events.pop_front()
    }

    fn take_secrets(&mut self) -> Option<String> {
        let lines = std::mem::take(&mut *self.secrets.lock());
        String::from_utf8(lines).ok().filter(|lines| !lines.is_empty())
    }

    /// It waits for more where packets have overtaken others before.
    fn reordering(&self) -> u64 {
        20
    }

    fn state(&self) -> HostState {
        let connection = self.connection.as_ref();
        let path = connection.and_then(|connection| connection.path_stats().next());
        let established = connection.is_some_and(Connection::is_established);
        HostState {
            cwnd: path.as_ref().map(|path| path.cwnd as u64),
            ssthresh: None,
            in_flight: self.sent.in_flight(),
            packet: DATAGRAM as u64,
            rtt: path.filter(|_| established).map(|path| span(path.rtt)),
            timeout: None,
            received: self.received,
            finished: self.finished,
        }
    }
}

/// Why a connection has ended.
fn ending(connection: &Connection) -> Ending {
    /// Errors of TLS (RFC 9001, section 4.8).
    const CRYPTO: std::ops::Range<u64> = 0x100..0x200;
    if connection.is_timed_out() {
        return Ending::Idle;
    }
    match (connection.local_error(), connection.peer_error()) {
        (Some(error), _) if CRYPTO.contains(&error.error_code) => Ending::Tls,
        (Some(_), _) => Ending::Transport,
        (None, Some(_)) => Ending::ClosedByPeer,
        (None, None) => Ending::Closed,
    }
}

/// Lines of a key log, as quiche writes them.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lock().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The application writes as much as a stream takes, the one at a place of its own, and closes it
/// then.
fn write(
    connection: &mut Connection,
    supply: &mut Supply,
    (place, stream): (usize, u64),
    closed: &mut bool,
) {
    while connection.is_established() && supply.awaits.is_none() && !*closed {
        let size = supply.unwritten[place].min(BLOCK.len() as u64);
        let last = size == supply.unwritten[place] && supply.has_all();
        if size == 0 && !last {
            return;
        }
        match connection.stream_send(stream, &BLOCK[..size as usize], last) {
            Ok(0) | Err(Error::Done) if !last || size > 0 => return,
            Ok(written) => {
                *closed = last && written as u64 == size;
                supply.wrote(place, written as u64);
            }
            Err(_) => return,
        }
    }
}

/// The application reads all that is there of so many streams; returns how much.
fn read(connection: &mut Connection, first: u64, count: usize) -> u64 {
    let (mut block, mut sum) = ([0; 1 << 16], 0);
    for stream in (first..).step_by(STEP as usize).take(count) {
        while let Ok((size, _)) = connection.stream_recv(stream, &mut block) {
            sum += size as u64;
        }
    }
    sum
}

/// Facts that both ends know of the datagrams of one of them in flight: quiche says neither
/// which packets are acknowledged nor which are lost, only how many. A datagram is known by its
/// end, the seal of its last packet (RFC 9001, section 5.3).
#[derive(Debug, Default)]
struct OnTheWay {
    /// The number of each.
    data: BTreeMap<[u8; SEAL], u64>,
    /// Of each of the other end, the highest number that had come when it was sent.
    acks: BTreeMap<[u8; SEAL], u64>,
    received: Option<u64>,
}

/// The datagrams of which something is to be known, the sender's alone where it alone has data: of
/// the end itself, and of the other one.
type Two<'a> = (Option<&'a mut OnTheWay>, Option<&'a mut OnTheWay>);

fn of_both(known: &mut [OnTheWay; 2], (near, both): (bool, bool)) -> Two<'_> {
    let [sender, receiver] = known;
    let (sender, receiver) = (Some(sender), Some(receiver).filter(|_| both));
    if near { (sender, receiver) } else { (receiver, sender) }
}

/// A datagram leaves an end.
fn left(known: &mut [OnTheWay; 2], end: (bool, bool), number: u64, datagram: &[u8]) {
    let Some(&seal) = datagram.last_chunk() else { return };
    let (own, other) = of_both(known, end);
    if let Some(own) = own {
        forget(&mut own.data, number);
        own.data.insert(seal, number);
    }
    if let Some((other, received)) = other.and_then(|other| other.received.map(|at| (other, at))) {
        forget(&mut other.acks, received);
        other.acks.insert(seal, received);
    }
}

/// A datagram comes to an end; returns what it may acknowledge at most.
fn comes(known: &mut [OnTheWay; 2], end: (bool, bool), datagram: &[u8]) -> Option<u64> {
    let seal: &[u8; SEAL] = datagram.last_chunk()?;
    let (own, other) = of_both(known, end);
    if let Some(other) = other {
        other.received = other.received.max(other.data.remove(seal));
    }
    own.and_then(|own| own.acks.remove(seal))
}

/// Forgets datagrams that are lost, once many are known that are later.
fn forget(known: &mut BTreeMap<[u8; SEAL], u64>, number: u64) {
    if known.len() >= MOST_IN_FLIGHT {
        known.retain(|_, other| *other + MOST_IN_FLIGHT as u64 / 2 > number);
    }
}

/// The sender's datagrams that are not acknowledged, and how many bytes there are up to the end of
/// each.
#[derive(Debug, Default)]
struct Sent {
    open: VecDeque<(u64, u64)>,
    count: u64,
    bytes: u64,
    settled: u64,
    acked: Option<u64>,
}

impl Sent {
    /// Returns the number of a datagram.
    fn add(&mut self, size: usize) -> u64 {
        self.bytes += size as u64;
        self.open.push_back((self.count, self.bytes));
        self.count += 1;
        self.count - 1
    }

    /// Datagrams up to this one have come, or are late; returns whether that is new.
    fn ack(&mut self, number: u64) -> bool {
        let new = self.acked < Some(number);
        self.acked = self.acked.max(Some(number));
        while let Some(&(_, end)) = self.open.front().filter(|(other, _)| *other <= number) {
            self.settled = end;
            self.open.pop_front();
        }
        new
    }

    fn in_flight(&self) -> u64 {
        self.bytes - self.settled
    }
}

fn config((control, streams): (&str, u32), server: bool) -> Config {
    let mut config = Config::new(PROTOCOL_VERSION).expect("the version is known");
    config.set_application_protos(&[PROTOCOL]).expect("the protocol has a short name");
    config.set_cc_algorithm_name(control).expect("the names were checked");
    config.set_initial_max_data(WINDOW.saturating_mul(u64::from(streams)));
    config.set_initial_max_stream_data_uni(WINDOW);
    config.set_initial_max_streams_uni(u64::from(streams));
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    // It would add bytes of random number and size.
    config.grease(false);
    config.log_keys();
    config.verify_peer(false);
    if server {
        let (certificate, key) = (OnDisk::new("certificate", CERTIFICATE), OnDisk::new("key", KEY));
        config.load_cert_chain_from_pem_file(certificate.path()).expect("it is a certificate");
        config.load_priv_key_from_pem_file(key.path()).expect("it is a key");
    }
    config
}

/// A file for as long as it is read: quiche takes certificates from files alone.
struct OnDisk(PathBuf);

impl OnDisk {
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

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
