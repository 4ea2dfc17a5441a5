//! Draws for random streams of packets.

use burstlab_tcp::{
    FastRecoveryExit, NewRenoTimer, Overrides, RenoFastRetransmits, RtoEstimator, SackRecovery,
    SsthreshBasis, VegasRules, WindowHalving, WindowLaw,
};

/// Marsaglia's xorshift: the test needs no more, and repeats from its seed.
pub(crate) struct Xorshift(pub(crate) u64);

impl Xorshift {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

/// Sets what is an axis of its own without regard to the profile.
pub(crate) fn mix(overrides: &mut Overrides, seed: u64) {
    let mut random = Xorshift(seed * 7919);
    for _ in 0..10 {
        random.next();
    }
    let mut coin = || Some(random.below(2) == 0);
    overrides.limited_transmit = coin();
    overrides.cwnd_limited = coin();
    overrides.inflate_always = coin();
    overrides.new_reno_deflation = coin();
    overrides.first_window_fast_retransmit = coin();
    overrides.rto_backoff_past_max = coin();
    overrides.max_burst = Some(random.below(4) as u32);
    overrides.new_reno_burst = Some(random.below(3) as u32);
    overrides.dupack_threshold = Some(1 + random.below(4) as u32);
    overrides.idle_restart_window = Some(random.below(3) as u32);
    let mut pick = |choices: usize| random.below(choices as u64) as usize;
    overrides.window_halving = Some(WindowHalving::ALL[pick(2)]);
    overrides.ssthresh_basis = Some(SsthreshBasis::ALL[pick(2)]);
    overrides.fast_recovery_exit = Some(FastRecoveryExit::ALL[pick(3)]);
    overrides.reno_fast_retransmits = Some(RenoFastRetransmits::ALL[pick(3)]);
    overrides.new_reno_timer = Some(NewRenoTimer::ALL[pick(2)]);
    overrides.sack_recovery = Some(SackRecovery::ALL[pick(2)]);
    overrides.rto_estimator = Some(RtoEstimator::ALL[pick(2)]);
    overrides.window_law = Some(WindowLaw::ALL[pick(3)]);
    overrides.vegas_rules = Some(VegasRules::ALL[pick(2)]);
}
