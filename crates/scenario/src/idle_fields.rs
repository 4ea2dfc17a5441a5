//! Fields of whole tables that nothing in a scenario comes to: links that no host uses, queues that
//! no packet enters, notices that nobody listens to.

use burstlab_tcp::{Config, Listens};

use super::error::{Check, brief, refuse, word};
use super::idle_tables::differing;
use super::wlan::stations;
use super::{
    ConversionKind, Edge, FirstWavelength, NoticeTransport, Pattern, Resolution, RouteChoice,
    Scenario, Side, Traffic, Wlan, WlanLoss, fill,
};

/// Refuses fields that have no effect. `scenario` has its defaults written out.
pub(super) fn check(scenario: &Scenario) -> Check {
    notices(&scenario.edge)?;
    super::marking::check(scenario)?;
    for (index, wlan) in scenario.wlan.iter().enumerate() {
        cell(&format!("wlan[{index}]"), wlan)?;
    }
    for (index, flow) in scenario.flows().iter().enumerate() {
        let back = flow.reverse.as_ref();
        let ends = flow.bytes.is_some() || flow.script.is_some();
        let back_ends = back.is_some_and(|back| back.bytes.is_some() || back.script.is_some());
        if !flow.closes && !ends && !back_ends && flow.stack.is_none() {
            let problem = "a flow whose data never end is never closed";
            let fix = format!("remove it, or add flows[{index}].bytes = \"1 MB\"");
            return refuse(format!("flows[{index}].closes"), "false", problem, fix);
        }
    }
    spells(scenario)
}

/// Refuses lengths of spells of sources that have none.
fn spells(scenario: &Scenario) -> Check {
    let usual = Traffic::default();
    for (index, one) in scenario.traffic.iter().enumerate() {
        let pareto = one.pattern == Pattern::Pareto;
        let some = pareto || one.pattern == Pattern::Sessions;
        for (field, value, plain, used) in [
            ("on_mean", one.on_mean.to_string(), one.on_mean == usual.on_mean, some),
            ("off_mean", one.off_mean.to_string(), one.off_mean == usual.off_mean, pareto),
            ("shape", one.shape.to_string(), one.shape == usual.shape, some),
        ] {
            if !used && !plain {
                let problem = format!("pattern = {} does not use it", word(&one.pattern));
                let fix = format!("remove it, or write traffic[{index}].pattern = \"pareto\"");
                return refuse(format!("traffic[{index}].{field}"), value, problem, fix);
            }
        }
    }
    Ok(())
}

/// Refuses a size of notices that have none.
fn notices(edge: &Edge) -> Check {
    let in_band = edge.notices == NoticeTransport::InBand;
    if edge.notice_size == Edge::default().notice_size || in_band {
        return Ok(());
    }
    let problem = "notices out of band have no size";
    let fix = "remove it, or write edge.notices = \"in-band\"";
    refuse("edge.notice_size", edge.notice_size.to_string(), problem, fix)
}

/// Refuses fields of a wireless cell that belong to distances where none counts.
fn cell(at: &str, wlan: &Wlan) -> Check {
    if wlan.loss != WlanLoss::Shadowing || wlan.margin_db.is_none() {
        return Ok(());
    }
    for (field, value) in [
        ("exponent", wlan.exponent),
        ("reference_distance_m", wlan.reference_distance_m),
        ("reference_margin_db", wlan.reference_margin_db),
        ("sense_db", wlan.sense_db),
    ] {
        if let Some(value) = value {
            let problem = "with margin_db no distance counts";
            let fix = format!("remove it, or write {at}.distance_m in place of {at}.margin_db");
            return refuse(format!("{at}.{field}"), value.to_string(), problem, fix);
        }
    }
    Ok(())
}

/// Fields of assembly, which bursts without packets do not have.
const ASSEMBLY: &[&str] = &[
    "at_most",
    "assembly",
    "burst_timers",
    "burstifiers",
    "class_timers",
    "cwnd_thresholds",
    "min_size",
    "queues",
    "size",
    "timer",
    "timer_min",
    "weight",
];

/// Names fields of tables that no packet comes to: one scenario serves a series with and without
/// hosts.
fn unused(scenario: &Scenario, say: &mut Vec<String>) {
    let hosts =
        !scenario.flows().is_empty() || !scenario.demand.is_empty() || !scenario.live.is_empty();
    if hosts {
        return;
    }
    let mut plain = Scenario { flows: Some(Vec::new()), ..Scenario::default() };
    plain.network.topology = scenario.network.topology;
    fill::fill(&mut plain);
    let mut name = |table: &str, found: Option<(String, serde_json::Value)>, problem, fix: &str| {
        say.extend(found.map(|(field, value)| {
            let value = brief(&value);
            format!("{table}.{field} = {value} has no effect: {problem}; {fix}, or remove it")
        }));
    };
    let flows = "add [[flows]]";
    if scenario.kind().is_path() {
        let problem = "other traffic loads access links, and no flow enters the optical network";
        name("network", differing(&scenario.network, &plain.network, &[]), problem, flows);
        name("edge", differing(&scenario.edge, &plain.edge, &[]), problem, flows);
        name("core", differing(&scenario.core, &plain.core, &[]), problem, flows);
        name("loss", differing(&scenario.loss, &plain.loss, &[]), problem, flows);
        let receivers = scenario.traffic.iter().any(|one| one.side == Some(Side::Receiver));
        if let Some(own) = scenario.access.receiver.as_ref().filter(|_| !receivers) {
            let found = differing(own, &Default::default(), &[]);
            let fix = "write traffic[0].side = \"receiver\"";
            name("access.receiver", found, "nothing crosses the receivers' links", fix);
        }
        return;
    }
    let problem = "no host sends, and nothing crosses an access link";
    name("access", differing(&scenario.access, &plain.access, &[]), problem, flows);
    let (ack, usual) = (&scenario.edge.ack, &plain.edge.ack);
    name("edge.ack", differing(ack, usual, &[]), "no host sends ACKs", flows);
    let injection = (&scenario.core.injection, &plain.core.injection);
    if scenario.traffic.is_empty() {
        // Bursts of batches alone meet none.
        let found = differing(injection.0, injection.1, &[]);
        let fix = "add [[flows]] or [[traffic]]";
        name("core.injection", found, "no burst of flows or of [[traffic]] is sent", fix);
    } else {
        let found = differing(injection.0, injection.1, &["ack"]);
        name("core.injection", found, "no host sends ACKs", flows);
    }
    if scenario.traffic.is_empty() && scenario.batches.is_empty() {
        let problem = "no packet enters an assembly queue";
        name("edge", differing(&scenario.edge, &plain.edge, ASSEMBLY), problem, flows);
    }
}

/// Warnings of fields without an effect in one scenario of a series: a study may begin with one of
/// something, and compare senders that listen to notices with others. `senders` are the parameters
/// of all.
pub(super) fn warnings<'a>(
    scenario: &Scenario,
    mut senders: impl Iterator<Item = &'a Config>,
) -> Vec<String> {
    let mut found = Vec::new();
    let in_band = scenario.edge.notices == NoticeTransport::InBand;
    if in_band && !senders.any(|own| Listens::of(own).to_nodes()) {
        found.push(
            "edge.notices = \"in-band\" has no effect: no sender listens to notices of edge nodes; \
             write tcp.detector = \"back\" (or \"bnak\"), or remove it"
                .to_string(),
        );
    }
    unused(scenario, &mut found);
    let network = &scenario.network;
    let several = matches!(network.route_choice(), RouteChoice::RoundRobin | RouteChoice::Random);
    if several && network.routes_per_pair() == 1 && network.route.is_none() {
        let fix = match scenario.kind().is_slotted() {
            true => "remove it: a slotted network has one route for each pair",
            false => "write network.routes_per_pair = 2, or remove it",
        };
        found.push(format!(
            "network.route_choice = {} has no effect: there is one route for each pair; {fix}",
            word(&network.route_choice())
        ));
    }
    let core = &scenario.core;
    // Nodes that differ may not convert, or lack converters.
    let differ = scenario.network.node.iter().flatten().any(|node| node.core.is_some());
    if scenario.edge.wavelength == FirstWavelength::Random
        && core.conversion == ConversionKind::Full
        && core.converters.is_none()
        && !differ
        && core.group.is_empty()
        && !core.contention.contains(&Resolution::Conversion)
    {
        found.push(
            "edge.wavelength = \"random\" has no effect: nodes convert to any wavelength; write \
             core.conversion = \"none\", or remove it"
                .to_string(),
        );
    }
    for (index, flow) in scenario.flows().iter().enumerate() {
        if flow.count == 1 && !flow.stagger.is_zero() {
            found.push(format!(
                "flows[{index}].stagger = {} has no effect: there is one flow; write \
                 flows[{index}].count = 2, or remove it",
                flow.stagger
            ));
        }
    }
    for (index, wlan) in scenario.wlan.iter().enumerate() {
        if wlan.rts_threshold.is_none() && wlan.long_retries != Wlan::default().long_retries {
            found.push(format!(
                "wlan[{index}].long_retries = {} has no effect: no frame is preceded by an RTS; \
                 write wlan[{index}].rts_threshold = \"500 B\", or remove it",
                wlan.long_retries
            ));
        }
        if wlan.hidden && stations(scenario, wlan) == 1 {
            found.push(format!(
                "wlan[{index}].hidden = true has no effect: there is one station; let more flows \
                 begin or end there, or remove it"
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Scenario;

    fn resolves(written: &Value) -> Result<(Value, Vec<String>), String> {
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        let found = scenario.resolve().map_err(|error| error.to_string())?;
        Ok((found.document(), found.warnings))
    }

    fn mesh(more: &Value) -> Value {
        let mut all = json!({"network": {"topology": "ring", "wavelengths": 2}});
        all.as_object_mut().expect("a table").extend(more.as_object().cloned().expect("a table"));
        all
    }

    fn assembled(detector: &str) -> Value {
        json!({"edge": {"assembly": "timer", "timer": "1 ms", "notices": "in-band"},
            "tcp": {"detector": detector}})
    }

    /// Each is refused by its name; with its mechanism it is accepted, also in the stored form.
    #[test]
    fn fields_that_nothing_comes_to_are_refused() {
        let cell = |more: Value| {
            let mut cell = json!({"loss": "shadowing", "margin_db": 3.0});
            cell.as_object_mut().expect("a table").extend(more.as_object().cloned().unwrap());
            json!({"wlan": [cell]})
        };
        let far = json!({"wlan": [{"loss": "shadowing", "distance_m": 9.0, "sense_db": 3.0}]});
        for (idle, field, used) in [
            (json!({"edge": {"notice_size": "1 KB"}}), "edge.notice_size", assembled("back")),
            (cell(json!({"sense_db": 3.0})), "wlan[0].sense_db", far.clone()),
            (cell(json!({"exponent": 3.0})), "wlan[0].exponent", cell(json!({"sigma_db": 3.0}))),
            (
                json!({"flows": [{"closes": false}]}),
                "flows[0].closes",
                json!({"flows": [{"closes": false, "bytes": "1 MB"}]}),
            ),
            (
                mesh(&json!({"traffic": [{"pattern": "sessions", "sessions_per_second": 1.0,
                    "off_mean": "1 s"}]})),
                "traffic[0].off_mean = 1 s",
                mesh(&json!({"traffic": [{"pattern": "pareto", "off_mean": "1 s"}]})),
            ),
        ] {
            let error = resolves(&idle).expect_err(field);
            assert!(error.contains(field) && error.contains("; remove it"), "{error}");
            let (stored, _) = resolves(&used).unwrap_or_else(|error| panic!("{used}: {error}"));
            assert_eq!(resolves(&stored).map(|(again, _)| again), Ok(stored));
        }
    }

    /// One scenario serves a series with and without hosts: each is named, and runs.
    #[test]
    fn tables_that_no_packet_comes_to_are_named() {
        let far = json!({"wlan": [{"loss": "shadowing", "distance_m": 9.0, "sense_db": 3.0}]});
        let alone = |more: Value| {
            let mut all = json!({"access": {"shared": true}, "traffic": [{}]});
            all.as_object_mut().expect("a table").extend(more.as_object().cloned().unwrap());
            all
        };
        let receivers = |side: &str| {
            alone(json!({"traffic": [{"side": side}],
                "access": {"shared": true, "receiver": {"rate": "3 Mb/s"}}}))
        };
        let bursts = |more: Value| {
            let mut all = json!({"bursts": [{"length": {"mean": "10 KB"}}]});
            all.as_object_mut().expect("a table").extend(more.as_object().cloned().unwrap());
            mesh(&all)
        };
        let batches =
            json!({"batches": [{"size": {"mean": "10 KB"}}], "edge": {"queues": "class"}});
        let injected = |more: Value| {
            let mut all = json!({"core": {"injection": {"data": 0.1}}});
            all.as_object_mut().expect("a table").extend(more.as_object().cloned().unwrap());
            mesh(&all)
        };
        let flows = json!({"flows": [{}], "access": {"rate": "3 Mb/s"}});
        for (idle, field, used) in [
            (
                alone(json!({"network": {"core_nodes": 5}})),
                "network.core_nodes = 5",
                alone(json!({})),
            ),
            (alone(json!({"edge": {"assembly": "timer", "timer": "1 ms"}})), "edge.assembly", far),
            (
                alone(json!({"loss": {"data": {"process": "every", "n": 3}}})),
                "loss.data",
                json!({}),
            ),
            (receivers("sender"), "access.receiver.rate", receivers("receiver")),
            (bursts(json!({"access": {"rate": "3 Mb/s"}})), "access.rate", bursts(flows)),
            (bursts(json!({"edge": {"queues": "class"}})), "edge.queues", mesh(&batches)),
            (
                mesh(&json!({"traffic": [{}], "edge": {"ack": {"with_data": true}}})),
                "edge.ack.with_data",
                mesh(&json!({"edge": {"ack": {"with_data": true}}})),
            ),
            (
                mesh(&json!({"traffic": [{}], "core": {"injection": {"ack": 0.1}}})),
                "core.injection.ack",
                mesh(&json!({"core": {"injection": {"ack": 0.1}}})),
            ),
            (
                injected(json!({"batches": [{"size": {"mean": "10 KB"}}]})),
                "core.injection.data",
                injected(json!({"traffic": [{"from": "1", "to": "3"}]})),
            ),
        ] {
            let (_, said) = resolves(&idle).expect("it runs");
            assert!(said[0].starts_with(field) && said[0].contains("no effect"), "{said:?}");
            let said = resolves(&used).unwrap_or_else(|error| panic!("{used}: {error}")).1;
            assert!(!said.iter().any(|said| said.contains("no effect")), "{used}: {said:?}");
        }
    }

    #[test]
    fn what_there_is_one_of_is_named() {
        for (one, field, two) in [
            (
                mesh(&json!({"network": {"topology": "ring", "route_choice": "random"}})),
                "network.route_choice = \"random\"",
                json!({"network":
                    {"topology": "ring", "route_choice": "random", "routes_per_pair": 2}}),
            ),
            (assembled("ble"), "edge.notices = \"in-band\"", assembled("bnak")),
            (
                json!({"flows": [{"stagger": "1 ms"}]}),
                "flows[0].stagger = 1 ms",
                json!({"flows": [{"stagger": "1 ms", "count": 2}]}),
            ),
            (
                json!({"wlan": [{"long_retries": 9}]}),
                "wlan[0].long_retries = 9",
                json!({"wlan": [{"long_retries": 9, "rts_threshold": "100 B"}]}),
            ),
            (
                json!({"wlan": [{"hidden": true}]}),
                "wlan[0].hidden = true",
                json!({"wlan": [{"hidden": true}], "flows": [{"count": 2}]}),
            ),
            (
                mesh(&json!({"edge": {"port": "shared", "wavelength": "random"}})),
                "edge.wavelength = \"random\"",
                mesh(&json!({"edge": {"port": "shared", "wavelength": "random"},
                    "core": {"conversion": "none"}})),
            ),
        ] {
            let (_, said) = resolves(&one).expect("it runs");
            assert_eq!(said.len(), 1, "{said:?}");
            assert!(said[0].starts_with(&format!("{field} has no effect: ")), "{said:?}");
            assert_eq!(resolves(&two).expect("it runs").1, [""; 0]);
        }
    }
}
