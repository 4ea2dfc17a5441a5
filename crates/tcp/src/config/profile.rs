//! The defaults of the profiles.

use burstlab_units::{Bytes, Span};

use super::{
    BackMode, BackoffEnd, BleOrder, BnakDelay, BnakPartial, Config, Detector, EgressUnknown,
    FastRecoveryExit, NewRenoTimer, Overrides, Profile, RenoFastRetransmits, RtoEstimator,
    SackRecovery, SlowStart, SsthreshBasis, Variant, VegasRules, WindowHalving, WindowLaw, headers,
};
use crate::linux::SEND_OVERHEAD;

/// The parameters of the profile that `given` names. Some defaults follow from other parameters
/// (`initial_ssthresh` from `window`, ...); those are taken from `given` where it has them.
pub(super) fn defaults(given: &Overrides) -> Config {
    match given.profile.unwrap_or(Profile::Rfc) {
        Profile::Rfc => rfc(given),
        Profile::Ns2 => ns2(given),
        Profile::Ns2Of2003 => ns2_of_2003(given),
        Profile::Linux => linux(given),
    }
}

/// Fills in the parameters that only the Linux sender has, where the user gave none.
pub(super) fn complete(config: &mut Config) {
    if config.variant == Variant::Linux {
        for part in [
            &mut config.sack,
            &mut config.d_sack,
            &mut config.rack,
            &mut config.tail_loss_probe,
            &mut config.f_rto,
        ] {
            part.get_or_insert(true);
        }
        config.slow_start.get_or_insert(match config.window_law {
            WindowLaw::Cubic => SlowStart::Hystart,
            _ => SlowStart::Standard,
        });
        config.timestamps.get_or_insert(true);
        config.window_scaling.get_or_insert(true);
        config.ecn.get_or_insert(config.window_law == WindowLaw::Dctcp);
        let first = *config.receive_buffer.get_or_insert(RECEIVE_BUFFER);
        config.receive_buffer_max.get_or_insert(first.max(RECEIVE_BUFFER_MAX));
        config.send_overhead.get_or_insert(Bytes::new(SEND_OVERHEAD));
        config.grouping.get_or_insert(false);
        config.bbr_phase.get_or_insert(0);
    }
}

fn usual_law(variant: Option<Variant>) -> WindowLaw {
    match variant {
        Some(Variant::Vegas) => WindowLaw::Vegas,
        _ => WindowLaw::Aimd,
    }
}

/// `tcp_rmem` of Linux 6.12.
const RECEIVE_BUFFER: Bytes = Bytes::new(131_072);
const RECEIVE_BUFFER_MAX: Bytes = Bytes::new(6_291_456);

/// Linux 6.12 on links of 1500 bytes: headers with time stamps, IW10 (RFC 6928), a least time-out
/// of 200 ms, the longest of 120 s, ticks of a millisecond.
fn linux(given: &Overrides) -> Config {
    let base = ns2(given);
    let window = given.window.unwrap_or(8192);
    let headers = Bytes::new(if given.timestamps == Some(false) { 40 } else { 52 });
    Config {
        variant: Variant::Linux,
        profile: Profile::Linux,
        segment_size: Bytes::new(1500),
        syn_size: headers,
        ack_size: headers,
        window,
        initial_window: 10,
        initial_ssthresh: window,
        window_law: match given.variant {
            None | Some(Variant::Linux) => WindowLaw::Cubic,
            Some(_) => base.window_law,
        },
        vegas_rules: VegasRules::Paper,
        vegas_alpha: 2,
        vegas_beta: 4,
        cwnd_limited: true,
        idle_restart_window: 10,
        rto_estimator: RtoEstimator::Rfc6298,
        rto_tick: Span::from_ms(1),
        rto_max: Span::from_secs(120),
        rto_initial: Span::from_secs(1),
        delayed_ack: true,
        delayed_ack_timeout: Span::from_ms(40),
        ..base
    }
}

/// ns-2.35: `ns-default.tcl`, read from the running binary.
#[rustfmt::skip]
fn ns2(given: &Overrides) -> Config {
    let window = given.window.unwrap_or(20);
    Config {
        variant: Variant::Sack,
        profile: Profile::Ns2,
        segment_size: Bytes::new(1000),
        syn_size: Bytes::new(40),
        ack_size: Bytes::new(40),
        sack_block_size: Bytes::new(8),
        sack_blocks: 3,
        window,
        initial_window: 2,
        syn_loss_initial_window: 1,
        initial_ssthresh: window,
        window_law: usual_law(given.variant),
        vegas_rules: VegasRules::Ns2,
        vegas_alpha: 1,
        vegas_beta: 3,
        vegas_gamma: 1,
        fast_alpha: 20,
        fast_gamma: 0.5,
        dupack_threshold: 3,
        limited_transmit: true,
        max_burst: 0,
        send_jitter: Span::ZERO,
        window_halving: WindowHalving::Real,
        ssthresh_basis: SsthreshBasis::Window,
        cwnd_limited: false,
        first_window_fast_retransmit: true,
        fast_recovery_exit: FastRecoveryExit::Keep,
        reno_fast_retransmits: RenoFastRetransmits::OncePerWindow,
        inflate_always: false,
        new_reno_timer: NewRenoTimer::Impatient,
        new_reno_deflation: true,
        new_reno_burst: 2,
        sack_recovery: SackRecovery::Ns2,
        idle_restart_window: 1,
        rto_estimator: RtoEstimator::Ticks,
        rto_tick: Span::from_ms(10),
        rto_clock_phase: Span::ZERO,
        rto_min: Span::from_ms(200),
        rto_max: Span::from_secs(60),
        rto_initial: Span::from_secs(3),
        rto_backoff_max: 64,
        rto_backoff_past_max: true,
        rto_backoff_end: BackoffEnd::Measurement,
        rto_fixed: Span::ZERO,
        delayed_ack: false,
        delayed_ack_timeout: Span::from_ms(100),
        delayed_ack_every: 2,
        detector: Detector::None,
        detector_window_min: 3,
        ble_order: BleOrder::UpdateFirst,
        ble_burst_min: 3,
        back_mode: BackMode::Both,
        back_egress_unknown: EgressUnknown::FalseTimeout,
        bnak_delay: BnakDelay::Path,
        bnak_partial: BnakPartial::TrueTimeout,
        aimd_alpha: None, aimd_beta: None, class_notices: None,
        vegas_threshold: None, vegas_recent: None, vegas_margin: None, saimd_short: None,
        saimd_long: None, saimd_sure: None, bcl_alpha: None, bcl_beta: None, em_recent: None,
        em_sure: None, ncr: None,
        sack: None, d_sack: None, rack: None, rack_adapts: None, rack_counts: None,
        tail_loss_probe: None, f_rto: None,
        slow_start: None, grouping: None, bbr_phase: None, timestamps: None, ecn: None,
        receive_buffer: None, receive_buffer_max: None, window_clamp: None, window_scaling: None,
        send_buffer: None, send_overhead: None, wheel_phase: None,
        window_law_class: None, detector_class: None,
    }
}

/// ns-2.26, as far as its defaults differ from those of 2.35.
fn ns2_of_2003(given: &Overrides) -> Config {
    let later = ns2(given);
    Config {
        profile: Profile::Ns2Of2003,
        syn_loss_initial_window: given.initial_window.unwrap_or(later.initial_window),
        window_halving: WindowHalving::Integer,
        first_window_fast_retransmit: false,
        reno_fast_retransmits: RenoFastRetransmits::Several,
        inflate_always: true,
        new_reno_timer: NewRenoTimer::SlowButSteady,
        new_reno_deflation: false,
        rto_min: Span::from_secs(1),
        rto_max: Span::from_secs(100_000),
        rto_initial: Span::from_secs(6),
        ..later
    }
}

/// The RFCs; questions that they leave open are answered as in ns-2.35.
fn rfc(given: &Overrides) -> Config {
    let open = ns2(given);
    let window = given.window.unwrap_or(64);
    let segment = given.segment_size.unwrap_or(open.segment_size);
    let headers = headers(segment, given.syn_size.unwrap_or(open.syn_size));
    let payload = segment.get().saturating_sub(headers.get());
    let initial_window = given.initial_window.unwrap_or(match payload {
        0..=1095 => 4,
        1096..=2190 => 3,
        _ => 2,
    });
    Config {
        profile: Profile::Rfc,
        window,
        initial_window,
        initial_ssthresh: window,
        ssthresh_basis: SsthreshBasis::Flight,
        vegas_rules: VegasRules::Paper,
        vegas_alpha: 2,
        vegas_beta: 5,
        cwnd_limited: true,
        fast_recovery_exit: FastRecoveryExit::Flight,
        reno_fast_retransmits: RenoFastRetransmits::Several,
        new_reno_burst: 0,
        sack_recovery: SackRecovery::Rfc6675,
        idle_restart_window: initial_window,
        rto_estimator: RtoEstimator::Rfc6298,
        rto_tick: Span::from_ms(1),
        rto_min: Span::from_secs(1),
        rto_initial: Span::from_secs(1),
        delayed_ack: true,
        ..open
    }
}
