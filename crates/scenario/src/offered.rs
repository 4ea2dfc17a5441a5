//! The load that a demand offers: the mean application data that arrive a second, over the rate of
//! the busiest link. Headers, retransmissions and ACKs do not count.

use burstlab_units::{Rate, Span};

use super::error::{Check, refuse, word};
use super::{Course, Demand, DemandLaw, LoadOf, Per, RouteChoice, Scenario, Weights};
use crate::topology::{Graph, Routes};

/// Least and most arrivals a second in the whole network that a load may mean.
const ARRIVALS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// The mean load of a demand while its connections arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offered {
    /// Connections a second, in the whole network.
    pub flows_per_second: f64,
    /// Their application data, in bit/s.
    pub bps: f64,
    /// The load of the busiest access link of a sender, as if each edge node had one.
    pub access: f64,
    /// The load of the busiest access link of a receiver, as if each edge node had one.
    pub receiver: f64,
    /// The load of the busiest fibre.
    pub fibre: f64,
}

impl Offered {
    fn of(&self, links: LoadOf) -> f64 {
        match links {
            LoadOf::Access => self.access,
            LoadOf::Receiver => self.receiver,
            LoadOf::Fibre => self.fibre,
        }
    }
}

/// Refuses a load together with a rate, and fields that belong to one of the two alone.
pub(super) fn check(demand: &Demand, at: &str) -> Check {
    let Some(load) = demand.load else {
        if demand.load_of == LoadOf::default() {
            return Ok(());
        }
        let (value, fix) = (word(&demand.load_of), "remove it, or add load = 0.5");
        return refuse(format!("{at}.load_of"), value, "it has no effect without load", fix);
    };
    if demand.flows_per_second.is_some() {
        let problem = "flows_per_second is given too";
        return refuse(format!("{at}.load"), load.to_string(), problem, "keep one of the two");
    }
    if demand.per != Per::default() {
        let problem = "load does not use it: it is that of the busiest link";
        let fix = "remove it, or write flows_per_second in place of load";
        return refuse(format!("{at}.per"), word(&demand.per), problem, fix);
    }
    Ok(())
}

/// Sets the rate of arrivals that the load of a demand means.
pub(super) fn settle(
    scenario: &Scenario,
    (demand, law): (&Demand, &mut DemandLaw),
    at: &str,
    (graph, routes): (&Graph, &Routes),
) -> Check {
    let Some(load) = demand.load else { return Ok(()) };
    law.rate = 1.0;
    let Some(one) = law.offered(scenario, demand, (graph, routes)) else { return Ok(()) };
    law.rate = load / one.of(demand.load_of);
    let arrivals = one.flows_per_second * law.rate;
    if ARRIVALS.contains(&arrivals) {
        return Ok(());
    }
    let mean = law.sizes.mean();
    let problem =
        format!("with a mean size of {mean:.0} B it means {arrivals:.1e} connections a second");
    let fix = if arrivals < *ARRIVALS.start() {
        "write a larger load, or a smaller size"
    } else {
        "write a smaller load, or a larger size"
    };
    refuse(format!("{at}.load"), load.to_string(), problem, fix)
}

/// Names loads above 1.
pub(super) fn warnings(scenario: &Scenario) -> Vec<String> {
    let line = |(index, demand): (usize, &Demand)| {
        let load = demand.load.filter(|load| *load > 1.0)?;
        let (link, fix) = match demand.load_of {
            LoadOf::Fibre => ("the busiest fibre carries", ""),
            _ if scenario.access.shared => ("the busiest access link carries", ""),
            _ => (
                "one access link carries, at the busiest edge node",
                "; without access.shared = true each connection has a link of its own",
            ),
        };
        Some(format!(
            "demand[{index}].load = {load}: more data arrive than {link}; write at most 1, unless \
             an overload is meant{fix}"
        ))
    };
    scenario.demand.iter().enumerate().filter_map(line).collect()
}

impl DemandLaw {
    /// Edge nodes where Poisson processes start connections, each with its mean arrivals a second.
    #[must_use]
    pub fn sources(&self, per: Per, graph: &Graph) -> Vec<(u32, f64)> {
        let edges = graph.edges();
        let sum = |from: u32| edges.iter().map(|&to| self.weights.of(from, to)).sum::<f64>();
        let whole: f64 = edges.iter().map(|&from| sum(from)).sum();
        let all_pairs = (edges.len() * (edges.len() - 1)) as f64;
        let rate = |&from: &u32| {
            let own = sum(from);
            let pairs = edges.iter().filter(|&&to| self.weights.of(from, to) > 0.0).count() as f64;
            let rate = self.rate
                * match (per, &self.weights) {
                    (Per::Network, _) => own / whole,
                    (Per::Node | Per::Pair, Weights::Matrix(_)) => own,
                    (Per::Node, Weights::Gravity(_)) => edges.len() as f64 * own / whole,
                    (Per::Pair, Weights::Gravity(_)) => all_pairs * own / whole,
                    (Per::Node, Weights::Uniform) => 1.0,
                    (Per::Pair, Weights::Uniform) => pairs,
                };
            (own > 0.0 && rate > 0.0).then_some((from, rate))
        };
        edges.iter().filter_map(rate).collect()
    }

    /// The mean load of the demand in the graph; nothing where it has a single round, or no time.
    pub(super) fn offered(
        &self,
        scenario: &Scenario,
        demand: &Demand,
        (graph, routes): (&Graph, &Routes),
    ) -> Option<Offered> {
        let mut found = Offered::default();
        let [mut sent, mut received] = [(); 2].map(|()| vec![0.0; graph.nodes.len()]);
        let mut carried = vec![0.0; graph.links.len()];
        let first_only = scenario.network.route_choice() == RouteChoice::First;
        self.each_pair(scenario, demand, graph, &mut |(from, to), flows, bps| {
            found.flows_per_second += flows;
            found.bps += bps;
            sent[from as usize] += bps;
            received[to as usize] += bps;
            let all = routes.peek(from, to);
            let used = &all[..if first_only { all.len().min(1) } else { all.len() }];
            for link in used.iter().flatten() {
                carried[*link as usize] += bps / used.len() as f64;
            }
        })?;
        let most = |loads: &[f64]| loads.iter().copied().fold(0.0, f64::max);
        let over = |bps: f64, rate: Rate| bps / rate.as_bps() as f64;
        found.access = over(most(&sent), scenario.access.rate);
        found.receiver = over(most(&received), scenario.access.receiver_side().0);
        let fibres = carried.iter().zip(&graph.links);
        let loads: Vec<f64> = fibres.map(|(bps, link)| bps / f64::from(link.wavelengths)).collect();
        found.fibre = over(most(&loads), scenario.network.link_rate);
        Some(found)
    }

    /// Hands over pairs of edge nodes, each with its mean connections a second and their bit/s.
    fn each_pair(
        &self,
        scenario: &Scenario,
        demand: &Demand,
        graph: &Graph,
        each: &mut impl FnMut((u32, u32), f64, f64),
    ) -> Option<()> {
        let edges = graph.edges();
        let bits = 8.0 * self.sizes.mean();
        let others = (edges.len() - 1) as f64;
        // A round has `flows` from each edge node to each of `ends` that is another one.
        let mut round = |every: &Option<Span>, ends: &[u32], flows: f64| {
            let rate = flows / (*every)?.as_secs_f64();
            for &from in &edges {
                for &to in ends.iter().filter(|&&to| to != from) {
                    each((from, to), rate, rate * bits);
                }
            }
            Some(())
        };
        match &self.course {
            Course::Incast { senders, receiver: Some(end), every } => {
                round(every, &[*end], f64::from(*senders) / others)
            }
            Course::Incast { senders, receiver: None, every } => {
                round(every, &edges, f64::from(*senders) / others / edges.len() as f64)
            }
            Course::Permutation { every } => round(every, &edges, 1.0 / others),
            Course::Poisson => {
                for (from, rate) in self.sources(demand.per, graph) {
                    let weight = |&to: &u32| (to, self.weights.of(from, to));
                    let own: f64 = edges.iter().map(|to| weight(to).1).sum();
                    for (to, weight) in edges.iter().map(weight).filter(|one| one.1 > 0.0) {
                        let flows = rate * weight / own;
                        each((from, to), flows, flows * bits);
                    }
                }
                Some(())
            }
            Course::Trace(rows) => {
                let end = demand
                    .stop
                    .map_or(scenario.run.duration, |stop| stop.min(scenario.run.duration));
                let time = (end > demand.start).then(|| end - demand.start)?;
                let seconds = time.as_secs_f64();
                for row in rows.iter().take_while(|row| row.start < time) {
                    each((row.from, row.to), 1.0 / seconds, 8.0 * row.bytes as f64 / seconds);
                }
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Resolved, ScenarioError};

    fn resolved(demand: &Value, tables: &Value) -> Result<Resolved, ScenarioError> {
        let mut all = json!({
            "network": {"topology": "line", "nodes": 3, "link_rate": "100 Mb/s", "wavelengths": 4},
            "access": {"rate": "50 Mb/s", "receiver": {"rate": "25 Mb/s"}},
            "demand": [demand],
            "run": {"duration": "2 s"},
        });
        let tables = tables.as_object().cloned().unwrap_or_default();
        all.as_object_mut().expect("a table").extend(tables);
        Scenario::from_json(&all.to_string()).expect("it reads").resolve()
    }

    fn offered(demand: &Value) -> Offered {
        resolved(demand, &json!({})).expect("it resolves").offered()[0].expect("it is steady")
    }

    fn wrong(demand: &Value) -> String {
        resolved(demand, &json!({})).expect_err("it is refused").to_string()
    }

    fn close(found: Offered, [flows, mbps, access, receiver, fibre]: [f64; 5]) {
        let all = [found.flows_per_second, found.bps / 1e6, found.access, found.receiver];
        for (found, expected) in all.into_iter().zip([flows, mbps, access, receiver]) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
        }
        assert!((found.fibre / fibre - 1.0).abs() < 1e-12, "{}, not {fibre}", found.fibre);
    }

    /// By hand, on a line of three nodes with 4 x 100 Mb/s a fibre; files of 1 Mbit.
    #[test]
    fn the_load_of_each_pattern() {
        let file = json!({"mean": "125 KB"});
        // Each node 6 a second, half to each other one; 9 cross each fibre.
        close(
            offered(&json!({"flows_per_second": 6, "size": file})),
            [18.0, 18.0, 6.0 / 50.0, 6.0 / 25.0, 6.0 / 400.0],
        );
        // Each pair 6: 12 start and end at each node, and cross each fibre.
        close(
            offered(&json!({"flows_per_second": 6, "per": "pair", "size": file})),
            [36.0, 36.0, 12.0 / 50.0, 12.0 / 25.0, 12.0 / 400.0],
        );
        // The products of the weights 4, 1, 1: 4, 4, 1 in both directions.
        let weights = json!([{"node": "1", "weight": 4}]);
        close(
            offered(&json!({"flows_per_second": 18, "per": "network", "size": file,
                "destination": "gravity", "weights": weights})),
            [18.0, 18.0, 8.0 / 50.0, 8.0 / 25.0, 8.0 / 400.0],
        );
        let matrix = json!([{"from": "1", "to": "3", "weight": 3},
            {"from": "2", "to": "3", "weight": 1}]);
        close(
            offered(&json!({"flows_per_second": 2, "size": file, "destination": "matrix",
                "matrix": matrix})),
            [8.0, 8.0, 6.0 / 50.0, 8.0 / 25.0, 8.0 / 400.0],
        );
        let every = "100 ms";
        close(
            offered(&json!({"pattern": "incast", "senders": 4, "receiver": "3", "every": every,
                "size": file})),
            [40.0, 40.0, 20.0 / 50.0, 40.0 / 25.0, 40.0 / 400.0],
        );
        close(
            offered(&json!({"pattern": "incast", "senders": 3, "every": every, "size": file})),
            [30.0, 30.0, 10.0 / 50.0, 10.0 / 25.0, 10.0 / 400.0],
        );
        close(
            offered(&json!({"pattern": "permutation", "every": every, "size": file})),
            [30.0, 30.0, 10.0 / 50.0, 10.0 / 25.0, 10.0 / 400.0],
        );
        let trace = json!([
            ["0 s", "1", "3", "125 KB"],
            ["1 s", "1", "2", "250 KB"],
            ["2 s", "1", "2", "1 MB"]
        ]);
        close(
            offered(&json!({"pattern": "trace", "trace": trace})),
            [1.0, 1.5, 1.5 / 50.0, 1.0 / 25.0, 1.5 / 400.0],
        );
        let once = resolved(&json!({"pattern": "permutation", "size": file}), &json!({}));
        assert_eq!(once.expect("it resolves").offered(), [None]);
    }

    #[test]
    fn a_load_is_a_rate() {
        for size in [json!({"mean": "125 KB"}), json!({"distribution": "web-search"})] {
            for (links, name) in [
                (LoadOf::Access, "access"),
                (LoadOf::Receiver, "receiver"),
                (LoadOf::Fibre, "fibre"),
            ] {
                let weights = json!([{"node": "1", "weight": 4}]);
                for more in [json!({}), json!({"destination": "gravity", "weights": weights})] {
                    let mut demand = json!({"size": size, "load": 0.4, "load_of": name});
                    demand.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
                    let found = offered(&demand);
                    assert!((found.of(links) - 0.4).abs() < 1e-12, "{name}: {found:?}");
                }
            }
        }
        let found = resolved(&json!({"size": {"mean": "125 KB"}, "load": 0.4}), &json!({}));
        // 20 Mb/s from each node.
        assert!((found.unwrap().demand[0].rate - 20.0).abs() < 1e-12);
    }

    /// Two routes as short as each other, and the first of them alone.
    #[test]
    fn routes_share_the_load() {
        let network = |choice: &str| {
            let mut network = json!({"topology": "leaf-spine", "leaves": 3, "spines": 2,
                "link_rate": "100 Mb/s", "wavelengths": 1, "route_choice": choice});
            if choice == "random" {
                network["routes_per_pair"] = json!(2);
            }
            json!({"network": network})
        };
        let demand = json!({"size": {"mean": "125 KB"}, "flows_per_second": 10});
        for (choice, fibre) in [("ecmp", 0.05), ("random", 0.05), ("first", 0.1)] {
            let found = resolved(&demand, &network(choice)).expect("it resolves").offered();
            let found = found[0].expect("it is steady").fibre;
            assert!((found - fibre).abs() < 1e-12, "{choice}: {found}");
        }
    }

    #[test]
    fn a_load_stands_alone() {
        let size = json!({"mean": "1 KB"});
        let cases = [
            (
                json!({"size": size, "load": 0.5, "flows_per_second": 1}),
                "demand[0].load = 0.5: flows_per_second is given too; keep one of the two",
            ),
            (
                json!({"size": size, "load": 0.5, "per": "pair"}),
                "demand[0].per = \"pair\": load does not use it: it is that of the busiest link; \
                 remove it, or write flows_per_second in place of load",
            ),
            (
                json!({"size": size, "load_of": "fibre"}),
                "demand[0].load_of = \"fibre\": it has no effect without load; \
                 remove it, or add load = 0.5",
            ),
            (
                json!({"size": size, "load": 0}),
                "demand[0].load = 0: out of range; write a number above 0, up to 1000",
            ),
            (
                json!({"size": size, "load": 0.5, "pattern": "incast", "senders": 2}),
                "demand[0].load: pattern = \"incast\" does not use it; \
                 remove it, or change pattern",
            ),
            (
                json!({"load": 0.5, "size": {"distribution": "pareto", "min": "1 KB", "shape": 1}}),
                "demand[0].size.shape = 1: a Pareto size has a mean only for shapes above 1; \
                 write a number above 1, up to 100",
            ),
            (
                json!({"load": 1e-9, "size": {"mean": "1000000 GB"}}),
                "demand[0].load = 0.000000001: with a mean size of 1000000000000000 B it means \
                 1.9e-17 connections a second; write a larger load, or a smaller size",
            ),
        ];
        for (demand, says) in cases {
            assert_eq!(wrong(&demand), says);
        }
    }

    #[test]
    fn an_overload_is_named() {
        let heard = |demand: Value, tables: Value| {
            resolved(&demand, &tables).expect("it resolves").warnings.join("\n")
        };
        let size = json!({"mean": "20 KB"});
        let demand = |load: f64, links: &str| {
            let mut demand = json!({"size": size, "load": load});
            demand["load_of"] = json!(links);
            demand
        };
        assert!(!heard(demand(1.0, "fibre"), json!({})).contains("load"));
        assert!(heard(demand(1.5, "fibre"), json!({})).contains("demand[0].load = 1.5: more data"));
        let shared = json!({"access": {"shared": true}});
        assert!(heard(demand(1.5, "access"), shared).contains("the busiest access link carries"));
        assert!(heard(demand(1.5, "access"), json!({})).contains("access.shared = true"));
    }
}
