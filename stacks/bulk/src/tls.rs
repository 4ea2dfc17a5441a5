//! One certificate that both ends know: its key is no secret, as what it guards is a simulation.

use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, ServerConfig, TransportConfig};
use rcgen::{Certificate, CertificateParams, KeyPair, SerialNumber};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::Outcome;

/// The name in the certificate.
pub(crate) const NAME: &str = "burstlab.invalid";

/// The name of the application protocol (RFC 7301).
const PROTOCOL: &[u8] = b"burstlab";

/// The bytes before the 32 bytes of a key of Ed25519 in PKCS #8 (RFC 8410, section 7).
const BEFORE: [u8; 16] = [0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 34, 4, 32];

/// Those 32 bytes.
const KEY: [u8; 32] = *b"no secret at all, as all see it.";

fn identity() -> Outcome<(Certificate, KeyPair)> {
    let secret = [BEFORE.as_slice(), &KEY].concat();
    let key = KeyPair::try_from(secret)?;
    let mut params = CertificateParams::new([NAME.to_string()])?;
    params.serial_number = Some(SerialNumber::from(1_u64));
    let certificate = params.self_signed(&key)?;
    Ok((certificate, key))
}

/// A client that trusts this certificate alone.
pub(crate) fn client(transport: Arc<TransportConfig>) -> Outcome<ClientConfig> {
    let (certificate, _) = identity()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider);
    let tls = tls.with_protocol_versions(&[&rustls::version::TLS13])?;
    let mut tls = tls.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    tls.resumption = rustls::client::Resumption::disabled();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport);
    Ok(config)
}

/// A server that has it.
pub(crate) fn server(transport: Arc<TransportConfig>) -> Outcome<ServerConfig> {
    let (certificate, key) = identity()?;
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider);
    let tls = tls.with_protocol_versions(&[&rustls::version::TLS13])?;
    let tls = tls.with_no_client_auth();
    let mut tls = tls.with_single_cert(vec![certificate.der().clone()], secret)?;
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    tls.send_tls13_tickets = 0;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport);
    Ok(config)
}
