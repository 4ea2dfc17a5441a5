//! A distribution of sizes: how much a flow carries.

use std::fmt::Display;

use burstlab_traffic::{Law, SHAPE_MAX, SIZE_MAX, Sampler, Table, bounded_mean, bounded_shape};
use burstlab_units::{Bytes, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{self, Choice, Either, Fields};
use super::{ScenarioError, ranges};

/// Wider log-normal distributions have nearly all of their mean in draws that never come.
const SIGMA_MAX: u32 = 5;

/// Most parts of a mixture.
const PARTS_MAX: u32 = 100;

/// Sizes drawn independently from a distribution; each distribution has exactly its fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Size {
    /// The distribution.
    pub distribution: Distribution,
    /// `fixed`: the size. `exponential`, `log-normal`: the mean. `pareto`, `bounded-pareto`: the
    /// mean, in place of `shape`, which then follows from it.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
    /// `pareto`, `bounded-pareto`: the smallest size.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// `bounded-pareto`: the largest size.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
    /// The exponent of the tail, of `pareto` above 1. The smaller the exponent, the more of all
    /// bytes are in the largest flows.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SHAPE_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
    /// `log-normal`: standard deviation of the natural logarithm.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SIGMA_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// `empirical`: pairs of a size and the probability to be at most that large, in order, the
    /// last probability 1; straight lines between them.
    #[schemars(extend("x-maximum" = SIZE_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(Bytes, Probability)>>,
    /// `empirical`: a CSV file of such pairs, the sizes in bytes. It is read before the engine sees
    /// the scenario, and takes the place of `cdf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// `mixture`: the distributions that sizes come from, at most 100, each with its weight, such
    /// as `[{ weight = 9, mean = "10 KB" }, { weight = 1, mean = "1 MB" }]`.
    #[schemars(length(max = PARTS_MAX))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SizePart>,
}

/// A part of a mixture: the distribution of a share of all sizes. It has exactly the fields of its
/// distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizePart {
    /// Weight of the part. Its share of all sizes is its weight over the sum of the weights of all
    /// parts.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub weight: f64,
    /// The distribution; all but `mixture`.
    #[serde(default)]
    pub distribution: Distribution,
    /// `mean` of `size`.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
    /// `min` of `size`.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// `max` of `size`.
    #[schemars(extend("x-minimum" = "1 B", "x-maximum" = SIZE_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
    /// `shape` of `size`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SHAPE_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
    /// `sigma` of `size`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SIGMA_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// `cdf` of `size`.
    #[schemars(extend("x-maximum" = SIZE_MAX))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(Bytes, Probability)>>,
    /// `file` of `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl SizePart {
    /// The distribution of this part, as a size without parts.
    fn alone(&self) -> Size {
        let Self { distribution, mean, min, max, shape, sigma, .. } = *self;
        let (cdf, file) = (self.cdf.clone(), self.file.clone());
        Size { distribution, mean, min, max, shape, sigma, cdf, file, parts: Vec::new() }
    }
}

/// A distribution of sizes. Draws are whole bytes, from 1 B to 1,000,000 GB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All of size `mean`.
    #[default]
    Fixed,
    /// Exponential, of mean `mean`.
    Exponential,
    /// Pareto from `min` on, with `shape` or `mean`; of infinite variance for shapes up to 2.
    Pareto,
    /// Pareto cut at `min` and at `max`, with `shape` or `mean`.
    BoundedPareto,
    /// Log-normal, with `mean` and `sigma`.
    LogNormal,
    /// Through the points of `cdf` or `file`.
    Empirical,
    /// Flows of a web search cluster: 0 to 30 MB, mean 1.71 MB (Alizadeh et al., DCTCP, SIGCOMM
    /// 2010; values of the authors' traffic generator).
    WebSearch,
    /// Flows of a data mining cluster: 0 to 1 GB, mean 12.7 MB, half of them up to 1.1 KB
    /// (Greenberg et al., VL2, SIGCOMM 2009; values of the pFabric authors' traffic generator).
    DataMining,
    /// Each size from one of `parts`, chosen by their weights: mice and elephants, for example.
    Mixture,
}

/// How `parts` might be written.
const PARTS: &str = "[{ weight = 9, mean = \"10 KB\" }, { weight = 1, mean = \"1 MB\" }]";

impl Distribution {
    const FIELDS: Fields = &[
        ("mean", "\"700 KB\""),
        ("min", "\"40 KB\""),
        ("max", "\"10 MB\""),
        ("shape", "1.2"),
        ("sigma", "1.5"),
        ("cdf", "[[\"10 KB\", 0.5], [\"1 MB\", 1.0]]"),
        ("file", "\"sizes.csv\""),
        ("parts", PARTS),
    ];
}

impl Size {
    /// The sampler of the distribution; `path` is its path in the scenario, such as
    /// `demand[0].size`.
    ///
    /// # Errors
    /// The first mistake, with the path of its field, its value and the fix.
    pub fn sampler(&self, path: &str) -> Result<Sampler, ScenarioError> {
        ranges::check(Some("Size"), path, self)?;
        let mut given = Choice::of(path, self, "distribution", Distribution::FIELDS);
        let law = match self.distribution {
            Distribution::Fixed => Law::Fixed(number(given.needs("mean", self.mean)?)),
            Distribution::Exponential => {
                Law::Exponential { mean: number(given.needs("mean", self.mean)?) }
            }
            Distribution::Pareto => self.pareto(path, &mut given)?,
            Distribution::BoundedPareto => self.bounded_pareto(path, &mut given)?,
            Distribution::LogNormal => Law::LogNormal {
                mean: number(given.needs("mean", self.mean)?),
                sigma: given.needs("sigma", self.sigma)?,
            },
            Distribution::Empirical => {
                match given.either(("cdf", self.cdf.as_deref()), ("file", self.file.as_deref()))? {
                    Either::First(points) => Law::Table(table(path, points)?),
                    Either::Second(file) => return Err(unread(path, file)),
                }
            }
            Distribution::WebSearch => Law::Table(Table::web_search()),
            Distribution::DataMining => Law::Table(Table::data_mining()),
            Distribution::Mixture => {
                mixture(path, given.needs("parts", choice::listed(&self.parts))?)?
            }
        };
        given.done()?;
        Ok(Sampler::new(law))
    }

    fn pareto(&self, path: &str, given: &mut Choice<'_>) -> Result<Law, ScenarioError> {
        let min = given.needs("min", self.min)?;
        let shape = match given.either(("mean", self.mean), ("shape", self.shape))? {
            Either::First(mean) if mean > min => number(mean) / (number(mean) - number(min)),
            Either::First(mean) => {
                let fix = format!("write a mean above {min}, or a smaller min");
                let problem = format!("no size is below min = {min}");
                return Err(error(path, "mean", mean, problem, fix));
            }
            Either::Second(shape) if shape > 1.0 => shape,
            Either::Second(shape) => {
                let problem = "a Pareto size has a mean only for shapes above 1";
                let fix = format!("write a number above 1, up to {SHAPE_MAX}");
                return Err(error(path, "shape", shape, problem, fix));
            }
        };
        Ok(Law::Pareto { min: number(min), shape })
    }

    fn bounded_pareto(&self, path: &str, given: &mut Choice<'_>) -> Result<Law, ScenarioError> {
        let (min, max) = (given.needs("min", self.min)?, given.needs("max", self.max)?);
        let shape = given.either(("mean", self.mean), ("shape", self.shape))?;
        if min >= max {
            let fix = format!("write a size above {min}");
            return Err(error(path, "max", max, format!("it is not above min = {min}"), fix));
        }
        let (least, most) = (number(min), number(max));
        let mean = match shape {
            Either::Second(shape) => {
                return Ok(Law::BoundedPareto { min: least, max: most, shape });
            }
            Either::First(mean) => mean,
        };
        let at = |shape| bounded_mean(least, most, shape);
        let (low, high, value) = (at(SHAPE_MAX), at(0.0), number(mean));
        if low <= value && value < high {
            let shape = bounded_shape(least, most, value);
            return Ok(Law::BoundedPareto { min: least, max: most, shape });
        }
        let (low, high) = (Bytes::new(low.ceil() as u64), Bytes::new(high.ceil() as u64 - 1));
        let problem = format!(
            "from min = {min} to max = {max}, shapes above 0 up to {SHAPE_MAX} have means from \
             {low} to {high}"
        );
        let fix = if value < high.get() as f64 { "a smaller min" } else { "a larger max" };
        Err(error(path, "mean", mean, problem, format!("write a mean in that range, or {fix}")))
    }
}

/// The law that draws from one of `parts`, by their weights.
fn mixture(path: &str, parts: &[SizePart]) -> Result<Law, ScenarioError> {
    let sum: f64 = parts.iter().map(|part| part.weight).sum();
    let mut found = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let at = format!("{path}.parts[{index}]");
        if part.distribution == Distribution::Mixture {
            let fix = "list its parts here, with their weights";
            return Err(error(&at, "distribution", "\"mixture\"", "a part is no mixture", fix));
        }
        found.push((part.weight / sum, part.alone().sampler(&at)?));
    }
    Ok(Law::Mixture(found))
}

/// The distribution through `points`.
fn table(path: &str, points: &[(Bytes, Probability)]) -> Result<Table, ScenarioError> {
    Table::new(points).map_err(|(index, problem)| {
        let Some((size, chance)) = points.get(index) else {
            let fix = format!("write {}", choice::written(Distribution::FIELDS, "cdf"));
            return error(path, "cdf", "[]", "no points", fix);
        };
        let value = format!("[\"{size}\", {}]", chance.get());
        let fix = "list the points in rising order, from at least 1 byte, up to probability 1";
        error(path, &format!("cdf[{index}]"), value, problem, fix)
    })
}

fn unread(path: &str, file: &str) -> ScenarioError {
    let fix = "load the scenario from its file or from Python, or write the points as cdf";
    error(path, "file", file, "the engine reads no files", fix)
}

fn number(size: Bytes) -> f64 {
    size.get() as f64
}

fn error(
    path: &str,
    field: &str,
    value: impl Display,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> ScenarioError {
    ScenarioError::new(format!("{path}.{field}"), value.to_string(), problem, fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Size {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// The mistake in the table, in one line.
    fn wrong(text: &str) -> String {
        read(text).sampler("flows[0].size").expect_err(text).to_string()
    }

    #[test]
    fn each_distribution_draws() {
        let cases = [
            (r#"{"mean":"700 KB"}"#, 700e3),
            (r#"{"distribution":"exponential","mean":"700 KB"}"#, 700e3),
            (r#"{"distribution":"pareto","min":"40 KB","shape":1.5}"#, 120e3),
            (r#"{"distribution":"pareto","min":"40 KB","mean":"700 KB"}"#, 700e3),
            (r#"{"distribution":"bounded-pareto","min":"1 KB","max":"2 KB","shape":1}"#, 1386.29),
            (
                r#"{"distribution":"bounded-pareto","min":"40 KB","max":"10 MB","mean":"700 KB"}"#,
                700e3,
            ),
            (r#"{"distribution":"log-normal","mean":"700 KB","sigma":2}"#, 700e3),
            (r#"{"distribution":"empirical","cdf":[["10 KB",0.5],["20 KB",1]]}"#, 12_500.0),
            (r#"{"distribution":"web-search"}"#, 1_711_250.0),
            (
                r#"{"distribution":"mixture","parts":[{"weight":9,"mean":"10 KB"},
                    {"weight":1,"distribution":"pareto","min":"500 KB","shape":2}]}"#,
                109e3,
            ),
            (r#"{"distribution":"data-mining"}"#, 12_658_000.0),
        ];
        for (text, mean) in cases {
            let size = read(text);
            let sampler = size.sampler("size").expect(text);
            assert!((sampler.mean() / mean - 1.0).abs() < 1e-3, "{text}: {}", sampler.mean());
            assert!(sampler.draw(0.1) <= sampler.draw(0.9), "{text}");
            let again: Size = serde_json::from_value(serde_json::to_value(&size).unwrap()).unwrap();
            assert_eq!(again, size);
        }
    }

    /// 40 KB to 10 MB with mean 700 KB: 80 % of all flows are at most 741 KB.
    #[test]
    fn a_shape_that_follows_from_the_mean() {
        let size =
            r#"{"distribution":"bounded-pareto","min":"40 KB","max":"10 MB","mean":"700 KB"}"#;
        let sampler = read(size).sampler("size").expect(size);
        let p80 = sampler.draw(0.8).get();
        assert!((740_500..741_500).contains(&p80), "{p80}");
        // The unbounded one of that mean has shape 700/660, and 182 KB.
        let size = r#"{"distribution":"pareto","min":"40 KB","mean":"700 KB"}"#;
        let p80 = read(size).sampler("size").expect(size).draw(0.8).get();
        assert!((181_500..183_500).contains(&p80), "{p80}");
    }

    #[test]
    fn each_distribution_has_exactly_its_fields() {
        let cases = [
            ("{}", "flows[0].size.mean: distribution = \"fixed\" needs it; add mean = \"700 KB\""),
            (
                r#"{"mean":"1 KB","min":"1 KB"}"#,
                "flows[0].size.min = 1 KB: distribution = \"fixed\" does not use it; \
                 remove it, or change distribution",
            ),
            (
                r#"{"distribution":"pareto","min":"1 KB"}"#,
                "flows[0].size.mean: distribution = \"pareto\" needs it, or shape; \
                 add mean = \"700 KB\" or shape = 1.2",
            ),
            (
                r#"{"distribution":"pareto","min":"1 KB","mean":"2 KB","shape":2}"#,
                "flows[0].size.mean = \"2 KB\": shape is given too; keep one of the two",
            ),
            (
                r#"{"distribution":"empirical"}"#,
                "flows[0].size.cdf: distribution = \"empirical\" needs it, or file; \
                 add cdf = [[\"10 KB\", 0.5], [\"1 MB\", 1.0]] or file = \"sizes.csv\"",
            ),
            (
                r#"{"distribution":"web-search","mean":"1 KB"}"#,
                "flows[0].size.mean = 1 KB: distribution = \"web-search\" does not use it; \
                 remove it, or change distribution",
            ),
            (
                r#"{"mean":"1 KB","parts":[{"weight":1,"mean":"1 KB"}]}"#,
                "flows[0].size.parts = 1 entries: distribution = \"fixed\" does not use it; \
                 remove it, or change distribution",
            ),
            (
                r#"{"distribution":"mixture","parts":[]}"#,
                "flows[0].size.parts: distribution = \"mixture\" needs it; add parts = \
                 [{ weight = 9, mean = \"10 KB\" }, { weight = 1, mean = \"1 MB\" }]",
            ),
            (
                r#"{"distribution":"mixture","parts":[{"weight":0,"mean":"1 KB"}]}"#,
                "flows[0].size.parts[0].weight = 0: out of range; \
                 write a number above 0, up to 1000000000000",
            ),
            (
                r#"{"distribution":"mixture","parts":[{"weight":1,"distribution":"mixture"}]}"#,
                "flows[0].size.parts[0].distribution = \"mixture\": a part is no mixture; \
                 list its parts here, with their weights",
            ),
            (
                r#"{"distribution":"mixture","parts":[{"weight":1,"mean":"1 KB"},{"weight":1,
                    "distribution":"pareto","min":"1 KB"}]}"#,
                "flows[0].size.parts[1].mean: distribution = \"pareto\" needs it, or shape; \
                 add mean = \"700 KB\" or shape = 1.2",
            ),
        ];
        for (text, says) in cases {
            assert_eq!(wrong(text), says);
        }
    }

    #[test]
    fn an_impossible_mean_names_the_possible_ones() {
        let says = wrong(
            r#"{"distribution":"bounded-pareto","min":"40 KB","max":"2 MB","mean":"700 KB"}"#,
        );
        assert_eq!(
            says,
            "flows[0].size.mean = 700 KB: from min = 40 KB to max = 2 MB, shapes above 0 up to 100 \
             have means from 40405 B to 501019 B; write a mean in that range, or a larger max"
        );
        for (mean, fine) in [(40_404, false), (40_405, true), (501_019, true), (501_020, false)] {
            let size = Size {
                distribution: Distribution::BoundedPareto,
                mean: Some(Bytes::new(mean)),
                min: Some(Bytes::new(40_000)),
                max: Some(Bytes::new(2_000_000)),
                ..Size::default()
            };
            let sampler = size.sampler("size");
            assert_eq!(sampler.is_ok(), fine, "{mean}");
            if let Ok(sampler) = sampler {
                let found = sampler.mean();
                assert!((found - mean as f64).abs() < 1e-3, "{mean}: {found}");
            }
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        let cases = [
            (r#"{"mean":"0 B"}"#, "out of range; write \"1 B\" to"),
            (r#"{"mean":"1000001 GB"}"#, "mean = 1000001 GB: out of range"),
            (r#"{"distribution":"pareto","min":"40 KB","shape":1}"#, "only for shapes above 1"),
            (r#"{"distribution":"pareto","min":"40 KB","mean":"40 KB"}"#, "no size is below min"),
            (
                r#"{"distribution":"bounded-pareto","min":"2 KB","max":"2 KB","shape":1}"#,
                "max = 2 KB: it is not above min = 2 KB",
            ),
            (
                r#"{"distribution":"bounded-pareto","min":"1 KB","max":"2 KB","shape":0}"#,
                "shape = 0: out of range; write a number above 0, up to 100",
            ),
            (
                r#"{"distribution":"bounded-pareto","min":"1 KB","max":"2 KB","mean":"1 KB"}"#,
                "have means from 1011 B to 1442 B; write a mean in that range, or a smaller min",
            ),
            (r#"{"distribution":"log-normal","mean":"1 KB","sigma":6}"#, "above 0, up to 5"),
            (
                r#"{"distribution":"empirical","file":"x.csv"}"#,
                "file = x.csv: the engine reads no files; load the scenario",
            ),
            (r#"{"distribution":"empirical","cdf":[]}"#, "cdf = []: no points; write cdf = ["),
            (
                r#"{"distribution":"empirical","cdf":[["1 KB",0.5],["2 KB",0.9]]}"#,
                "cdf[1] = [\"2 KB\", 0.9]: the last probability has to be 1; list the points",
            ),
            (
                r#"{"distribution":"empirical","cdf":[["3 KB",0.5],["2 KB",1]]}"#,
                "cdf[1] = [\"2 KB\", 1]: the size is below the size of the point before",
            ),
        ];
        for (text, says) in cases {
            assert!(wrong(text).contains(says), "{}", wrong(text));
        }
    }
}
