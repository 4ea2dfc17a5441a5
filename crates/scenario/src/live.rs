//! `[[live]]`: hosts whose network is that of a Linux kernel, and the programs that run on them.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Check, refuse};
use super::limits::DURATION_MAX;
use super::{Flow, Scenario, ScenarioError};
use crate::topology::Graph;

/// The stack of a flow between two live hosts.
pub const LIVE: &str = "live";

/// Most live hosts of a scenario: each two of them have a flow.
const HOSTS_MAX: usize = 200;

/// The two ends of a path.
const INGRESS: &str = "ingress";
const EGRESS: &str = "egress";

/// Most bytes of the name of a congestion control in the kernel (`TCP_CA_NAME_MAX` less one).
const CONTROL_MAX: usize = 15;

/// A host that runs a program of the machine over a Linux kernel, in a network namespace of its own
/// with one device; `burstlab live` runs such a scenario. Each two live hosts at different nodes
/// have a flow. Its data packets are all packets from one host to the other, its ACKs all packets
/// back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Live {
    /// IP address, of version 4, such as `10.0.0.1`.
    pub address: String,
    /// Name of the host's edge node; on a path `ingress` or `egress`. Absent: the first edge node
    /// for the first host, the last edge node for every other host. On a path, hosts at the ingress
    /// send data.
    #[schemars(extend("x-default" = "the first edge node, of other hosts the last"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The program and its arguments, without a shell; `python` is the Python that runs Burstlab.
    /// Absent: no program, only the kernel answers.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// When the program starts.
    #[schemars(extend("x-maximum" = DURATION_MAX))]
    pub start: Span,
    /// Whether the run may end without this program: it is stopped once all other programs have
    /// ended.
    pub server: bool,
    /// Environment variables of the program, each as `NAME=value`, in addition to those of
    /// `burstlab`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Congestion control of its connections, by the kernel's name for it, such as `bbr`. Absent:
    /// the default of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Settings of its kernel below `net`, each as `net.NAME=value`, such as
    /// `net.ipv4.tcp_sack=0`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sysctls: Vec<String>,
    /// Largest packet of its device.
    #[schemars(extend("x-minimum" = "576 B", "x-maximum" = "65535 B"))]
    pub mtu: Bytes,
    /// Whether the kernel may hand several segments to the device as one. The device gets single
    /// segments in both cases, but with grouping the kernel may wait for more.
    pub grouping: bool,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            address: String::new(),
            node: None,
            command: None,
            start: Span::ZERO,
            server: false,
            environment: Vec::new(),
            congestion_control: None,
            sysctls: Vec::new(),
            mtu: Bytes::new(1500),
            grouping: true,
        }
    }
}

/// Two live hosts and the flow between them, each by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivePair {
    /// The flow, as tables number it.
    pub flow: u32,
    /// The host whose packets are its data packets, and the other.
    pub hosts: [u32; 2],
}

/// Checks the live hosts of a scenario and gives each two of them a flow, after all others.
pub(super) fn expand(scenario: &mut Scenario, graph: Option<&Graph>) -> Check {
    let flows = scenario.flows.get_or_insert_default();
    let written = flows.len();
    // Those that were written by this are written anew.
    flows.retain(|flow| flow.stack.as_deref() != Some(LIVE));
    if scenario.live.is_empty() {
        let problem = "such flows follow from [[live]], and there is none";
        let fix = "add entries of [[live]], or remove stack";
        let kept = scenario.flows().len() == written;
        return if kept { Ok(()) } else { refuse("flows.stack", LIVE, problem, fix) };
    }
    if scenario.live.len() > HOSTS_MAX {
        let value = format!("{} entries", scenario.live.len());
        return refuse("live", &value, "there are at most 200 live hosts", "write fewer");
    }
    if scenario.run.replications > 1 {
        let (problem, fix) = ("programs run once", "remove it, and run with several seeds");
        return refuse("run.replications", scenario.run.replications.to_string(), problem, fix);
    }
    let mut addresses = BTreeSet::new();
    for (index, host) in scenario.live.iter().enumerate() {
        host.check(&format!("live[{index}]"), scenario, &mut addresses)?;
    }
    let nodes = nodes(scenario, graph)?;
    for (host, &node) in scenario.live.iter_mut().zip(&nodes) {
        let end = || [INGRESS, EGRESS][node as usize];
        host.node = Some(graph.map_or_else(end, |graph| graph.name(node)).to_string());
    }
    let pairs = pairs(&nodes, graph.is_none());
    if pairs.is_empty() {
        let problem = "all live hosts are at one node, so no flow crosses the network";
        return refuse("live", "", problem, "add a host, or write another node");
    }
    let name = |host: usize| graph.map(|graph| graph.name(nodes[host]).to_string());
    let address = |host: usize| &scenario.live[host].address;
    let flows = pairs.iter().map(|&[near, far]| Flow {
        label: Some(format!("{} - {}", address(near), address(far))),
        from: name(near),
        to: name(far),
        stack: Some(LIVE.to_string()),
        ..Flow::default()
    });
    let flows: Vec<Flow> = flows.collect();
    scenario.flows.get_or_insert_default().extend(flows);
    Ok(())
}

/// The node of each host; of a path 0 is the ingress.
fn nodes(scenario: &Scenario, graph: Option<&Graph>) -> Result<Vec<u32>, ScenarioError> {
    let hosts = scenario.live.iter().enumerate();
    let path = [INGRESS.to_string(), EGRESS.to_string()];
    hosts
        .map(|(index, host)| {
            let (names, numbers) = match graph {
                Some(graph) => {
                    let numbers = graph.edges();
                    let names = numbers.iter().map(|&node| graph.name(node).to_string()).collect();
                    (names, numbers)
                }
                None => (path.to_vec(), vec![0, 1]),
            };
            let Some(node) = &host.node else {
                let last = numbers.last().copied();
                return Ok(if index == 0 { numbers[0] } else { last.expect("there are two") });
            };
            let place = names.iter().position(|name| name == node);
            place.map(|place| numbers[place]).ok_or_else(|| {
                let fix = super::read::suggestion(node, &names);
                let path = format!("live[{index}].node");
                ScenarioError::new(path, format!("{node:?}"), "hosts are at no such node", fix)
            })
        })
        .collect()
}

/// Each two hosts at different nodes: the one at the ingress of a path, or listed first, before.
fn pairs(nodes: &[u32], is_path: bool) -> Vec<[usize; 2]> {
    let all = 0..nodes.len();
    let pairs = all.flat_map(|one| (one + 1..nodes.len()).map(move |other| [one, other]));
    let apart = pairs.filter(|&[one, other]| nodes[one] != nodes[other]);
    let backwards = |one, other| is_path && nodes[one] > nodes[other];
    apart.map(|[a, b]| if backwards(a, b) { [b, a] } else { [a, b] }).collect()
}

impl Live {
    fn check<'a>(
        &'a self,
        at: &str,
        scenario: &Scenario,
        addresses: &mut BTreeSet<&'a str>,
    ) -> Check {
        let at = |field: &str| format!("{at}.{field}");
        let fix = "write one such as \"10.0.0.1\"";
        match self.address.parse::<Ipv4Addr>() {
            Ok(address) if is_of_a_host(address) => {}
            _ => {
                let problem = "it is no address of a host, of IP version 4";
                return refuse(at("address"), &self.address, problem, fix);
            }
        }
        if !addresses.insert(&self.address) {
            let problem = "another live host has it";
            return refuse(at("address"), &self.address, problem, "write another");
        }
        if let Some(word) = self.command.iter().flatten().find(|word| word.contains('\0')) {
            let problem = "no program takes the character 0";
            return refuse(at("command"), format!("{word:?}"), problem, "remove it");
        }
        let first = self.command.as_ref().map(|words| words.first().map(String::as_str));
        if let Some(None | Some("")) = first {
            let fix = "name a program, or remove it";
            return refuse(at("command"), "", "no program is named", fix);
        }
        if self.start > scenario.run.duration {
            let problem = "the run has ended by then";
            let fix = "write an earlier time, or a longer run.duration";
            return refuse(at("start"), self.start.to_string(), problem, fix);
        }
        for one in &self.environment {
            let has_name = one.split_once('=').is_some_and(|(name, _)| !name.is_empty());
            if !has_name || one.contains('\0') {
                let (problem, fix) = ("it has no name, or no value", "write \"NAME=value\"");
                return refuse(at("environment"), format!("{one:?}"), problem, fix);
            }
        }
        for one in &self.sysctls {
            let name = one.split_once('=').map(|(name, _)| name.trim());
            if !name.is_some_and(is_setting) {
                let problem = "it sets nothing below net";
                let fix = "write one such as \"net.ipv4.tcp_sack=0\"";
                return refuse(at("sysctls"), format!("{one:?}"), problem, fix);
            }
        }
        let odd = |name: &&String| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            name.is_empty() || name.len() > CONTROL_MAX || !name.bytes().all(plain)
        };
        match self.congestion_control.as_ref().filter(odd) {
            Some(name) => {
                let problem = "no congestion control of a kernel has this name";
                refuse(at("congestion_control"), name, problem, "write one such as \"cubic\"")
            }
            None => Ok(()),
        }
    }
}

fn is_of_a_host(address: Ipv4Addr) -> bool {
    let first = address.octets()[0];
    !address.is_loopback() && (1..224).contains(&first)
}

/// Whether a setting is one below `net`: words with dots between, and nothing that leads out of
/// there.
fn is_setting(name: &str) -> bool {
    let word = |word: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !word.is_empty() && word.bytes().all(plain)
    };
    name.strip_prefix("net.").is_some_and(|rest| rest.split('.').all(word))
}

impl Flow {
    /// Whether it is between two live hosts.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.stack.as_deref() == Some(LIVE)
    }
}
