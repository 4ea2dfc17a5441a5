//! Where the connections of a `[[demand]]` go, and how large they are.

use std::collections::BTreeMap;

use burstlab_traffic::Sampler;

use super::choice::{Choice, listed};
use super::course::{self, Course};
use super::demand::RATE;
use super::ends::{host, two_ends};
use super::{Demand, DemandPattern, Destination, ScenarioError};
use crate::topology::Graph;

/// When the connections of a demand come, where they go, and how large they are.
#[derive(Clone, Debug)]
pub struct DemandLaw {
    /// When they come, and between which nodes where `weights` do not say it.
    pub course: Course,
    /// How much application data a connection carries.
    pub sizes: Sampler,
    /// Weight of each pair of nodes.
    pub weights: Weights,
    /// Poisson processes: mean arrivals a second, counted as `per` says.
    pub rate: f64,
}

/// Weight of each pair of nodes, by the numbers of the nodes.
#[derive(Clone, Debug)]
pub enum Weights {
    /// The same between each two.
    Uniform,
    /// By node.
    Gravity(Vec<f64>),
    /// By pair of nodes.
    Matrix(BTreeMap<(u32, u32), f64>),
}

impl Weights {
    /// Weight of each pair of nodes.
    #[must_use]
    pub fn of(&self, from: u32, to: u32) -> f64 {
        match self {
            _ if from == to => 0.0,
            Self::Uniform => 1.0,
            Self::Gravity(weights) => weights[from as usize] * weights[to as usize],
            Self::Matrix(weights) => weights.get(&(from, to)).copied().unwrap_or(0.0),
        }
    }
}

impl Demand {
    /// The destinations in `graph` and the sizes of the connections of this entry; `at` is its
    /// path.
    pub(super) fn law(&self, at: &str, graph: &Graph) -> Result<DemandLaw, ScenarioError> {
        let mut given = Choice::of(at, self, "pattern", DemandPattern::FIELDS);
        let course = course::read(self, at, graph, &mut given)?;
        given.done()?;
        if self.pattern != DemandPattern::Poisson {
            course::unused(self, at)?;
        }
        let sizes = match &course {
            Course::Trace(rows) => course::sizes(rows),
            _ => self.size.sampler(&format!("{at}.size"))?,
        };
        let rate = self.flows_per_second.unwrap_or(RATE);
        Ok(DemandLaw { course, sizes, weights: self.weights(at, graph)?, rate })
    }

    /// Weight of each pair of nodes in `graph`.
    fn weights(&self, at: &str, graph: &Graph) -> Result<Weights, ScenarioError> {
        let mut given = Choice::of(at, self, "destination", Destination::FIELDS);
        let weights = match self.destination {
            Destination::Uniform => Weights::Uniform,
            Destination::Gravity => {
                let mut weights = vec![1.0; graph.nodes.len()];
                for (n, one) in given.needs("weights", listed(&self.weights))?.iter().enumerate() {
                    let node = host(graph, &format!("{at}.weights[{n}].node"), &one.node)?;
                    weights[node as usize] = one.weight;
                }
                Weights::Gravity(weights)
            }
            Destination::Matrix => {
                let mut weights = BTreeMap::new();
                for (n, one) in given.needs("matrix", listed(&self.matrix))?.iter().enumerate() {
                    let ends = two_ends(graph, &format!("{at}.matrix[{n}]"), &one.from, &one.to)?;
                    *weights.entry(ends).or_default() += one.weight;
                }
                Weights::Matrix(weights)
            }
        };
        given.done()?;
        let edges = graph.edges();
        let heavy = |&from: &u32| edges.iter().any(|&to| weights.of(from, to) > 0.0);
        if edges.iter().any(heavy) {
            return Ok(weights);
        }
        let field = if matches!(weights, Weights::Matrix(_)) { "matrix" } else { "weights" };
        let (path, problem) = (format!("{at}.{field}"), "no connection could arrive");
        let fix = "give at least one pair of edge nodes a positive weight";
        Err(ScenarioError::new(path, "", problem, fix))
    }
}
