//! A bulk transfer over QUIC by quinn: a program with sockets and a clock of the system, for a live
//! host, whose protocol is the very crate that `burstlab-stacks` drives without either.
//!
//! `quinn-bulk receive PORT` takes one connection and reads what comes. `quinn-bulk send ADDRESS
//! PORT BYTES [cubic|new-reno|bbr]` opens one, writes so many bytes as one stream, and prints
//! every 10 ms,
//! and when all is acknowledged, a line of CSV: seconds since it began, congestion window in bytes,
//! smoothed round trip in seconds, packets sent, taken for lost, and probe time-outs so far.

mod probes;
mod tls;

use std::error::Error;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{Connection, Endpoint, SendStream, TransportConfig, VarInt};

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: quinn-bulk receive PORT\n       \
     quinn-bulk send ADDRESS PORT BYTES [cubic|new-reno|bbr]";

/// Time between two lines.
const STEP: Duration = Duration::from_millis(10);

/// Bytes that the application writes at a time.
const BLOCK: usize = 1 << 16;

const HEAD: &str = "t_s,cwnd,rtt_s,sent,lost,probe_timeouts";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(&words)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "quinn-bulk: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(words: &[String]) -> Outcome<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", port] => receive(port.parse()?).await,
        ["send", address, port, bytes] => {
            let to = SocketAddr::new(address.parse()?, port.parse()?);
            send(to, bytes.parse()?, "cubic").await
        }
        ["send", address, port, bytes, control] => {
            let to = SocketAddr::new(address.parse()?, port.parse()?);
            send(to, bytes.parse()?, control).await
        }
        _ => Err(USAGE.into()),
    }
}

/// The defaults of quinn, except its congestion control and datagrams that the kernel would cut:
/// both as `burstlab-stacks` sets them.
fn transport(control: &str) -> Outcome<Arc<TransportConfig>> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        "cubic" => Arc::new(CubicConfig::default()),
        "new-reno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        other => return Err(format!("{other}: no such congestion control\n{USAGE}").into()),
    };
    let mut transport = TransportConfig::default();
    transport.enable_segmentation_offload(false);
    transport.congestion_controller_factory(factory);
    Ok(Arc::new(transport))
}

async fn receive(port: u16) -> Outcome<()> {
    let config = tls::server(transport("cubic")?)?;
    let endpoint = Endpoint::server(config, SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port))?;
    let connection = endpoint.accept().await.ok_or("nobody came")?.await?;
    let mut stream = connection.accept_uni().await?;
    let mut taken = 0;
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        taken += chunk.bytes.len();
    }
    connection.closed().await;
    endpoint.wait_idle().await;
    writeln!(std::io::stdout(), "received {taken} bytes")?;
    Ok(())
}

async fn send(to: SocketAddr, bytes: u64, control: &str) -> Outcome<()> {
    let probes = probes::count();
    let config = tls::client(transport(control)?)?;
    let mut endpoint = Endpoint::client(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0))?;
    endpoint.set_default_client_config(config);
    let begun = now();
    let connection = endpoint.connect(to, tls::NAME)?.await?;
    let mut stream = connection.open_uni().await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{HEAD}")?;
    let mut line = |connection: &Connection| {
        let path = connection.stats().path;
        let (at, rtt) = (now().duration_since(begun).as_secs_f64(), path.rtt.as_secs_f64());
        let (sent, lost) = (path.sent_packets, path.lost_packets);
        writeln!(out, "{at:.6},{},{rtt:.6},{sent},{lost},{}", path.cwnd, probes.so_far())
    };
    let mut transfer = std::pin::pin!(write(&mut stream, bytes));
    let mut ticks = tokio::time::interval(STEP);
    loop {
        tokio::select! {
            done = &mut transfer => break done?,
            _ = ticks.tick() => line(&connection)?,
        }
    }
    line(&connection)?;
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    Ok(())
}

/// Writes so many bytes; ends when all of them are acknowledged.
async fn write(stream: &mut SendStream, bytes: u64) -> Outcome<()> {
    let (block, mut left) = (vec![0; BLOCK], bytes);
    while left > 0 {
        let size = left.min(BLOCK as u64) as usize;
        stream.write_all(&block[..size]).await?;
        left -= size as u64;
    }
    stream.finish()?;
    stream.stopped().await?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "its clock is that of the kernel it runs on")]
fn now() -> Instant {
    Instant::now()
}
