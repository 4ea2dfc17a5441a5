//! The engine alone: one run of a scenario, tracing off, with its counts as one line of JSON.
//! `benches/instructions.py` and `benches/flame.sh` measure this program.
//!
//! usage: engine SCENARIO.json DURATION      for example: engine path.json "100 s"

use std::error::Error;
use std::io::Write;

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Simulation, Summary, Trace};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, duration] = arguments.as_slice() else {
        return Err("usage: engine SCENARIO.json DURATION".into());
    };
    let mut document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    document["run"]["duration"] = duration.as_str().into();
    let resolved = Scenario::from_json(&document.to_string())
        .and_then(|scenario| scenario.resolve())
        .map_err(|error| error.to_string())?;
    let run = Simulation::new(&resolved, 1, 0, Trace::default());
    let summary = run.run(&Monitor::default()).summary;
    writeln!(std::io::stdout(), "{}", counts(&summary))?;
    Ok(())
}

fn counts(summary: &Summary) -> Value {
    let counters = &summary.counters;
    json!({
        "fingerprint": summary.fingerprint,
        "packets_delivered": counters.packets_delivered,
        "events": counters.events,
        "bursts": counters.bursts_sent + counters.ack_bursts_sent,
        "headers": summary.network.iter().flat_map(|network| &network.nodes)
            .map(|node| node.headers).sum::<u64>(),
        "ops": summary.ops,
    })
}
