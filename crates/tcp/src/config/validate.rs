//! Which parameters make sense.

use std::fmt;

use burstlab_units::{Bytes, Span};

use super::{Config, Detector, PythonClass, SlowStart, Variant, WindowLaw};
use crate::segment::MAX_SACK_BLOCKS;

/// Why parameters make no endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The parameter.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The fault.
    pub problem: String,
    /// The text to write instead.
    pub fix: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, value, problem, fix } = self;
        write!(f, "{field} = {value}: {problem}; {fix}")
    }
}

impl std::error::Error for ConfigError {}

const WINDOW_MAX: u32 = 1_000_000;
/// Most round trips that a sender keeps.
const TRIPS_MAX: u32 = 100_000;
const SEGMENT_MAX: Bytes = Bytes::new(65_535);
/// Of a receiver and of a sender.
const BUFFER_MIN: Bytes = Bytes::new(4_000);
const BUFFER_MAX: Bytes = Bytes::new(1_000_000_000);
/// Largest overhead of a group besides its data.
const OVERHEAD_MAX: Bytes = Bytes::new(64_000);
/// Far below where picoseconds in 64 bits end.
const SPAN_MAX: Span = Span::from_secs(1_000_000);
/// More segments a round trip than any path has use for.
const ALPHA_MAX: f64 = 1e3;
/// As long as the shortest time-out of the RFCs.
const JITTER_MAX: Span = Span::from_secs(1);

fn require(
    holds: bool,
    field: &'static str,
    value: impl fmt::Display,
    problem: impl Into<String>,
    fix: impl Into<String>,
) -> Result<(), ConfigError> {
    if holds {
        return Ok(());
    }
    Err(ConfigError { field, value: value.to_string(), problem: problem.into(), fix: fix.into() })
}

/// A choice in lower case.
fn word(choice: impl fmt::Debug) -> String {
    format!("{choice:?}").to_lowercase()
}

fn within(field: &'static str, value: u32, low: u32, high: u32) -> Result<(), ConfigError> {
    let problem = if value < low { "too small" } else { "too large" };
    require(
        (low..=high).contains(&value),
        field,
        value,
        problem,
        format!("write a number from {low} to {high}"),
    )
}

fn positive(field: &'static str, value: Span) -> Result<(), ConfigError> {
    require(!value.is_zero(), field, value, "must not be zero", "write a time such as \"10 ms\"")
}

pub(super) fn validate(config: &Config) -> Result<(), ConfigError> {
    sizes(config)?;
    windows(config)?;
    increase(config)?;
    delays(config)?;
    saimd(config)?;
    bcl(config)?;
    vegas_threshold(config)?;
    detection(config)?;
    linux(config)?;
    classes(config)?;
    timers(config)
}

fn detection(config: &Config) -> Result<(), ConfigError> {
    within("detector_window_min", config.detector_window_min, 0, WINDOW_MAX)?;
    within("em_recent", config.em_recent.unwrap_or(100), 4, 10_000)?;
    let sure = config.em_sure.unwrap_or_default();
    require(
        (0.0..=1.0).contains(&sure),
        "em_sure",
        sure,
        "not from 0 to 1",
        "write a probability such as 0.5",
    )?;
    within("ble_burst_min", config.ble_burst_min, 0, WINDOW_MAX)?;
    require(
        config.detector != Detector::Law
            || config.window_law == WindowLaw::Python
            || config.window_law.is_scheme(),
        "detector",
        "law",
        "only \"saimd\", \"bcl\" and a class of Python are law and detector",
        "write window_law = \"saimd\" (or \"bcl\", or \"python\" with window_law_class), or \
         another detector",
    )?;
    require(
        config.window_law != WindowLaw::Bcl || config.detector == Detector::Law,
        "window_law",
        "bcl",
        "it gets burst NAKs as the detector of its own losses",
        "write detector = \"law\", or another law",
    )?;
    require(
        config.detector == Detector::None || config.variant != Variant::Tahoe,
        "detector",
        word(config.detector),
        "Tahoe answers every loss with slow start, a false time-out too",
        "write \"none\", or the variant \"reno\", \"new-reno\" or \"sack\"",
    )
}

/// The sender of Linux brings its own parts; the others have none of them.
fn linux(config: &Config) -> Result<(), ConfigError> {
    use WindowLaw::{Dctcp, Fast};
    let law = word(config.window_law);
    if config.variant != Variant::Linux {
        return require(
            !config.window_law.is_of_linux(),
            "window_law",
            law,
            "only the variant \"linux\" has it",
            "write variant = \"linux\", or the law \"aimd\"",
        );
    }
    require(
        config.window_law != Fast && !config.window_law.is_scheme(),
        "window_law",
        law,
        "the variant \"linux\" has no such law",
        "write \"cubic\", \"dctcp\", \"bbr\", \"bbr3\", \"aimd\", \"vegas\", \"scalable\", \
         \"highspeed\", \"htcp\", \"illinois\", \"veno\", \"westwood\" or \"python\", \
         or another variant",
    )?;
    require(
        config.send_jitter.is_zero(),
        "send_jitter",
        config.send_jitter,
        "the variant \"linux\" holds nothing back",
        "write \"0 s\", or another variant",
    )?;
    slow_start(config)?;
    require(
        config.ecn != Some(false) || config.window_law != Dctcp,
        "ecn",
        "false",
        "DCTCP goes by marks",
        "write true, or another law",
    )?;
    buffers(config)?;
    within("wheel_phase", config.wheel_phase.unwrap_or(0), 0, 511)?;
    within("bbr_phase", config.bbr_phase.unwrap_or(0), 0, 6)
}

/// Who may end slow start before a loss.
fn slow_start(config: &Config) -> Result<(), ConfigError> {
    use WindowLaw::{Aimd, Cubic, Dctcp};
    let (able, fix) = match config.slow_start {
        Some(SlowStart::Hystart) => (config.window_law == Cubic, "write the law \"cubic\""),
        Some(SlowStart::HystartPlusPlus) => (
            matches!(config.window_law, Aimd | Cubic | Dctcp),
            "write the law \"cubic\", \"aimd\" or \"dctcp\"",
        ),
        _ => (true, ""),
    };
    require(
        able,
        "slow_start",
        if config.slow_start == Some(SlowStart::Hystart) { "hystart" } else { "hystart++" },
        "the window law has a beginning of its own",
        format!("{fix}, or \"standard\""),
    )
}

/// The buffers at both ends.
fn buffers(config: &Config) -> Result<(), ConfigError> {
    for (field, size) in [
        ("receive_buffer", config.receive_buffer),
        ("receive_buffer_max", config.receive_buffer_max),
        ("send_buffer", config.send_buffer),
    ] {
        let Some(size) = size else { continue };
        require(
            (BUFFER_MIN..=BUFFER_MAX).contains(&size),
            field,
            size,
            "no size of a buffer",
            format!("write a size from {BUFFER_MIN} to {BUFFER_MAX}"),
        )?;
    }
    if let Some(overhead) = config.send_overhead {
        require(
            overhead <= OVERHEAD_MAX,
            "send_overhead",
            overhead,
            "more than a group has data",
            format!("write a size up to {OVERHEAD_MAX}"),
        )?;
    }
    if let (Some(first), Some(most)) = (config.receive_buffer, config.receive_buffer_max) {
        require(
            first <= most,
            "receive_buffer",
            first,
            format!("more than receive_buffer_max = {most}"),
            "lower it or raise receive_buffer_max",
        )?;
    }
    let clamp = config.window_clamp.unwrap_or(config.segment_size);
    require(
        clamp >= config.segment_size,
        "window_clamp",
        clamp,
        format!("below a segment, segment_size = {}", config.segment_size),
        "write a larger size, or remove it",
    )
}

fn classes(config: &Config) -> Result<(), ConfigError> {
    let python = config.window_law == WindowLaw::Python;
    let own = python || config.window_law.is_scheme();
    require(
        !own || config.variant != Variant::Vegas,
        "window_law",
        word(config.window_law),
        "the variant \"vegas\" decides on its window itself",
        "write the variant \"sack\", or another one",
    )?;
    if python {
        class("window_law_class", "window_law", config.window_law_class.as_ref())?;
    }
    if config.detector == Detector::Python {
        class("detector_class", "detector", config.detector_class.as_ref())?;
    }
    Ok(())
}

/// Whether the class that the choice in `key` needs is there, and was read.
fn class(field: &'static str, key: &str, given: Option<&PythonClass>) -> Result<(), ConfigError> {
    let Some(class) = given else {
        let problem = format!("{key} = \"python\" needs it");
        let fix = format!("add {field} = {{ file = \"my_file.py\", class = \"MyClass\" }}");
        return require(false, field, "", problem, fix);
    };
    require(
        class.source.is_some() && class.file.is_none(),
        field,
        class.file.as_deref().unwrap_or_default(),
        match class.file {
            Some(_) => "the engine reads no files",
            None => "there is no file",
        },
        match class.file {
            Some(_) => "load the scenario from its file or from Python",
            None => "add file = \"my_file.py\"",
        },
    )
}

fn sizes(config: &Config) -> Result<(), ConfigError> {
    for (field, size) in [("syn_size", config.syn_size), ("ack_size", config.ack_size)] {
        require(
            size > Bytes::ZERO && size <= SEGMENT_MAX,
            field,
            size,
            "no size of a packet",
            "write a size from \"1 B\" to \"65535 B\"",
        )?;
    }
    let least = Bytes::new(config.headers().get() + 1);
    require(
        config.segment_size >= config.syn_size
            && config.segment_size > config.headers()
            && config.segment_size <= SEGMENT_MAX,
        "segment_size",
        config.segment_size,
        "a segment is its headers and some data, at most 65535 B",
        format!("write a size from \"{}\" to \"65535 B\"", config.syn_size.max(least)),
    )?;
    require(
        config.sack_block_size <= SEGMENT_MAX,
        "sack_block_size",
        config.sack_block_size,
        "larger than any packet",
        "write a size such as \"8 B\"",
    )?;
    within("sack_blocks", u32::from(config.sack_blocks), 1, MAX_SACK_BLOCKS as u32)
}

fn increase(config: &Config) -> Result<(), ConfigError> {
    let (alpha, beta) = (config.aimd_alpha.unwrap_or(1.0), config.aimd_beta.unwrap_or(0.5));
    require(
        alpha > 0.0 && alpha <= ALPHA_MAX,
        "aimd_alpha",
        alpha,
        "not above 0 and at most 1000",
        "write a number such as 0.2",
    )?;
    require(
        beta > 0.0 && beta < 1.0,
        "aimd_beta",
        beta,
        "not above 0 and below 1",
        "write the part of the window that a loss leaves, such as 0.875",
    )
}

fn bcl(config: &Config) -> Result<(), ConfigError> {
    let (alpha, beta) = (config.bcl_alpha.unwrap_or(1.0), config.bcl_beta.unwrap_or(1.0));
    require(
        alpha > 0.0 && alpha <= ALPHA_MAX,
        "bcl_alpha",
        alpha,
        "not above 0 and at most 1000",
        "write a number such as 1",
    )?;
    require(
        beta > 0.0 && beta <= 1.0,
        "bcl_beta",
        beta,
        "not above 0 and at most 1",
        "write the part of the window that the loss of a burst leaves, such as 0.875",
    )
}

/// When Vegas takes delay for queues.
fn vegas_threshold(config: &Config) -> Result<(), ConfigError> {
    let recent = config.vegas_recent.unwrap_or(10);
    within("vegas_recent", recent, 1, TRIPS_MAX)?;
    let threshold = config.vegas_threshold.unwrap_or(1);
    within("vegas_threshold", threshold, 1, TRIPS_MAX)?;
    require(
        threshold <= recent,
        "vegas_threshold",
        threshold,
        format!("more than vegas_recent = {recent}"),
        "lower it or raise vegas_recent",
    )?;
    let margin = config.vegas_margin.unwrap_or_default();
    require(
        (0.0..=100.0).contains(&margin),
        "vegas_margin",
        margin,
        "not from 0 to 100",
        "write a part of the shortest round trip, such as 0.05",
    )
}

fn windows(config: &Config) -> Result<(), ConfigError> {
    for (field, value) in [
        ("window", config.window),
        ("initial_window", config.initial_window),
        ("syn_loss_initial_window", config.syn_loss_initial_window),
        ("initial_ssthresh", config.initial_ssthresh),
        ("dupack_threshold", config.dupack_threshold),
        ("delayed_ack_every", config.delayed_ack_every),
    ] {
        within(field, value, 1, WINDOW_MAX)?;
    }
    within("idle_restart_window", config.idle_restart_window, 0, WINDOW_MAX)
}

fn delays(config: &Config) -> Result<(), ConfigError> {
    within("vegas_beta", config.vegas_beta, 0, WINDOW_MAX)?;
    within("vegas_gamma", config.vegas_gamma, 0, WINDOW_MAX)?;
    within("fast_alpha", config.fast_alpha, 1, WINDOW_MAX)?;
    require(
        config.vegas_alpha <= config.vegas_beta,
        "vegas_alpha",
        config.vegas_alpha,
        format!("more than vegas_beta = {}", config.vegas_beta),
        "lower it or raise vegas_beta",
    )?;
    require(
        config.fast_gamma > 0.0 && config.fast_gamma <= 1.0,
        "fast_gamma",
        config.fast_gamma,
        "not above 0 and at most 1",
        "write a number such as 0.5",
    )
}

fn saimd(config: &Config) -> Result<(), ConfigError> {
    let (short, long) = (config.saimd_short.unwrap_or(8), config.saimd_long.unwrap_or(500));
    within("saimd_long", long, 1, TRIPS_MAX)?;
    within("saimd_short", short, 1, TRIPS_MAX)?;
    require(
        short <= long,
        "saimd_short",
        short,
        format!("more than saimd_long = {long}"),
        "lower it or raise saimd_long",
    )?;
    let sure = config.saimd_sure.unwrap_or_default();
    require(
        (0.0..=1.0).contains(&sure),
        "saimd_sure",
        sure,
        "not from 0 to 1",
        "write a number such as 0.7",
    )
}

fn timers(config: &Config) -> Result<(), ConfigError> {
    require(
        config.send_jitter <= JITTER_MAX,
        "send_jitter",
        config.send_jitter,
        "longer than round trips are",
        "write the time a packet takes on the slowest link, at most \"1 s\"",
    )?;
    positive("rto_tick", config.rto_tick)?;
    positive("rto_initial", config.rto_initial)?;
    positive("delayed_ack_timeout", config.delayed_ack_timeout)?;
    for (field, value) in [
        ("rto_max", config.rto_max),
        ("rto_fixed", config.rto_fixed),
        ("rto_tick", config.rto_tick),
        ("delayed_ack_timeout", config.delayed_ack_timeout),
    ] {
        let fix = format!("write a time up to {SPAN_MAX}");
        require(value <= SPAN_MAX, field, value, "too long", fix)?;
    }
    for (field, value) in [("rto_min", config.rto_min), ("rto_initial", config.rto_initial)] {
        require(
            value <= config.rto_max,
            field,
            value,
            format!("longer than rto_max = {}", config.rto_max),
            "lower it or raise rto_max",
        )?;
    }
    require(
        config.rto_clock_phase < config.rto_tick,
        "rto_clock_phase",
        config.rto_clock_phase,
        format!("not within one tick, rto_tick = {}", config.rto_tick),
        "write a time below rto_tick",
    )?;
    require(
        config.rto_backoff_max >= 1,
        "rto_backoff_max",
        config.rto_backoff_max,
        "a factor is at least 1",
        "write 64, or 1 and rto_backoff_past_max = false for no back-off",
    )
}
