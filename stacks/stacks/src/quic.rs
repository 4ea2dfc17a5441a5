//! One end of a QUIC connection over a stack whose state machine is that of quinn-proto, from which
//! noq-proto has come: what is the same with both is written here once, in the names that their
//! types have in both crates. What differs stands in the file of each.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

macro_rules! quic_host {
    () => {
        /// The sender of a connection, and its receiver.
        pub(crate) fn hosts(wanted: &Wanted, identity: &Identity) -> [Box<dyn Host>; 2] {
            let clock = Clock::new();
            let end = |near: bool| Quic::new(wanted, identity, clock, near);
            [Box::new(end(true)), Box::new(end(false))]
        }

        /// One end of a QUIC connection: the sender is the client, and writes one stream.
        struct Quic {
            clock: Clock,
            endpoint: Endpoint,
            client: Option<ClientConfig>,
            connection: Option<(ConnectionHandle, Connection)>,
            near: bool,
            stream: Option<StreamId>,
            /// Bytes that the application has yet to write, and whether it has closed the stream.
            unwritten: u64,
            closed: bool,
            finished: bool,
            received: u64,
            /// Datagrams of the endpoint itself, such as a refusal.
            ready: VecDeque<Vec<u8>>,
            events: VecDeque<HostEvent>,
            numbers: Numbers,
            heard: Shared,
            /// Packets taken for lost so far, and the smoothed round trip.
            lost: u64,
            rtt: Duration,
            /// When it sent last, and whether an alarm has come that nothing was lost at.
            last_sent: Option<Time>,
            alarmed: bool,
        }

        impl fmt::Debug for Quic {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Quic").field("near", &self.near).finish_non_exhaustive()
            }
        }

        impl Quic {
            fn new(wanted: &Wanted, identity: &Identity, clock: Clock, near: bool) -> Self {
                let heard = Shared::default();
                let mut config = EndpointConfig::default();
                let mut seed = [u8::from(near); 32];
                seed[..8].copy_from_slice(&wanted.seed.to_le_bytes());
                config.rng_seed(Some(seed));
                let control = congestion_control(wanted, CONGESTION_CONTROLS);
                let transport =
                    Arc::new(transport(control, Draws::new(wanted.seed, near), heard.clone()));
                let server = (!near).then(|| server(identity, &transport));
                let client = near.then(|| client(identity, &transport));
                Self {
                    clock,
                    endpoint: endpoint(config, server),
                    client,
                    connection: None,
                    near,
                    stream: None,
                    unwritten: if near { supply(wanted) } else { 0 },
                    closed: false,
                    finished: false,
                    received: 0,
                    ready: VecDeque::new(),
                    events: VecDeque::new(),
                    numbers: Numbers::default(),
                    heard,
                    lost: 0,
                    rtt: Duration::ZERO,
                    last_sent: None,
                    alarmed: false,
                }
            }

            /// What the connection and its endpoint say to each other, and the application's part.
            fn goes_on(&mut self) {
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
                        if let Event::Stream(StreamEvent::Finished { id }) = event {
                            self.finished |= self.stream == Some(id);
                        }
                    }
                    if quiet {
                        break;
                    }
                }
                if self.near {
                    self.write()
                } else {
                    self.read()
                }
                self.tell();
            }

            /// The sender's application writes as much as the connection takes.
            fn write(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                if connection.is_handshaking() || self.closed {
                    return;
                }
                if self.stream.is_none() {
                    self.stream = connection.streams().open(Dir::Uni);
                }
                let Some(stream) = self.stream else { return };
                while self.unwritten > 0 {
                    let size = self.unwritten.min(BLOCK.len() as u64) as usize;
                    match connection.send_stream(stream).write(&BLOCK[..size]) {
                        Ok(written) if written > 0 && self.unwritten == u64::MAX => {}
                        Ok(written) if written > 0 => self.unwritten -= written as u64,
                        _ => return,
                    }
                }
                self.closed = connection.send_stream(stream).finish().is_ok();
            }

            /// The receiver's application reads all that is there.
            fn read(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                if self.stream.is_none() {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                let Some(stream) = self.stream else { return };
                let mut receiving = connection.recv_stream(stream);
                let Ok(mut chunks) = receiving.read(true) else { return };
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                        Ok(None) | Err(_) => break,
                    }
                }
                // Whether there is something to send is asked at every step.
                let _ = chunks.finalize();
            }

            /// Notes what was acknowledged and what was lost.
            fn tell(&mut self) {
                let Some((_, connection)) = &mut self.connection else { return };
                let (all, rtt) = stats(connection);
                let lost = all - self.lost;
                (self.lost, self.rtt) = (all, rtt);
                self.alarmed &= lost == 0;
                let mut heard = self.heard.lock();
                if connection.is_handshaking() {
                    (heard.acked, heard.sent) = (None, None);
                }
                self.numbers.tell(&mut heard, lost, &mut self.events);
            }

            /// The stack does not tell its probe time-outs. An alarm is taken for one at which
            /// nothing was lost, if it comes a round trip after the last packet or later: pacing
            /// and delayed ACKs never take as long, and a probe always does.
            fn probes(&mut self, now: Time) {
                let alarmed = std::mem::take(&mut self.alarmed);
                let waited = self.last_sent.is_some_and(|last| now.since(last) >= span(self.rtt));
                if alarmed && waited && !self.finished && self.near {
                    self.events.push_back(HostEvent::Timeout);
                }
            }
        }

        impl Host for Quic {
            fn start(&mut self, now: Time) {
                if let Some(client) = self.client.take() {
                    let to = ADDRESSES[1];
                    let at = self.clock.instant(now);
                    let connection = self.endpoint.connect(at, client, to, NAME);
                    let connection = connection.expect("the address and the name are sound");
                    self.connection = Some(connection);
                    self.goes_on();
                }
            }

            fn handle(&mut self, now: Time, packet: Packet) {
                let (instant, from) = (self.clock.instant(now), ADDRESSES[usize::from(self.near)]);
                let (data, mut answer) = (BytesMut::from(packet.bytes.as_slice()), Vec::new());
                let event = handed(&mut self.endpoint, instant, from, data, &mut answer);
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
                self.goes_on();
            }

            fn handle_timeout(&mut self, now: Time) {
                let instant = self.clock.instant(now);
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(instant);
                    self.alarmed = true;
                }
                self.goes_on();
                self.probes(now);
            }

            fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
                let instant = self.clock.instant(now);
                let mut bytes = Vec::new();
                match self.ready.pop_front() {
                    Some(ready) => bytes = ready,
                    None => {
                        let (_, connection) = self.connection.as_mut()?;
                        transmit(connection, instant, &mut bytes)?;
                    }
                }
                self.numbers.sent(&bytes, self.heard.lock().sent.take());
                self.last_sent = Some(now);
                Some(Packet { size: Size::new(bytes.len() as u64 + HEADERS), bytes })
            }

            fn poll_timeout(&mut self) -> Option<Time> {
                let (_, connection) = self.connection.as_mut()?;
                connection.poll_timeout().map(|at| self.clock.time(at))
            }

            fn poll_event(&mut self) -> Option<HostEvent> {
                self.events.pop_front()
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
                    rtt: (!connection.is_handshaking()).then(|| span(self.rtt)),
                    timeout: None,
                    received: self.received,
                    finished: self.finished,
                }
            }
        }
    };
}

pub(crate) use quic_host;

/// What the sender writes, again and again.
pub(crate) static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// The addresses of the two ends, the sender's first.
pub(crate) const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 4433),
];
