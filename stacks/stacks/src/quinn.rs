//! quinn-proto: QUIC with TLS 1.3 by rustls.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use burstlab_seeded::Draws;
use burstlab_sim::scenario::{
    Cargo, Carries, Connection as Wanted, Ecn, Ending, Host, HostEvent, HostState, Packet,
};
use burstlab_units::{Bytes as Size, Time};
use bytes::BytesMut;
use quinn_proto::congestion::{
    Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, FrameStats, RttEstimator, ServerConfig, StreamEvent, StreamId,
    TransportConfig,
};

use crate::clock::{Clock, span};
use crate::numbers::{Heard, Numbers, Parts, Shared};
use crate::quic::{ACK_DELAY, ADDRESSES, BLOCK, CRYPTO, quic_host};
use crate::{HEADERS, Supply, congestion_control};
use burstlab_tls::{Identity, NAME, Secrets};

/// By their names in quinn-proto, that which it uses by itself first.
pub(crate) const CONGESTION_CONTROLS: &[&str] = &["cubic", "new-reno", "bbr"];

quic_host!();

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true, None)
}

fn handed(
    endpoint: &mut Endpoint,
    now: Instant,
    (from, ecn): (SocketAddr, Option<EcnCodepoint>),
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, data, answer)
}

/// Returns what the header of IP says of congestion.
fn transmit(
    connection: &mut Connection,
    now: Instant,
    bytes: &mut Vec<u8>,
) -> Option<Option<EcnCodepoint>> {
    connection.poll_transmit(now, 1, bytes).map(|sent| sent.ecn)
}

/// Whether it says which packets it takes for lost.
const NAMES: bool = false;

fn stats(connection: &mut Connection) -> Stats {
    let all = connection.stats();
    let counted = Stats {
        lost: all.path.lost_packets,
        lost_probes: all.path.lost_plpmtud_probes,
        sent_probes: all.path.sent_plpmtud_probes,
        rtt: all.path.rtt,
        ..Stats::default()
    };
    counted.with(&all.frame_tx, &all.frame_rx)
}

fn control_of(connection: &Connection) -> &dyn Controller {
    connection.congestion_state()
}

fn transport(control: &'static str, draws: Draws, heard: Shared) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.enable_segmentation_offload(false);
    transport.congestion_controller_factory(Arc::new(QuinnWatching { control, draws, heard }));
    transport
}

fn client(
    identity: &Identity,
    secrets: &Secrets,
    transport: &Arc<TransportConfig>,
) -> ClientConfig {
    let tls = identity.client_with(secrets);
    let tls = QuicClientConfig::try_from(tls).expect("TLS 1.3 has the suites");
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::clone(transport));
    config
}

fn server(identity: &Identity, transport: &Arc<TransportConfig>) -> Arc<ServerConfig> {
    let tls = QuicServerConfig::try_from(identity.server()).expect("TLS 1.3 has the suites");
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(Arc::clone(transport));
    Arc::new(config)
}

/// Makes a congestion control that is watched.
struct QuinnWatching {
    control: &'static str,
    draws: Draws,
    heard: Shared,
}

impl ControllerFactory for QuinnWatching {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = match self.control {
            "new-reno" => Arc::new(NewRenoConfig::default()).build(now, mtu),
            "bbr" => burstlab_quinn_bbr::build(self.draws, now, mtu),
            _ => Arc::new(CubicConfig::default()).build(now, mtu),
        };
        self.heard.lock().mtu = u64::from(mtu);
        Box::new(QuinnWatched { inner, heard: self.heard.clone() })
    }
}

/// A congestion control of quinn-proto that passes on all calls, and a record of them.
struct QuinnWatched {
    inner: Box<dyn Controller>,
    heard: Shared,
}

impl QuinnWatched {
    fn note(&self, note: impl FnOnce(&mut Heard)) {
        note(&mut self.heard.lock());
    }
}

impl Controller for QuinnWatched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.note(|heard| {
            heard.sent = Some(last_packet_number);
            heard.in_flight += bytes;
        });
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.note(|heard| {
            heard.in_flight = in_flight;
            heard.acked = heard.acked.max(largest_packet_num_acked);
        });
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.note(|heard| heard.in_flight = heard.in_flight.saturating_sub(lost_bytes));
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.note(|heard| heard.mtu = u64::from(new_mtu));
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), heard: self.heard.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
