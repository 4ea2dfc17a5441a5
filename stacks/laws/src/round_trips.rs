//! Estimators of round trips, as quinn-proto and noq-proto hand them to a congestion control. Only
//! a connection makes one: before its first measurement it reports the round trip that it was
//! configured with, and a handshake's first ACK hands it over.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use burstlab_tls::Identity;

/// The longest round trip in milliseconds.
const LONGEST: usize = 2000;

/// When all streams begin: laws look at differences of instants alone.
#[allow(clippy::disallowed_methods, reason = "there is no other source of an instant")]
pub(crate) fn began() -> Instant {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    *BEGAN.get_or_init(Instant::now)
}

/// The instant of microsecond `now` of a stream.
pub(crate) fn at(began: Instant, now: u64) -> Instant {
    // A packet that is sent at the very beginning is sent after the last loss, as there was none.
    began + Duration::from_micros(now + 1)
}

fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(Identity::new)
}

macro_rules! estimators {
    (
        $module:ident, $name:ident, $stack:ident, acked [$($acked:ty),*], lost [$($lost:ty),*],
        endpoint $endpoint:expr, handle $handle:expr, transmit $transmit:expr,
    ) => {
        mod $module {
            use std::any::Any;
            use std::net::{Ipv4Addr, SocketAddr};
            use std::sync::{Arc, Mutex, OnceLock, PoisonError};
            use std::time::{Duration, Instant};

            use burstlab_tls::NAME;
            use bytes::BytesMut;
            use $stack::congestion::{Controller, ControllerFactory};
            use $stack::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            use $stack::{
                ClientConfig, Connection, DatagramEvent, Endpoint, EndpointConfig, RttEstimator,
                ServerConfig, TransportConfig,
            };

            use super::{LONGEST, began, identity};

            /// The estimator of a smoothed round trip of so many milliseconds.
            pub(crate) fn $name(milliseconds: u64) -> &'static RttEstimator {
                static ALL: [OnceLock<RttEstimator>; LONGEST + 1] =
                    [const { OnceLock::new() }; LONGEST + 1];
                let place = (milliseconds as usize).min(LONGEST);
                ALL[place].get_or_init(|| handed(Duration::from_millis(place as u64)))
            }

            /// Hears of an ACK, and keeps the estimator that comes with it.
            #[derive(Clone, Debug, Default)]
            struct Tap(Arc<Mutex<Option<Kept>>>);

            #[derive(Clone, Copy)]
            struct Kept(RttEstimator);

            impl std::fmt::Debug for Kept {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    write!(f, "{:?}", self.0.get())
                }
            }

            impl ControllerFactory for Tap {
                fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
                    Box::new(Self::clone(&self))
                }
            }

            impl Controller for Tap {
                fn on_ack(
                    &mut self,
                    _now: Instant,
                    _sent: Instant,
                    _bytes: u64,
                    $(_: $acked,)*
                    _app_limited: bool,
                    rtt: &RttEstimator,
                ) {
                    let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.get_or_insert(Kept(*rtt));
                }

                fn on_congestion_event(
                    &mut self,
                    _now: Instant,
                    _sent: Instant,
                    _persistent: bool,
                    $(_: $lost,)*
                ) {
                }

                fn on_mtu_update(&mut self, _new_mtu: u16) {}

                fn window(&self) -> u64 {
                    self.initial_window()
                }

                fn clone_box(&self) -> Box<dyn Controller> {
                    Box::new(self.clone())
                }

                fn initial_window(&self) -> u64 {
                    14_720
                }

                fn into_any(self: Box<Self>) -> Box<dyn Any> {
                    self
                }
            }

            /// The estimator that the ACK of a client's first packet hands over.
            fn handed(rtt: Duration) -> RttEstimator {
                let (now, tap) = (began(), Tap::default());
                let [near, far] =
                    [1, 2].map(|host| SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 4433)));
                let mut transport = TransportConfig::default();
                transport.initial_rtt(rtt).congestion_controller_factory(Arc::new(tap.clone()));
                let transport = Arc::new(transport);
                let tls = QuicServerConfig::try_from(identity().server()).expect("it has TLS 1.3");
                let mut server = ServerConfig::with_crypto(Arc::new(tls));
                server.transport_config(Arc::clone(&transport));
                let tls = QuicClientConfig::try_from(identity().client()).expect("it has TLS 1.3");
                let mut client = ClientConfig::new(Arc::new(tls));
                client.transport_config(transport);
                let config = Arc::new(EndpointConfig::default());
                let mut here: Endpoint = $endpoint(Arc::clone(&config), None);
                let mut there: Endpoint = $endpoint(config, Some(Arc::new(server)));
                let (_, mut asks) =
                    here.connect(now, client, far, NAME).expect("the name is sound");
                let first = transmit(&mut asks, now);
                let mut answer = Vec::new();
                let event = $handle(&mut there, now, near, first, &mut answer);
                let Some(DatagramEvent::NewConnection(incoming)) = event else {
                    panic!("a client's first packet begins a connection")
                };
                let accepted = there.accept(incoming, now, &mut answer, None);
                let (_, mut answers) = accepted.ok().expect("the server takes connections");
                let back = transmit(&mut answers, now);
                let event = $handle(&mut here, now + rtt, far, back, &mut answer);
                let Some(DatagramEvent::ConnectionEvent(_, event)) = event else {
                    panic!("the answer is of the connection")
                };
                asks.handle_event(event);
                let kept = tap.0.lock().unwrap_or_else(PoisonError::into_inner).take();
                kept.expect("the answer has an ACK").0
            }

            fn transmit(connection: &mut Connection, now: Instant) -> BytesMut {
                let mut bytes = Vec::new();
                let sent: Option<()> = $transmit(connection, now, &mut bytes);
                sent.expect("there is something to send");
                BytesMut::from(bytes.as_slice())
            }
        }

        pub(crate) use $module::$name;
    };
}

estimators! {
    of_quinn, quinn_estimator, quinn_proto, acked [], lost [u64],
    endpoint |config, server| Endpoint::new(config, server, true, None),
    handle |end: &mut Endpoint, now, from, data, answer: &mut Vec<u8>| {
        end.handle(now, from, None, None, data, answer)
    },
    transmit |connection: &mut Connection, now, bytes: &mut Vec<u8>| {
        connection.poll_transmit(now, 1, bytes).map(drop)
    },
}

estimators! {
    of_noq, noq_estimator, noq_proto, acked [u64], lost [bool, u64, u64],
    endpoint |config, server| Endpoint::new(config, server, true),
    handle |end: &mut Endpoint, now, from, data, answer: &mut Vec<u8>| {
        end.handle(now, noq_proto::FourTuple::from_remote(from), None, data, answer)
    },
    transmit |connection: &mut Connection, now, bytes: &mut Vec<u8>| {
        connection.poll_transmit(now, std::num::NonZeroUsize::MIN, bytes).map(drop)
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimators_tell_the_round_trip_that_they_are_asked_for() {
        for ms in [1, 37, 250] {
            let wanted = Duration::from_millis(ms);
            assert_eq!((quinn_estimator(ms).get(), noq_estimator(ms).get()), (wanted, wanted));
        }
    }
}
