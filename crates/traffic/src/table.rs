//! A distribution given by points of its cumulative distribution function.

use burstlab_units::{Bytes, Probability};
use serde::{Deserialize, Serialize};

/// A size and the chance to be at most that large.
type Point = (Bytes, Probability);

/// Points of a cumulative distribution function, with straight lines between them. All probability
/// below the first point is at that point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table(Vec<(f64, f64)>);

impl Table {
    /// A table of these points.
    ///
    /// # Errors
    /// The index of the first point that is out of order, and why it is.
    pub fn new(points: &[Point]) -> Result<Self, (usize, &'static str)> {
        for (index, pair) in points.windows(2).enumerate() {
            let [(size, chance), (next_size, next_chance)] = [pair[0], pair[1]];
            if next_size < size {
                return Err((index + 1, "the size is below the size of the point before"));
            }
            if next_chance < chance {
                return Err((index + 1, "the probability is below that of the point before"));
            }
            if (next_size, next_chance) == (size, chance) {
                return Err((index + 1, "the point is there twice"));
            }
        }
        match (points.first(), points.last()) {
            (Some((Bytes::ZERO, chance)), _) if chance.get() > 0.0 => {
                Err((0, "a flow carries at least a byte"))
            }
            (_, Some((_, chance))) if chance.get() == 1.0 => {
                let pair = |&(size, chance): &Point| (size.get() as f64, chance.get());
                Ok(Self(points.iter().map(pair).collect()))
            }
            _ => Err((points.len().saturating_sub(1), "the last probability has to be 1")),
        }
    }

    /// Flows of a web search cluster (Alizadeh et al., DCTCP, SIGCOMM 2010).
    #[must_use]
    pub fn web_search() -> Self {
        Self::published(include_str!("../data/web_search.csv"))
    }

    /// Flows of a data mining cluster (Greenberg et al., VL2, SIGCOMM 2009).
    #[must_use]
    pub fn data_mining() -> Self {
        Self::published(include_str!("../data/data_mining.csv"))
    }

    /// A table that ships with the engine.
    fn published(csv: &str) -> Self {
        let lines = csv.lines().filter(|line| !line.starts_with('#')).skip(1);
        let points: Vec<Point> = lines
            .map(|line| {
                let (size, chance) = line.split_once(',').expect("a published table has 2 columns");
                let size = size.parse().expect("a published size is a whole number");
                let chance = chance.parse().ok().and_then(Probability::new);
                (Bytes::new(size), chance.expect("a published probability"))
            })
            .collect();
        Self::new(&points).expect("a published table is in order")
    }

    pub(super) fn quantile(&self, uniform: f64) -> f64 {
        let points = &self.0;
        let above = points.partition_point(|&(_, chance)| chance <= uniform);
        let (size, chance) = points[above];
        let Some(&(low, below)) = above.checked_sub(1).and_then(|index| points.get(index)) else {
            return size;
        };
        low + (size - low) * ((uniform - below) / (chance - below))
    }

    /// The share below `size`, with what is at that size only where the line rises to it.
    pub(super) fn share_below(&self, size: f64) -> f64 {
        let points = &self.0;
        let next = points.partition_point(|&(point, _)| point < size);
        let Some(&(low, below)) = next.checked_sub(1).and_then(|index| points.get(index)) else {
            return 0.0;
        };
        points
            .get(next)
            .map_or(1.0, |&(high, chance)| below + (chance - below) * ((size - low) / (high - low)))
    }

    pub(super) fn mean(&self) -> f64 {
        let (size, chance) = self.0[0];
        let lines = self.0.windows(2);
        let between = lines.map(|pair| (pair[1].1 - pair[0].1) * 0.5 * (pair[0].0 + pair[1].0));
        size * chance + between.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: &[(u64, f64)]) -> Vec<Point> {
        let point = |&(size, chance)| (Bytes::new(size), Probability::new(chance).unwrap());
        of.iter().map(point).collect()
    }

    #[test]
    fn lines_jumps_and_gaps() {
        // 20 % at 100 B, then a line, a gap from 300 to 500 B, a jump of 10 % at 500 B, a line.
        let given = [(100, 0.2), (300, 0.6), (500, 0.6), (500, 0.7), (1000, 1.0)];
        let table = Table::new(&points(&given)).unwrap();
        let cases = [
            (0.0, 100.0),
            (0.199, 100.0),
            (0.2, 100.0),
            (0.4, 200.0),
            (0.65, 500.0),
            (0.7, 500.0),
            (0.85, 750.0),
        ];
        for (uniform, size) in cases {
            let drawn = table.quantile(uniform);
            assert!((drawn - size).abs() < 1e-9, "{uniform}: {drawn}");
        }
        let mean = 0.2 * 100.0 + 0.4 * 200.0 + 0.1 * 500.0 + 0.3 * 750.0;
        assert!((table.mean() - mean).abs() < 1e-9);
    }

    #[test]
    fn one_point_is_one_size() {
        let table = Table::new(&points(&[(700, 1.0)])).unwrap();
        assert_eq!(
            (table.quantile(0.0), table.quantile(0.999), table.mean()),
            (700.0, 700.0, 700.0)
        );
    }

    #[test]
    fn points_out_of_order_are_named() {
        let cases: [(&[(u64, f64)], usize); 6] = [
            (&[(10, 0.5), (5, 1.0)], 1),
            (&[(10, 0.5), (20, 0.4), (30, 1.0)], 1),
            (&[(10, 0.5), (20, 0.7), (20, 0.7), (30, 1.0)], 2),
            (&[(10, 0.5), (20, 0.9)], 1),
            (&[(0, 0.5), (20, 1.0)], 0),
            (&[], 0),
        ];
        for (given, index) in cases {
            assert_eq!(Table::new(&points(given)).map_err(|(at, _)| at), Err(index), "{given:?}");
        }
    }

    /// The mean sizes that studies with these tables give: 1,711,250 B for web search; for data
    /// mining, by hand over the lines, 12.66 MB.
    #[test]
    fn the_published_tables() {
        let web = Table::web_search();
        assert!((web.mean() - 1_711_250.0).abs() < 1e-6, "{}", web.mean());
        assert_eq!(web.quantile(0.53), 80_000.0);
        assert!((web.quantile(0.985) - 20e6).abs() < 1e-3);
        let mining = Table::data_mining();
        assert!((mining.mean() / 12.66e6 - 1.0).abs() < 1e-3, "{}", mining.mean());
        assert_eq!(mining.quantile(0.5), 1100.0);
    }
}
