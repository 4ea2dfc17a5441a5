//! The engine alone: one run of a scenario, and its counts as one line of JSON. It is measured by
//! `benches/instructions.py` and `benches/flame.sh`. Rows of tables are made and dropped.
//!
//! usage: `engine SCENARIO.json DURATION [TABLES]`,
//! for example `engine path.json "100 s" packets,cwnd`.

use std::convert::Infallible;
use std::error::Error;
use std::io::Write;

use burstlab_sim::scenario::Scenario;
use burstlab_sim::{Monitor, Simulation, Summary, Trace};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, duration, tables @ ..] = arguments.as_slice() else {
        return Err("usage: engine SCENARIO.json DURATION [TABLES]".into());
    };
    let mut trace = Trace::default();
    for name in tables.iter().flat_map(|tables| tables.split(',')).filter(|name| !name.is_empty()) {
        if !trace.add(name) {
            return Err(format!("no table is called {name}").into());
        }
    }
    let mut document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    document["run"]["duration"] = duration.as_str().into();
    let resolved = Scenario::from_json(&document.to_string())
        .and_then(|scenario| scenario.resolve())
        .map_err(|error| error.to_string())?;
    let run = Simulation::new(&resolved, 1, 0, trace);
    let Ok(summary) = run.stream(&Monitor::default(), |_| Ok::<_, Infallible>(()));
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
