//! Certificates and TLS configurations whose handshakes have the same sizes whatever their keys:
//! Ed25519 signs in 64 bytes (RFC 8032), X25519 exchanges 32 (RFC 7748), and no session is resumed,
//! so that connections do not depend on those before.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ED25519, SerialNumber};

/// The name in the certificate.
pub const NAME: &str = "burstlab.invalid";

/// The name of the application protocol (RFC 7301).
const PROTOCOL: &[u8] = b"burstlab";

/// The secrets of one connection, as lines of a key log (as NSS writes them), until they are taken.
#[derive(Clone, Default)]
pub struct Secrets(Arc<Mutex<String>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// The lines since they were taken last; `None` where there are none.
    #[must_use]
    pub fn take(&self) -> Option<String> {
        Some(std::mem::take(&mut *self.lines())).filter(|lines| !lines.is_empty())
    }

    fn lines(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl rustls::KeyLog for Secrets {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.lines().extend([label, " ", &hex(client_random), " ", &hex(secret), "\n"]);
    }
}

/// A certificate and its key, in the configurations of rustls that use them.
pub struct Identity {
    configs: (Arc<rustls::ClientConfig>, Arc<rustls::ServerConfig>),
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// A new one.
    ///
    /// # Panics
    ///
    /// Where the system has no randomness.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("Ed25519 has keys");
        let mut params = CertificateParams::new([NAME.to_string()]).expect("the name is one");
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, NAME);
        // Drawn ones have different lengths.
        params.serial_number = Some(SerialNumber::from(1_u64));
        let certificate = params.self_signed(&key).expect("a certificate can sign itself");
        Self { configs: configs(&certificate, &key) }
    }

    /// That of a client, which trusts this certificate alone.
    #[must_use]
    pub fn client(&self) -> Arc<rustls::ClientConfig> {
        Arc::clone(&self.configs.0)
    }

    /// The same, whose secrets are noted.
    #[must_use]
    pub fn client_with(&self, secrets: &Secrets) -> Arc<rustls::ClientConfig> {
        let mut config = rustls::ClientConfig::clone(&self.configs.0);
        config.key_log = Arc::new(secrets.clone());
        Arc::new(config)
    }

    /// That of a server with this certificate.
    #[must_use]
    pub fn server(&self) -> Arc<rustls::ServerConfig> {
        Arc::clone(&self.configs.1)
    }
}

fn configs(
    certificate: &rcgen::Certificate,
    key: &KeyPair,
) -> (Arc<rustls::ClientConfig>, Arc<rustls::ServerConfig>) {
    use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions: &[_] = &[&rustls::version::TLS13];
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).expect("the certificate is one");
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
    let client = client.with_protocol_versions(versions).expect("the provider has TLS 1.3");
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![PROTOCOL.to_vec()];
    client.resumption = rustls::client::Resumption::disabled();
    let server = rustls::ServerConfig::builder_with_provider(provider);
    let server = server.with_protocol_versions(versions).expect("the provider has TLS 1.3");
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let chain = vec![certificate.der().clone()];
    let server = server.with_no_client_auth().with_single_cert(chain, secret);
    let mut server = server.expect("the key is that of the certificate");
    server.alpn_protocols = vec![PROTOCOL.to_vec()];
    server.send_tls13_tickets = 0;
    (Arc::new(client), Arc::new(server))
}
