//! Contention that the scenario injects. Who meets it depends on the ingress of the burst, its
//! number among those of its kind there, the attempt and the hop alone.

use burstlab_kernel::{RandomSource, Stream};
use serde::{Deserialize, Serialize};

use crate::scenario::{IngressPort, InjectedPer, Scenario};
use crate::world::core::burst::Burst;
use crate::world::core::payload::BurstKind;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Injection {
    /// Of bursts with data, and of ACKs.
    kinds: [(f64, Stream); 2],
    per: InjectedPer,
    /// The first hop at which a burst asks for a fibre.
    first: usize,
}

/// Bits of an ordinal for the hop, and for the attempt.
const BITS: u32 = 12;

impl Injection {
    /// `None` where nothing is injected.
    pub(super) fn new(scenario: &Scenario, random: &RandomSource) -> Option<Self> {
        let rule = &scenario.core.injection;
        let (data, ack) = (rule.data.get(), rule.ack.get());
        (data > 0.0 || ack > 0.0).then(|| Self {
            kinds: [(data, random.stream("injection/data")), (ack, random.stream("injection/ack"))],
            per: rule.per,
            first: usize::from(scenario.edge.port == IngressPort::Fifo),
        })
    }

    /// Whether a burst meets it at the node that its header has come to.
    pub(super) fn meets(&self, burst: &Burst) -> bool {
        let (chance, stream) = match burst.kind {
            BurstKind::Data => &self.kinds[0],
            BurstKind::Ack => &self.kinds[1],
            BurstKind::Background => return false,
        };
        let hop = match self.per {
            InjectedPer::Burst => 0,
            InjectedPer::Node => burst.hop as u64,
        };
        let most = (1 << BITS) - 1;
        let attempt = u64::from(burst.attempts).min(most);
        let ordinal = burst.ordinal << (2 * BITS) | attempt << BITS | hop.min(most);
        let [hit, place] = stream.of(u64::from(burst.from)).uniforms(ordinal);
        let here = match self.per {
            InjectedPer::Burst => {
                let places = burst.planned - self.first;
                burst.hop == self.first + (place * places as f64) as usize
            }
            InjectedPer::Node => true,
        };
        here && hit < *chance
    }
}
