//! Writes the capture of a short transfer with losses, which Wireshark reads and decrypts.
//!
//! ```sh
//! cargo run --release --example capture -- quinn quinn.pcapng
//! ```

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let stack = given.next().unwrap_or_else(|| "quinn".into());
    let file = given.next().unwrap_or_else(|| format!("{stack}.pcapng"));
    let lab = Lab::path().losing(0.03).carrying(100_000).capturing();
    let run = lab.run(AllStacks::shared(), &stack, None)?;
    std::fs::write(file, run.capture())?;
    Ok(())
}
