//! Checks of a scenario that the types alone cannot make.

use burstlab_link::Marking;
use burstlab_tcp::{Config, Listens, Overrides, WindowLaw};
use burstlab_units::{Bytes, Span};

use super::error::{Check, word};
use super::limits::{DURATION_MAX, within};
use super::{
    Assembly, CoreForwarding, Flow, IngressPort, LossKind, LossRule, Marks, Pattern, Scenario,
    ScenarioError, Traffic, Write, both_ways, check_ops, stack, surgery,
};

/// Most flows of a scenario, and sources of other traffic.
const FLOWS_MAX: u64 = 1_000_000;
const SOURCES_MAX: u64 = 10_000_000;
/// The patterns of sources that send at a fixed distance.
const IN_STEP: &str = "pattern = \"cbr\" or \"periodic\"";
/// No more samples in a run: they are kept until its end.
const SAMPLES_MAX: u64 = 10_000_000;

/// Checks `scenario`; returns warnings about statements that are probably not meant.
pub(super) fn check(scenario: &Scenario) -> Result<Vec<String>, ScenarioError> {
    check_ops::check(scenario)?;
    surgery::check(scenario)?;
    let edge = &scenario.edge;
    if !edge.spacing.is_zero() && scenario.core.forwarding == CoreForwarding::CutThrough {
        let fix = "remove it, or write core.forwarding = \"store-and-forward\"";
        let problem = "an optically switched burst has no gaps";
        return Err(ScenarioError::new("edge.spacing", edge.spacing.to_string(), problem, fix));
    }
    let mut total = 0;
    for (index, one) in scenario.flows().iter().enumerate() {
        flow(index, one)?;
        stack::check(scenario, index, one)?;
        both_ways::check(scenario, index, one)?;
        total += u64::from(one.flows());
    }
    flow_count(scenario, total)?;
    loss(scenario, "loss.data", &scenario.loss.data, total)?;
    loss(scenario, "loss.ack", &scenario.loss.ack, total)?;
    if scenario.loss.ack.carrying.is_some() || scenario.loss.ack.packets.is_some() {
        return Err(ScenarioError::new(
            "loss.ack",
            "",
            "carrying and packets name data packets",
            "name bursts of ACKs by number, with bursts = [...]",
        ));
    }
    let mut sources = 0;
    for (index, one) in scenario.traffic.iter().enumerate() {
        traffic(scenario, index, one)?;
        sources += u64::from(one.count);
        if sources > SOURCES_MAX {
            let problem = format!("a scenario has at most {SOURCES_MAX} sources of other traffic");
            let fix = "write fewer, each of a higher rate";
            let path = format!("traffic[{index}].count");
            return Err(ScenarioError::new(path, one.count.to_string(), problem, fix));
        }
    }
    run(scenario)?;
    Ok(warnings(scenario))
}

fn flow(index: usize, flow: &Flow) -> Check {
    let back = flow.reverse.as_ref().map(|one| ("reverse.", &one.script, one.bytes));
    for one in [Some(("", &flow.script, flow.bytes)), back].into_iter().flatten() {
        writes(index, one)?;
    }
    Ok(())
}

/// Refuses writes out of order, and writes together with `bytes`; `table` names the direction.
fn writes(
    index: usize,
    (table, script, bytes): (&str, &Option<Vec<Write>>, Option<Bytes>),
) -> Check {
    let at = |field: &str| format!("flows[{index}].{table}{field}");
    let Some(script) = script else { return Ok(()) };
    if let Some(bytes) = bytes {
        let fix = "keep one of the two";
        return Err(ScenarioError::new(at("bytes"), bytes.to_string(), "script is given too", fix));
    }
    for (n, write) in script.iter().enumerate() {
        if n > 0 && script[n - 1].at > write.at {
            let path = at(&format!("script[{n}].at"));
            let value = write.at.to_string();
            return Err(ScenarioError::new(path, value, "out of order", "list writes by time"));
        }
    }
    Ok(())
}

fn flow_count(scenario: &Scenario, total: u64) -> Check {
    // A demand or bursts on a path are a mistake of their own.
    let needed = u64::from(!scenario.others_send());
    if (needed..=FLOWS_MAX).contains(&total) {
        return Ok(());
    }
    let value = format!("{} entries, {total} flows", scenario.flows().len());
    let problem = format!("a scenario has 1 to {FLOWS_MAX} flows");
    Err(ScenarioError::new("flows", value, problem, "change the entries of [[flows]]"))
}

fn loss(scenario: &Scenario, table: &str, rule: &LossRule, flows: u64) -> Check {
    let nodes = if scenario.kind().is_path() { scenario.network.core_nodes() } else { 1000 };
    if let Some(node) = rule.node.filter(|&node| node > nodes) {
        return Err(ScenarioError::new(
            format!("{table}.node"),
            node.to_string(),
            format!("there are at most {nodes} core nodes on the path"),
            format!("write 0 (the ingress edge) to {nodes}"),
        ));
    }
    if let Some(flow) = rule.flow.filter(|&flow| u64::from(flow) >= flows) {
        let (problem, fix) = match flows.checked_sub(1) {
            None => ("there are no flows".to_string(), "remove it, or add [[flows]]"),
            Some(0) => ("there is one flow, number 0".to_string(), "write 0, or remove it"),
            Some(last) => {
                (format!("the flows are numbered 0 to {last}"), "write the number of a flow")
            }
        };
        return Err(ScenarioError::new(format!("{table}.flow"), flow.to_string(), problem, fix));
    }
    if rule.packets.iter().flatten().any(|&(_, nth)| nth == 0) {
        let problem = "transmissions are counted from 1";
        let path = format!("{table}.packets");
        return Err(ScenarioError::new(path, "0", problem, "write at least 1"));
    }
    Ok(())
}

/// Refuses periods that are none, or of a source that has none.
fn periods(index: usize, traffic: &Traffic) -> Check {
    let at = |field: &str| format!("traffic[{index}].{field}");
    let periodic = traffic.pattern == Pattern::Periodic;
    let in_step = periodic || traffic.pattern == Pattern::Cbr;
    let given = [
        ("on", traffic.on.map(|on| on.to_string()), periodic, "pattern = \"periodic\""),
        ("period", traffic.period.map(|on| on.to_string()), periodic, "pattern = \"periodic\""),
        (
            "period_jitter",
            traffic.period_jitter.map(|jitter| jitter.to_string()),
            periodic,
            "pattern = \"periodic\"",
        ),
        ("phase", traffic.phase.map(|phase| phase.to_string()), in_step, IN_STEP),
    ];
    for (field, value, used, owner) in given {
        if let Some(value) = value.filter(|_| !used) {
            let (problem, fix) = (format!("it belongs to {owner}"), "remove it, or change pattern");
            return Err(ScenarioError::new(at(field), value, problem, fix));
        }
    }
    if traffic.on() > traffic.period() {
        let fix = format!("write at most the period, {}", traffic.period());
        let problem = "a source sends longer than its period";
        return Err(ScenarioError::new(at("on"), traffic.on().to_string(), problem, fix));
    }
    Ok(())
}

fn traffic(scenario: &Scenario, index: usize, traffic: &Traffic) -> Check {
    let at = |field: &str| format!("traffic[{index}].{field}");
    if !scenario.access.shared && scenario.kind().is_path() {
        return Err(ScenarioError::new(
            "access.shared",
            "false",
            "traffic loads the link that all flows share",
            "write shared = true, or remove [[traffic]]",
        ));
    }
    periods(index, traffic)?;
    let sessions = traffic.pattern == Pattern::Sessions;
    let given = traffic.sessions_per_second;
    if given.is_some() == sessions {
        return Ok(());
    }
    let value = given.map(|rate| rate.to_string()).unwrap_or_default();
    let (problem, fix) = match sessions {
        true => ("pattern = \"sessions\" needs it", "add sessions_per_second = 10"),
        false => ("only pattern = \"sessions\" uses it", "remove it, or change pattern"),
    };
    Err(ScenarioError::new(at("sessions_per_second"), value, problem, fix))
}

/// A detector that uses burst ACKs or burst NAKs needs bursts.
pub(super) fn detector(scenario: &Scenario, table: &str, tcp: &Config) -> Check {
    let (field, value, other) = match tcp.class_notices {
        _ if tcp.window_law == WindowLaw::Bcl => ("window_law", "bcl".into(), "another law"),
        Some(notices) => ("class_notices", word(&notices), "class_notices = \"none\""),
        None => ("detector", word(&tcp.detector), "the detector \"ble\""),
    };
    let path = format!("{table}.{field}");
    if scenario.kind().is_slotted() && Listens::of(tcp).at_all() {
        let problem = "a slotted network has no bursts, so no node sends burst ACKs or NAKs";
        let fix = format!("remove it, or write {other}");
        return Err(ScenarioError::new(path, value, problem, fix));
    }
    if !Listens::of(tcp).to_nodes() || scenario.edge.assembly != Assembly::None {
        return Ok(());
    }
    let problem = "no edge node assembles bursts that it could acknowledge";
    let fix = format!("write edge.assembly = \"timer\" (or size, hybrid), or {other}");
    Err(ScenarioError::new(path, value, problem, fix))
}

impl Scenario {
    /// Whether some queue marks packets.
    pub(super) fn has_marking(&self) -> bool {
        let access = &self.access;
        let receivers = access.receiver.as_ref().and_then(|own| own.marking.as_ref());
        let core = self.ops.as_ref().map_or(&self.edge.marking, |ops| &ops.marking);
        access.marking.is_some() || receivers.is_some() || core.is_some()
    }
}

/// Refuses an endpoint that asks for marks where no queue makes any.
pub(super) fn marks(scenario: &Scenario, at: &str, own: &Overrides, tcp: &Config) -> Check {
    if scenario.has_marking() || tcp.ecn != Some(true) {
        return Ok(());
    }
    let dctcp = tcp.window_law == WindowLaw::Dctcp;
    let (field, value) = if dctcp { ("window_law", "dctcp") } else { ("ecn", "true") };
    Err(ScenarioError::new(
        format!("{}.{field}", ScenarioError::table_of(at, own, field)),
        value,
        "no queue marks packets",
        "write access.marking = { above = \"30 KB\" }, or marking of access.receiver, edge or ops",
    ))
}

/// The marking of an ingress port, or of a node with slots.
pub(super) fn core_marks(scenario: &Scenario) -> Result<Option<Marking>, ScenarioError> {
    let rate = scenario.network.link_rate;
    if let Some(ops) = &scenario.ops {
        let read = |marks: &Marks| marks.marking("ops.marking", rate);
        return ops.marking.as_ref().map(read).transpose();
    }
    let Some(marks) = &scenario.edge.marking else { return Ok(None) };
    let path = scenario.kind().is_path();
    if path || scenario.edge.port != IngressPort::Fifo {
        let problem = "no bursts wait at an ingress port";
        let fix = "remove it, write access.marking, or a mesh with edge.port = \"fifo\"";
        let value = super::error::word(&marks.rule);
        return Err(ScenarioError::new("edge.marking", value, problem, fix));
    }
    marks.marking("edge.marking", rate).map(Some)
}

fn run(scenario: &Scenario) -> Check {
    let run = &scenario.run;
    let problem = |path: &str, value: String, problem: &str, fix: &str| {
        Err(ScenarioError::new(path, value, problem, fix))
    };
    if run.warmup >= run.duration {
        let value = run.warmup.to_string();
        return problem(
            "run.warmup",
            value,
            "nothing is left to measure",
            "make it shorter than duration",
        );
    }
    let drain = run.drain.unwrap_or_default();
    if let Some(drain) = run.drain {
        within("run.drain", drain, Span::from_ps(DURATION_MAX.as_ps() - run.duration.as_ps()))?;
        if run.bursts.is_some() {
            let what = "a run with run.bursts has no drain";
            let fix = "remove it, or run.bursts";
            return problem("run.drain", drain.to_string(), what, fix);
        }
    }
    let often = [("run.sample", run.sample), ("run.occupancy", run.occupancy)];
    for (path, sample) in often.into_iter().filter_map(|(path, every)| Some((path, every?))) {
        let least = (run.duration + drain).as_ps().div_ceil(SAMPLES_MAX).max(1);
        if sample.as_ps() < least {
            let (what, least) = ("more samples than 10,000,000", Span::from_ps(least));
            let fix = format!("write at least {least}");
            return problem(path, sample.to_string(), what, &fix);
        }
    }
    Ok(())
}

fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut warnings = Vec::new();
    let (edge, ack) = (&scenario.edge, &scenario.edge.ack);
    for (table, assembly) in [("edge", edge.assembly), ("edge.ack", ack.assembly)] {
        if assembly == Assembly::Size {
            warnings.push(format!(
                "{table}.assembly = \"size\" has no timer: the last packets wait until others fill \
                 the burst, and a lone SYN waits for ever; \"hybrid\" adds a timer"
            ));
        }
    }
    for (table, rule) in [("loss.data", &scenario.loss.data), ("loss.ack", &scenario.loss.ack)] {
        let bursts = rule.bursts.is_some() || rule.carrying.is_some();
        let empty = !bursts && rule.packets.is_none() && rule.departures.is_none();
        if rule.process == LossKind::Script && empty {
            warnings.push(format!("{table}.process = \"script\" names nothing to lose"));
        }
    }
    warnings
}
