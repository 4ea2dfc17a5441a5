//! A resolved scenario as a document: every field that it uses, with the value that holds.
//!
//! A field is left out where it has no effect: what the topology does not have, what another choice
//! needs, and what belongs to a mechanism that is not there. It is also left out where nothing
//! holds, such as a bound that is none, and where it follows another field that is there.

use serde_json::Value;

use super::{Assembly, CoreForwarding, Protocol, Resolution, Resolved, Scenario};

/// Fields of a table that have no effect where the last says so, of the scenario and the table.
type Rule = (&'static str, &'static [&'static str], fn(&Scenario, &Value) -> bool);

/// Lists are written with `[]`.
const UNUSED: &[Rule] = &[
    ("", &["edge", "core", "signalling", "loss"], |all, _| all.kind().is_slotted()),
    ("", &["signalling"], |all, _| all.kind().is_path()),
    // It was of use as the file was read.
    ("network", &["lengths"], |_, _| true),
    ("", &["tcp"], |all, _| all.flows().is_empty() && all.demand.is_empty()),
    (
        "edge",
        &["queues", "burstifiers", "at_most", "port", "wavelength", "class_offsets"],
        |all, _| all.kind().is_path(),
    ),
    ("edge", &["offset", "spacing"], |all, _| !all.kind().is_path()),
    ("edge", &["spacing"], |all, _| all.core.forwarding != CoreForwarding::StoreAndForward),
    ("edge", &["at_most"], |_, edge| !is(edge, "assembly", &["size", "hybrid"])),
    ("edge", &["wavelength"], |_, edge| !is(edge, "port", &["shared"])),
    ("edge", &["burstifiers"], |_, edge| is(edge, "queues", &["flow"])),
    ("edge", &["notice_size"], |_, edge| is(edge, "notices", &["out-of-band"])),
    ("edge.ack", &["with_data", "class"], |all, _| all.kind().is_path()),
    ("edge.ack", &["offset"], |all, _| !all.kind().is_path()),
    ("edge.ack", &["assembly"], |all, _| all.edge.ack.with_data),
    ("edge.ack", &["class"], |all, _| {
        !all.edge.ack.with_data || all.edge.assembly != Assembly::CwndClasses
    }),
    ("core", &["scheduler", "conversion", "contention", "injection"], |all, _| {
        all.kind().is_path()
    }),
    ("core", &["forwarding"], |all, _| !all.kind().is_path()),
    ("core", &["injection"], |all, _| is_two_way(all)),
    ("core", &["delay_lines"], |all, _| !all.tries(Resolution::DelayLine)),
    ("core", &["deflection"], |all, _| !all.tries(Resolution::Deflection)),
    ("core", &["segmentation"], |all, _| !all.tries(Resolution::Segmentation)),
    ("core", &["retransmission"], |all, _| !all.tries(Resolution::Retransmission)),
    ("signalling", &["guard"], |all, _| all.signalling.offset.is_some()),
    ("signalling", &["requests", "retry"], |all, _| !is_two_way(all)),
    ("ops", &["unsmoothed"], |all, _| !smooths(all)),
    ("ops.smoothing", &["weight", "units", "min_rate", "phase", "refusal"], |all, _| !smooths(all)),
    ("ops.dlcc", &["piggyback_wait"], |_, dlcc| is(dlcc, "notification", &["dedicated"])),
    ("wlan[]", &["hidden"], |_, cell| cell.get("positions").is_some()),
    ("demand[]", &["flows_per_second", "per", "destination"], |_, demand| {
        !is(demand, "pattern", &["poisson"])
    }),
    // With a load, the rate follows from it.
    ("demand[]", &["per"], |_, demand| demand.get("load").is_some()),
    ("demand[]", &["load_of"], |_, demand| demand.get("load").is_none()),
    ("demand[]", &["size"], |_, demand| is(demand, "pattern", &["trace"])),
    ("flows[]", &["closes"], |_, flow| {
        flow.get("bytes").is_none() && flow.get("script").is_none() || flow.get("stack").is_some()
    }),
    ("flows[]", &["streams", "ecn"], |_, flow| {
        flow.get("stack").is_none_or(|stack| stack == super::LIVE)
    }),
    ("traffic[]", &["class"], |all, _| all.kind().is_path()),
    ("traffic[]", &["on_mean", "shape"], |_, one| !is(one, "pattern", &["pareto", "sessions"])),
    ("traffic[]", &["off_mean"], |_, one| !is(one, "pattern", &["pareto"])),
    ("failures[]", &["one_way"], |_, failure| failure.get("node").is_some()),
];

fn is_two_way(scenario: &Scenario) -> bool {
    scenario.signalling.protocol == Protocol::TwoWay
}

fn smooths(scenario: &Scenario) -> bool {
    scenario.ops.as_ref().is_some_and(|ops| ops.smoothing.enabled)
}

/// Whether a choice of a table is one of these words.
fn is(table: &Value, choice: &str, words: &[&str]) -> bool {
    table.get(choice).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
}

impl Resolved {
    /// The scenario as it is stored: each field that it uses has the value that holds, and none is
    /// there that has no effect. It resolves to itself.
    ///
    /// # Panics
    /// Never: a scenario can be written.
    #[must_use]
    pub fn document(&self) -> Value {
        let scenario = &self.scenario;
        let mut document = serde_json::to_value(scenario).expect("a scenario can be written");
        for (path, fields, unused) in UNUSED {
            for table in tables(&mut document, path) {
                if unused(scenario, table)
                    && let Some(table) = table.as_object_mut()
                {
                    table.retain(|name, _| !fields.contains(&name.as_str()));
                }
            }
        }
        document
    }
}

/// The tables at a path; none where there is none.
fn tables<'a>(document: &'a mut Value, path: &str) -> Vec<&'a mut Value> {
    let mut found = vec![document];
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (name, each) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
        let inner = found.into_iter().filter_map(|table| table.get_mut(name));
        found = match each {
            true => inner.filter_map(Value::as_array_mut).flatten().collect(),
            false => inner.collect(),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(written: &Value) -> Resolved {
        let scenario = Scenario::from_json(&written.to_string()).expect("it reads");
        scenario.resolve().unwrap_or_else(|error| panic!("{written}: {error}"))
    }

    fn document(written: &Value) -> Value {
        resolved(written).document()
    }

    fn all() -> Vec<Value> {
        let mesh = |more: Value| {
            let mut all = json!({"network": {"topology": "nsfnet", "wavelengths": 4}});
            all.as_object_mut().expect("a table").extend(more.as_object().cloned().unwrap());
            all
        };
        let size = json!({"mean": "20 KB"});
        let steps = json!(["conversion", "delay-line", "deflection", "segmentation"]);
        let core = json!({"contention": steps, "delay_lines": {"delays": ["50 us"]}});
        let classes = json!({"assembly": "cwnd-classes", "cwnd_thresholds": [9],
            "class_timers": ["1 ms", "2 ms"], "ack": {"with_data": true, "class": 1}});
        let linux = json!({"profile": "linux", "window_law": "bbr"});
        let script = json!({"process": "script", "carrying": [3]});
        vec![
            json!({}),
            json!({"loss": {"data": script}, "surgery": [{"burst": 3}]}),
            json!({"access": {"shared": true}, "traffic": [{}]}),
            json!({"tcp": {"profile": "ns2"}, "flows": [{}, {"tcp": linux}, {"stack": "quinn"}]}),
            json!({"tcp": {"initial_window": 0}, "flows": [{"tcp": {"initial_window": 2}}]}),
            json!({"core": {"forwarding": "store-and-forward"}, "edge": {"spacing": "1 ns"}}),
            json!({"wlan": [{"loss": "shadowing", "margin_db": 3.0}], "flows": [{"reverse": {}}]}),
            json!({"live": [{"address": "10.0.0.1"}, {"address": "10.0.0.2"}]}),
            mesh(json!({"edge": classes, "core": core, "demand": [{"size": size}]})),
            mesh(json!({"demand": [{"size": size, "load": 0.25, "load_of": "fibre"}]})),
            mesh(json!({"demand": [{"load": 0.5, "size": {"distribution": "mixture", "parts":
                [{"weight": 9, "mean": "10 KB"}, {"weight": 1, "distribution": "web-search"}]}}]})),
            mesh(json!({"bursts": [{"length": size}], "signalling": {"offset": "1 ms"}})),
            mesh(json!({"batches": [{"size": size}], "signalling": {"protocol": "two-way"}})),
            mesh(json!({"ops": {"dlcc": {}}, "traffic": [{"pattern": "periodic"}]})),
            mesh(json!({"edge": {"port": "shared"}, "failures": [{"link": ["1", "2"]}],
                "demand": [{"pattern": "trace", "trace": [["0 s", "1", "2", "1 KB"]],
                    "tcp": linux}, {"pattern": "incast", "senders": 3, "size": size}]})),
        ]
    }

    #[test]
    fn a_stored_scenario_resolves_to_itself_with_the_same_parameters() {
        for written in all() {
            let first = resolved(&written);
            let stored = first.document();
            let again = resolved(&stored);
            assert_eq!(again.document().to_string(), stored.to_string(), "{written}");
            assert_eq!((&again.tcp, &again.demand_tcp), (&first.tcp, &first.demand_tcp));
            assert_eq!(again.assembly, first.assembly);
        }
    }

    #[test]
    fn what_a_mesh_assumes_is_stored() {
        let found = document(&json!({"network": {"topology": "nsfnet"}}));
        for (at, value) in [
            ("/core/conversion", json!("full")),
            ("/core/scheduler", json!("lauc-vf")),
            ("/core/contention", json!([])),
            ("/edge/port", json!("fifo")),
            ("/edge/queues", json!("destination")),
            ("/signalling/guard", json!("1 us")),
            ("/run/tie_break", json!("fixed")),
            ("/flows/0/class", json!(0)),
        ] {
            assert_eq!(found.pointer(at), Some(&value), "{at}");
        }
        for at in ["/ops", "/core/forwarding", "/core/deflection", "/edge/offset", "/edge/timer"] {
            assert_eq!(found.pointer(at), None, "{at}");
        }
    }

    #[test]
    fn what_has_no_effect_is_not_stored() {
        let path = document(&json!({"access": {"shared": true}, "traffic": [{"pattern": "cbr"}]}));
        assert_eq!(path["core"], json!({"forwarding": "cut-through"}));
        for at in ["/signalling", "/edge/port", "/edge/ack/class", "/traffic/0/shape", "/tcp"] {
            assert_eq!(path.pointer(at), None, "{at}");
        }
        let slots = document(&json!({"network": {"topology": "line"}, "ops": {}}));
        for table in ["edge", "core", "signalling", "loss"] {
            assert_eq!(slots.get(table), None, "{table}");
        }
    }

    /// Where a table has no such field at all, the rule would be of nothing.
    #[test]
    fn every_rule_is_of_fields_that_there_are() {
        let schema = crate::schema_json();
        for (path, fields, _) in UNUSED {
            let steps = path.split('.').filter(|step| !step.is_empty());
            let table = steps.fold(&schema, |table, step| {
                let field = &table["properties"][step.trim_end_matches("[]")];
                let of = [field, &field["items"], &field["anyOf"][0]];
                let name = of.into_iter().find_map(|one| one["$ref"].as_str()).expect("a table");
                schema.pointer(name.trim_start_matches('#')).expect("it is defined")
            });
            for field in *fields {
                assert!(table["properties"].get(field).is_some(), "{path}.{field}");
            }
        }
    }

    #[test]
    fn a_flow_stores_what_differs_from_the_general_parameters() {
        let flows = json!([{}, {"tcp": {"window": 9, "initial_ssthresh": 64}}]);
        let found = document(&json!({"tcp": {"variant": "reno"}, "flows": flows}));
        assert_eq!(
            (&found["tcp"]["variant"], &found["tcp"]["window"]),
            (&json!("reno"), &json!(64))
        );
        assert_eq!(found["flows"][0]["tcp"], json!({}));
        assert_eq!(found["flows"][1]["tcp"], json!({"window": 9}));
    }

    #[test]
    fn a_file_that_has_all_parameters_at_its_flows_means_the_same() {
        let written = json!({"tcp": {"window": 7}, "flows": [{}, {"tcp": {"profile": "linux"}}]});
        let first = resolved(&written);
        let mut earlier = written.clone();
        for (flow, config) in earlier["flows"].as_array_mut().unwrap().iter_mut().zip(&first.tcp) {
            flow["tcp"] = serde_json::to_value(config).expect("it is written");
        }
        let again = resolved(&earlier);
        assert_eq!(again.tcp, first.tcp);
        assert_eq!(again.document(), first.document());
    }

    #[test]
    fn one_flow_is_there_where_nothing_else_sends() {
        let size = json!({"mean": "20 KB"});
        let mesh =
            |name: &str, entry: Value| json!({"network": {"topology": "line"}, name: [entry]});
        let path = |name: &str, entry: Value| json!({"access": {"shared": true}, name: [entry]});
        for (written, flows) in [
            (json!({}), 1),
            (path("wlan", json!({})), 1),
            (mesh("failures", json!({"link": ["1", "2"]})), 1),
            (path("traffic", json!({})), 0),
            (mesh("traffic", json!({})), 0),
            (mesh("demand", json!({"size": size})), 0),
            (mesh("bursts", json!({"length": size})), 0),
            (mesh("batches", json!({"size": size})), 0),
        ] {
            assert_eq!(
                document(&written)["flows"].as_array().map(Vec::len),
                Some(flows),
                "{written}"
            );
        }
        let mut alone = path("traffic", json!({}));
        alone["wlan"] = json!([{}]);
        let scenario = Scenario::from_json(&alone.to_string()).expect("it reads");
        assert!(scenario.resolve().expect_err("no station").to_string().contains("0 stations"));
    }
}
