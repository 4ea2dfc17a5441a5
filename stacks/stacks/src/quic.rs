//! One end of a QUIC connection over a stack whose state machine is that of quinn-proto, from which
//! noq-proto has come. The part that both share is written here once, in the names that their types
//! have in both crates. The differences stand in the file of each.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

macro_rules! quic_host {
    () => {
        /// The sender of a connection, and its receiver.
        pub(crate) fn hosts(wanted: &Wanted, identity: &Identity) -> [Box<dyn Host>; 2] {
            let clock = Clock::new();
            let end = |near: bool| Quic::new(wanted, identity, clock, near);
            [Box::new(end(true)), Box::new(end(false))]
        }

        /// One end of a QUIC connection: the sender is the client. Each end that has data writes
        /// streams of its own.
        struct Quic {
            clock: Clock,
            endpoint: Endpoint,
            client: Option<ClientConfig>,
            connection: Option<(ConnectionHandle, Connection)>,
            near: bool,
            /// Whether both ends have data.
            both: bool,
            /// Data that the application has yet to write, and its streams; which of them it has
            /// closed, and how many are acknowledged whole.
            supply: Supply,
            streams: Vec<(StreamId, bool)>,
            done: usize,
            finished: bool,
            /// Streams of the other end that go on.
            incoming: Vec<StreamId>,
            received: u64,
            /// Codepoints of ECN: of the last datagram, and of that which comes.
            ecn: Ecn,
            came: Ecn,
            /// Datagrams of the endpoint itself, such as a refusal.
            ready: VecDeque<Vec<u8>>,
            events: VecDeque<HostEvent>,
            numbers: Numbers,
            heard: Shared,
            secrets: Secrets,
            /// The counts of the connection when it was asked last, and when it last sent.
            stats: Stats,
            sent: Stats,
            /// The contents of the last datagram.
            cargo: Cargo,
            /// When it last sent something that asks for an ACK, and whether an alarm has come that
            /// nothing was lost at.
            last_sent: Option<Time>,
            alarmed: bool,
            /// The last probe of the path's largest packet, of which there is one at a time.
            probe: Option<u64>,
            /// Whether the connection is dead.
            ended: bool,
            /// When datagrams came of which the ACK may be delayed.
            arrivals: VecDeque<Instant>,
        }

        /// The counts of a connection.
        #[derive(Clone, Copy, Debug, Default)]
        struct Stats {
            /// Packets taken for lost, and probes of the path's largest packet.
            lost: u64,
            lost_probes: u64,
            sent_probes: u64,
            /// Frames sent: of data, and others that ask for an ACK.
            data: u64,
            control: u64,
            /// The smoothed round trip.
            rtt: Duration,
            /// Whether the handshake is confirmed.
            confirmed: bool,
            /// Whether something of the handshake was read: without that there are no keys for what
            /// comes later in it.
            greeted: bool,
        }

        impl Stats {
            /// Takes over the frames of a connection, or of its path.
            fn with(mut self, sent: &FrameStats, heard: &FrameStats) -> Self {
                self.data = sent.stream;
                self.confirmed = heard.handshake_done > 0;
                self.greeted = heard.crypto > 0;
                self.control = [
                    sent.ack_frequency,
                    sent.crypto,
                    sent.connection_close,
                    sent.data_blocked,
                    u64::from(sent.handshake_done),
                    sent.immediate_ack,
                    sent.max_data,
                    sent.max_stream_data,
                    sent.max_streams_bidi,
                    sent.max_streams_uni,
                    sent.new_connection_id,
                    sent.new_token,
                    sent.path_challenge,
                    sent.path_response,
                    sent.ping,
                    sent.reset_stream,
                    sent.retire_connection_id,
                    sent.stream_data_blocked,
                    sent.stop_sending,
                ]
                .iter()
                .sum();
                self
            }
        }

        /// Why a connection has ended.
        fn ending(reason: &ConnectionError) -> Ending {
            match reason {
                ConnectionError::TimedOut => Ending::Idle,
                ConnectionError::Reset => Ending::Reset,
                ConnectionError::LocallyClosed => Ending::Closed,
                ConnectionError::ConnectionClosed(_) | ConnectionError::ApplicationClosed(_) => {
                    Ending::ClosedByPeer
                }
                ConnectionError::TransportError(error) if CRYPTO.contains(&error.code.into()) => {
                    Ending::Tls
                }
                _ => Ending::Transport,
            }
        }

        /// A codepoint of ECN, as the engine has it.
        fn codepoint(ecn: EcnCodepoint) -> Ecn {
            match ecn {
                EcnCodepoint::Ect0 => Ecn::Ect0,
                EcnCodepoint::Ect1 => Ecn::Ect1,
                EcnCodepoint::Ce => Ecn::Ce,
            }
        }

        impl fmt::Debug for Quic {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Quic").field("near", &self.near).finish_non_exhaustive()
            }
        }

        impl Quic {
            fn new(wanted: &Wanted, identity: &Identity, clock: Clock, near: bool) -> Self {
                let (heard, secrets) = (Shared::default(), Secrets::default());
                let mut config = EndpointConfig::default();
                let mut seed = [u8::from(near); 32];
                seed[..8].copy_from_slice(&wanted.seed.to_le_bytes());
                config.rng_seed(Some(seed));
                let control = congestion_control(wanted, CONGESTION_CONTROLS);
                let transport =
                    Arc::new(transport(control, Draws::new(wanted.seed, near), heard.clone()));
                let server = (!near).then(|| server(identity, &transport));
                let client = near.then(|| client(identity, &secrets, &transport));
                Self {
                    clock,
                    endpoint: endpoint(config, server),
                    client,
                    connection: None,
                    near,
                    both: wanted.back.is_some(),
                    supply: Supply::of(wanted, near),
                    streams: Vec::new(),
                    done: 0,
                    finished: false,
                    incoming: Vec::new(),
                    received: 0,
                    ecn: Ecn::NotEct,
                    came: Ecn::NotEct,
                    ready: VecDeque::new(),
                    events: VecDeque::new(),
                    numbers: Numbers::of(near),
                    heard,
                    secrets,
                    stats: Stats::default(),
                    sent: Stats::default(),
                    cargo: Cargo::default(),
                    last_sent: None,
                    alarmed: false,
                    probe: None,
                    ended: false,
                    arrivals: VecDeque::new(),
                }
            }

            /// The exchange between the connection and its endpoint, and the application's part.
            fn goes_on(&mut self, now: Time) {
                self.supply.comes_to(now);
                let Some((handle, connection)) = &mut self.connection else { return };
                loop {
                    let mut quiet = true;
                    while let Some(event) = connection.poll_endpoint_events() {
                        quiet = false;
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    while let Some(event) = connection.poll() {
                        quiet = false;
                        match event {
                            Event::Stream(StreamEvent::Finished { .. }) => {
                                self.done += 1;
                                self.finished = self.done == self.supply.unwritten.len();
                            }
                            Event::ConnectionLost { reason } if !self.ended => {
                                self.ended = true;
                                self.events.push_back(HostEvent::Ended(ending(&reason)));
                            }
                            _ => {}
                        }
                    }
                    if quiet {
                        break;
                    }
                }
                if !self.near || self.both {
                    self.read();
                    self.supply.hears(now, self.received);
                }
                if self.supply.sends {
                    self.write();
                }
                self.tell();
            }

            /// The application writes as much as the connection takes.
            fn write(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                let count = self.supply.unwritten.len();
                if connection.is_handshaking() || self.supply.awaits.is_some() {
                    return;
                }
                while self.streams.len() < count {
                    let Some(stream) = connection.streams().open(Dir::Uni) else { return };
                    self.streams.push((stream, false));
                }
                let open = self.streams.iter_mut().enumerate().filter(|(_, (_, closed))| !closed);
                for (place, (stream, closed)) in open {
                    let mut stream = connection.send_stream(*stream);
                    while self.supply.unwritten[place] > 0 {
                        let size = self.supply.unwritten[place].min(BLOCK.len() as u64) as usize;
                        match stream.write(&BLOCK[..size]) {
                            Ok(written) if written > 0 => self.supply.wrote(place, written as u64),
                            _ => break,
                        }
                    }
                    let over = self.supply.unwritten[place] == 0 && self.supply.has_all();
                    *closed = over && stream.finish().is_ok();
                }
            }

            /// The application reads all that is there.
            fn read(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                while let Some(stream) = connection.streams().accept(Dir::Uni) {
                    self.incoming.push(stream);
                }
                self.incoming.retain(|&stream| {
                    let mut receiving = connection.recv_stream(stream);
                    let Ok(mut chunks) = receiving.read(true) else { return false };
                    let open = loop {
                        match chunks.next(usize::MAX) {
                            Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                            Ok(None) => break false,
                            Err(_) => break true,
                        }
                    };
                    // Whether there is something to send is asked at every step.
                    let _ = chunks.finalize();
                    open
                });
            }

            /// Notes what was acknowledged and what was lost.
            fn tell(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                let (mut stats, before) = (stats(connection), self.stats);
                // A server confirms the handshake as it ends it (RFC 9001, section 4.1.2).
                stats.confirmed |= !self.near && !connection.is_handshaking();
                self.stats = stats;
                let lost = stats.lost.saturating_sub(before.lost);
                self.alarmed &= lost == 0 && stats.lost_probes == before.lost_probes;
                let mut heard = self.heard.lock();
                self.numbers.tell(&mut heard, if NAMES { 0 } else { lost }, &mut self.events);
                if stats.lost_probes > before.lost_probes {
                    self.events.extend(self.probe.take().map(HostEvent::Lost));
                }
                if stats.confirmed && !before.confirmed {
                    self.numbers.forget(false, &mut self.events);
                }
            }

            /// The contents of a datagram that was just sent.
            fn loads(&mut self, parts: Parts) -> Carries {
                let Some((_, connection)) = &mut self.connection else { return Carries::Handshake };
                let (stats, before) = (stats(connection), self.sent);
                self.sent = stats;
                if parts.short && stats.data > before.data {
                    Carries::Data
                } else if stats.sent_probes > before.sent_probes {
                    Carries::MtuProbe
                } else if parts.long > 0 {
                    Carries::Handshake
                } else if stats.control > before.control {
                    Carries::Control
                } else {
                    Carries::Ack
                }
            }

            /// The stack does not report its probe time-outs. An alarm is taken for one at which
            /// nothing was lost, if data are in flight and it comes a round trip after the last of
            /// them or later. Pacing never takes as long, and a probe always does. A delayed ACK is
            /// none, nor that a connection ends.
            fn probes(&mut self, now: Time) {
                let alarmed = std::mem::take(&mut self.alarmed) && self.supply.sends && !self.ended;
                let round = span(self.stats.rtt);
                let waited = self.last_sent.is_some_and(|last| now.since(last) >= round);
                let waits = !self.stats.confirmed || self.heard.lock().in_flight > 0;
                if alarmed && waited && waits && !self.finished {
                    self.events.push_back(HostEvent::Timeout);
                }
            }
        }

        #[cfg(test)]
        #[test]
        fn an_end_that_trusts_nobody_says_so() {
            let wanted = Wanted {
                flow: 0,
                stack: String::new(),
                congestion_control: None,
                bytes: Some(1000),
                writes: vec![(Time::ZERO, 1000)],
                back: None,
                streams: 1,
                ecn: false,
                seed: 1,
            };
            let (clock, mut now) = (Clock::new(), Time::ZERO);
            let other = Identity::new();
            let mut near = Quic::new(&wanted, &Identity::new(), clock, true);
            let mut far = Quic::new(&wanted, &other, clock, false);
            near.start(now);
            for _ in 0..10 {
                now += burstlab_units::Span::from_ms(1);
                for _ in 0..9 {
                    near.poll_transmit(now).into_iter().for_each(|packet| far.handle(now, packet));
                    far.poll_transmit(now).into_iter().for_each(|packet| near.handle(now, packet));
                }
            }
            assert!(near.events.contains(&HostEvent::Ended(Ending::Tls)), "{:?}", near.events);
            assert!(
                far.events.contains(&HostEvent::Ended(Ending::ClosedByPeer)),
                "{:?}",
                far.events
            );
        }

        impl Host for Quic {
            fn start(&mut self, now: Time) {
                if let Some(client) = self.client.take() {
                    let to = ADDRESSES[1];
                    let at = self.clock.instant(now);
                    let connection = self.endpoint.connect(at, client, to, NAME);
                    let connection = connection.expect("the address and the name are sound");
                    self.connection = Some(connection);
                    self.goes_on(now);
                }
            }

            fn handle(&mut self, now: Time, packet: Packet) {
                let (instant, from) = (self.clock.instant(now), ADDRESSES[usize::from(self.near)]);
                let (data, mut answer) = (BytesMut::from(packet.bytes.as_slice()), Vec::new());
                let ecn = EcnCodepoint::from_bits(std::mem::take(&mut self.came) as u8);
                let event = handed(&mut self.endpoint, instant, (from, ecn), data, &mut answer);
                match event {
                    Some(DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = &mut self.connection {
                            connection.handle_event(event);
                        }
                    }
                    Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                        let accepted = self.endpoint.accept(incoming, instant, &mut answer, None);
                        self.connection = accepted.ok();
                    }
                    Some(DatagramEvent::Response(_)) => self.ready.push_back(answer),
                    _ => {}
                }
                let Parts { short, handshake, long } = Parts::of(&packet.bytes);
                if !short || (long > 0 && !self.near) {
                    // It acknowledged packets of the handshake, which have numbers of their own.
                    self.heard.lock().acked = None;
                }
                self.goes_on(now);
                if self.supply.sends {
                    let old = |came: &Instant| *came + ACK_DELAY < instant;
                    while self.arrivals.front().is_some_and(old) {
                        self.arrivals.pop_front();
                    }
                    self.arrivals.push_back(instant);
                    if handshake && !self.near {
                        // So ends the first space of numbers of a server (RFC 9001, section 4.9.1).
                        self.numbers.forget(true, &mut self.events);
                    }
                }
                let opens = |(_, connection): &(_, Connection)| connection.is_handshaking();
                let reads = !self.near || self.both;
                let early = short && self.connection.as_ref().is_none_or(opens);
                if reads && (early || self.near && handshake && !self.stats.greeted) {
                    self.events.push_back(HostEvent::Unread);
                }
            }

            fn handle_timeout(&mut self, now: Time) {
                let instant = self.clock.instant(now);
                if let Some((_, connection)) = &mut self.connection
                    && let Some(at) = connection.poll_timeout().filter(|&at| at <= instant)
                {
                    connection.handle_timeout(instant);
                    // An ACK that was delayed goes out now.
                    self.alarmed = self.arrivals.iter().all(|&came| came + ACK_DELAY != at);
                }
                self.goes_on(now);
                self.probes(now);
            }

            fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
                let instant = self.clock.instant(now);
                let mut bytes = Vec::new();
                let ecn = match self.ready.pop_front() {
                    Some(ready) => {
                        bytes = ready;
                        None
                    }
                    None => {
                        let (_, connection) = self.connection.as_mut()?;
                        transmit(connection, instant, &mut bytes)?
                    }
                };
                self.ecn = ecn.map_or(Ecn::NotEct, codepoint);
                let parts = Parts::of(&bytes);
                let carries = self.loads(parts);
                self.cargo = Cargo { carries, packets: parts.count() };
                let probe = carries == Carries::MtuProbe;
                if probe {
                    self.probe = Some(self.numbers.count());
                }
                self.numbers.sent(parts, probe, &mut self.heard.lock(), &mut self.events);
                if carries != Carries::Ack {
                    self.last_sent = Some(now);
                }
                Some(Packet { size: Size::new(bytes.len() as u64 + HEADERS), bytes })
            }

            fn carried(&self) -> Cargo {
                self.cargo
            }

            fn poll_timeout(&mut self) -> Option<Time> {
                let (_, connection) = self.connection.as_mut()?;
                let due = connection.poll_timeout().map(|at| self.clock.time(at));
                // Of a dead connection there is nothing to write.
                due.into_iter().chain(self.supply.next().filter(|_| !self.ended)).min()
            }

            fn poll_event(&mut self) -> Option<HostEvent> {
                self.events.pop_front()
            }

            fn ecn(&self) -> Ecn {
                self.ecn
            }

            fn hears_ecn(&mut self, ecn: Ecn) {
                self.came = ecn;
            }

            fn take_secrets(&mut self) -> Option<String> {
                self.secrets.take()
            }

            fn state(&self) -> HostState {
                let Some((_, connection)) = &self.connection else {
                    return HostState { packet: 1, ..HostState::default() };
                };
                let (in_flight, packet) = {
                    let heard = self.heard.lock();
                    (heard.in_flight, heard.mtu)
                };
                let control = control_of(connection);
                let metrics = control.metrics();
                HostState {
                    cwnd: Some(control.window()),
                    ssthresh: metrics.ssthresh.filter(|&ssthresh| ssthresh != u64::MAX),
                    in_flight,
                    packet,
                    rtt: (!connection.is_handshaking()).then(|| span(self.stats.rtt)),
                    timeout: None,
                    received: self.received,
                    finished: self.finished,
                }
            }
        }
    };
}

pub(crate) use quic_host;

/// How long an ACK is delayed at most, as quinn and noq have it by themselves (RFC 9000, section
/// 18.2).
pub(crate) const ACK_DELAY: Duration = Duration::from_millis(25);

/// Errors of TLS (RFC 9001, section 4.8).
pub(crate) const CRYPTO: std::ops::Range<u64> = 0x100..0x200;

/// The data that the sender writes, again and again.
pub(crate) static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// The addresses of the two ends, the sender's first.
pub(crate) const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4433),
];
