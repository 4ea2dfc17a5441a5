//! Every parameter of an endpoint, once.

#[macro_use]
mod parameters;

mod choices;
mod class;
mod idle;
mod profile;
mod validate;

use burstlab_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use choices::{
    BackMode, BackoffEnd, BleOrder, BnakDelay, BnakPartial, ClassNotices, Detector, EgressUnknown,
    FastRecoveryExit, Ncr, NewRenoTimer, Profile, RenoFastRetransmits, RtoEstimator, SackRecovery,
    SlowStart, SsthreshBasis, Variant, VegasRules, WindowHalving, WindowLaw,
};
pub use class::PythonClass;
pub use validate::ConfigError;

parameters! {
    /// Loss recovery of the sender: `"tahoe"`, `"reno"`, `"new-reno"`, `"sack"`, `"vegas"` (TCP
    /// Vegas, with its `window_law`) or `"linux"` (as Linux 6.12 does). Default `"sack"`, in
    /// profile `"linux"` `"linux"`. With `"sack"`, and with `"linux"` unless `sack` is false, the
    /// receiver sends SACK blocks.
    variant: Variant,

    /// Where the defaults of all other fields come from: `"rfc"` (RFC 5681, 6298, 6582, 6675),
    /// `"ns2"` (ns-2.35), `"ns2-2003"` (ns-2.26) or `"linux"` (Linux 6.12). Default `"rfc"`. With
    /// an ns-2 profile an endpoint acts as the agent of ns-2 does, packet by packet.
    profile: Profile,

    /// Size of a full data segment on the wire, headers included. At least `syn_size`, at most
    /// 64 KB. Default 1 KB (ns-2 `packetSize_` 960 plus 40 of headers), in profile `"linux"`
    /// 1500 B. Windows count segments: with larger ones the same window is more bytes.
    segment_size: Bytes,

    /// Size of the SYN on the wire; also taken as the headers of every segment, unless it equals
    /// `segment_size` (ns-2's Vegas sends its SYN in full), when these are 40 B. At least 1 B.
    /// Default 40 B (ns-2 `tcpip_base_hdr_size_`), in profile `"linux"` 52 B with `timestamps`.
    syn_size: Bytes,

    /// Size of an ACK without SACK blocks on the wire. At least 1 B. Default 40 B (ns-2
    /// `Agent/TCPSink packetSize_`), in profile `"linux"` 52 B with `timestamps`.
    ack_size: Bytes,

    /// Size that each SACK block adds to an ACK. Default 8 B (RFC 2018: two 32-bit numbers).
    sack_block_size: Bytes,

    /// Most SACK blocks in an ACK, 1 to 3. Default 3 (ns-2 `maxSackBlocks_`). Fewer blocks make
    /// lost ACKs dearer. Without effect unless `variant` is `"sack"`.
    sack_blocks: u8,

    /// The receiver's window: most segments outstanding. 1 to 1,000,000. Default 20 (ns-2
    /// `window_`), 64 in profile `"rfc"` (64 KB without window scaling), 8192 in profile `"linux"`,
    /// whose receiver advertises the room in its buffer, and never more than this. It bounds the
    /// throughput at window × segment size / round-trip time.
    window: u32,

    /// Congestion window, in segments, once the SYN is acknowledged. At least 1. Default 2 (ns-2
    /// `windowInit_`); profile `"rfc"`: 4, 3 or 2 for segments with up to 1095, up to 2190 and
    /// above 2190 bytes of data (RFC 5681 section 3.1); profile `"linux"`: 10 (RFC 6928).
    initial_window: u32,

    /// Congestion window in place of `initial_window` when the SYN was lost and a time-out sent it
    /// again. At least 1. Default 1 (RFC 5681 section 3.1; ns-2 `bugfix_ss_`); profile
    /// `"ns2-2003"`: as `initial_window`.
    syn_loss_initial_window: u32,

    /// Slow-start threshold, in segments, before the first loss. At least 1. Default: `window`, so
    /// that slow start ends at the first loss or at the receiver's window.
    initial_ssthresh: u32,

    /// How the window grows and shrinks: `"aimd"`, `"vegas"` or `"fast"` (both by the delay),
    /// `"saimd"` (Shihada, Ho and Zhang 2009: at a loss by the recent round trips), `"bcl"`
    /// (TCP-BCL, Shihada and Ho 2008: by burst NAKs, with `detector` `"law"`), or `"python"` (as
    /// `window_law_class` says); the last three not with the variant `"vegas"`, which decides on
    /// its window itself. The variant `"linux"` has `"aimd"`, `"vegas"`, `"cubic"`, `"dctcp"`,
    /// `"bbr"`, `"scalable"` (Kelly 2003), `"highspeed"` (RFC 3649), `"htcp"` (Shorten and Leith
    /// 2004), `"illinois"` (Liu, Basar and Srikant 2008), `"veno"` (Fu and Liew 2003) and
    /// `"westwood"` (Grieco and Mascolo 2004), each as Linux has it, `"bbr3"` and `"python"`.
    /// Default `"vegas"` if `variant` is `"vegas"`, `"cubic"` in profile `"linux"` with its own
    /// variant, else `"aimd"`. FAST TCP is `"fast"` with `variant` `"sack"`.
    window_law: WindowLaw,

    /// Details of Vegas: `"paper"` (Brakmo and Peterson 1995) or `"ns2"` (as ns-2's agent, with its
    /// peculiarities; the page on TCP lists them). Default `"paper"`, in the ns-2 profiles `"ns2"`.
    /// Without effect unless `variant` or `window_law` is `"vegas"`.
    vegas_rules: VegasRules,

    /// `"vegas"`: with fewer segments than this waiting in queues (window × (1 − shortest/measured
    /// round trip)) the window grows by one each round trip. 0 to 1,000,000, at most `vegas_beta`.
    /// Default 2 (Shihada et al. 2006), in the ns-2 profiles 1 (`v_alpha_`).
    vegas_alpha: u32,

    /// `"vegas"`: with more segments than this waiting the window shrinks by one each round trip.
    /// 0 to 1,000,000. Default 5 (Shihada et al. 2006), in the ns-2 profiles 3 (`v_beta_`), in
    /// profile `"linux"` 4. The larger it is the longer the queue that the sender builds.
    vegas_beta: u32,

    /// `"vegas"`: with more segments than this waiting slow start ends. 0 to 1,000,000. Default 1
    /// (ns-2 `v_gamma_`).
    vegas_gamma: u32,

    /// `"fast"`: segments that are to wait in queues. 1 to 1,000,000. Default 20 (a choice: the
    /// paper leaves it to the operator). The window cannot settle unless the receiver's `window`
    /// exceeds it.
    fast_alpha: u32,

    /// `"fast"`: the share of the distance to its target that the window covers in a round trip,
    /// above 0, at most 1. Default 0.5 (a choice: the paper asks for above 0, at most 1). Smaller
    /// values are slower and steadier.
    fast_gamma: f64,

    /// Duplicate ACKs that make a fast retransmit. At least 1. Default 3 (RFC 5681 section 3.2;
    /// ns-2 `numdupacks_`).
    dupack_threshold: u32,

    /// Whether each duplicate ACK before the threshold releases a new segment (RFC 3042; ns-2
    /// `singledup_`). Default true. Without it small windows time out more often.
    limited_transmit: bool,

    /// Most segments that one ACK, write or time-out may release, 0: no limit. Default 0 (ns-2
    /// `maxburst_`). ns-2's Vegas does not apply it to a time-out, after which it sends two.
    max_burst: u32,

    /// Segments that the window releases wait for a random time, uniform from 0 up to this. An ACK,
    /// a write, the start or a time-out releases them. All segments that are released before the
    /// wait ends leave with them, so their order stays. Fast retransmits, those of partial ACKs and
    /// Limited Transmit leave at once (ns-2 `overhead_`). 0 s to 1 s. Default 0 s: nothing waits
    /// (ns-2). The time a packet takes on the slowest link breaks phase effects (Floyd and Jacobson
    /// 1992); more only delays.
    send_jitter: Span,

    /// How half a window is taken while `ssthresh_basis` is `"window"`: `"real"` (cwnd keeps the
    /// fraction) or `"integer"` (rounded down). Default `"real"` (ns-2 `precisionReduce_`); profile
    /// `"ns2-2003"`: `"integer"`. The threshold itself is a whole number of segments, at least 2.
    window_halving: WindowHalving,

    /// The quantity whose half becomes the slow-start threshold: `"window"` (the smaller of cwnd
    /// and the receiver's window, as in ns-2) or `"flight"` (RFC 5681 equation (4): the segments in
    /// flight, less those that Limited Transmit released; cwnd becomes the threshold; the threshold
    /// stays when the same segment times out again). Default `"flight"`, in the ns-2 profiles and
    /// `"linux"` `"window"`.
    ssthresh_basis: SsthreshBasis,

    /// Whether cwnd stops growing at the receiver's window. Default true, with ns-2 profiles false
    /// (`maxcwnd_` 0): there cwnd grows on while the receiver's window is what limits the sender,
    /// and a loss halves the smaller of the two.
    cwnd_limited: bool,

    /// Whether a loss in the very first window can be repaired by a fast retransmit. Default true
    /// (ns-2 `bugfix_ss_`); profile `"ns2-2003"`: false, it waits for a time-out.
    first_window_fast_retransmit: bool,

    /// The congestion window when Reno or New-Reno leaves fast recovery: `"keep"` (its present
    /// value, and the ACK opens it once more: ns-2), `"ssthresh"` (RFC 5681 section 3.2 step 6) or
    /// `"flight"` (the smaller of the threshold and one more than the segments in flight, against
    /// bursts: RFC 6582 section 3.2 step 3). Default `"flight"`, in the ns-2 profiles and `"linux"`
    /// `"keep"`.
    fast_recovery_exit: FastRecoveryExit,

    /// How often Reno may retransmit fast within one window of data: `"once-per-window"` (ns-2
    /// since July 2003, `bugFix_`), `"several"` (unless the last reduction was a time-out, as
    /// RFC 5681 and earlier ns-2 have it) or `"each-hole"` (an idealisation, no protocol: a partial
    /// ACK counts as three duplicate ACKs for the next hole while the window is at least
    /// `dupack_threshold`, as Yu, Qiao and Liu 2004 describe Reno in section II-B). Default
    /// `"several"`; profiles `"ns2"` and `"linux"`: `"once-per-window"`.
    reno_fast_retransmits: RenoFastRetransmits,

    /// Whether duplicate ACKs from the threshold on inflate the window of Reno and New-Reno even
    /// when no fast retransmit took place (ns-2 `exitFastRetrans_` false). Default false; profile
    /// `"ns2-2003"`: true.
    inflate_always: bool,

    /// Which partial ACKs restart New-Reno's retransmission timer: `"impatient"` (the first alone,
    /// so that a long repair ends in a time-out) or `"slow-but-steady"` (each). RFC 6582 section 4;
    /// ns-2 `newreno_changes1_`. Default `"impatient"`; profile `"ns2-2003"`: `"slow-but-steady"`.
    new_reno_timer: NewRenoTimer,

    /// Whether a partial ACK deflates New-Reno's window by the segments that it acknowledges less
    /// one (RFC 6582 section 3.2 step 3; ns-2 `partial_window_deflation_`) or takes away the
    /// inflation. Default true; profile `"ns2-2003"`: false.
    new_reno_deflation: bool,

    /// Most segments that an ACK during New-Reno's fast recovery may release, besides the
    /// retransmission; 0: no limit. Default 0, in the ns-2 profiles and `"linux"` 2.
    new_reno_burst: u32,

    /// How SACK recovery chooses the segment to send: `"ns2"` (a count of segments in the pipe, as
    /// the agent Sack1) or `"rfc6675"`. Default `"rfc6675"`, in the ns-2 profiles and `"linux"`
    /// `"ns2"`. Without effect unless `variant` is `"sack"`.
    sack_recovery: SackRecovery,

    /// Congestion window, in segments, when the sender has more to send after it was idle for a
    /// time-out; 0: it keeps its window. Default: `initial_window` (RFC 5681 section 4.1), in the
    /// ns-2 profiles 1 (`slow_start_restart_`), in profile `"linux"` 10. The variant `"linux"`
    /// halves its window for each time-out that it was idle, down to `initial_window`. It also
    /// shrinks a window that was not fully used during a time-out. It does neither where this is 0
    /// (Linux `tcp_slow_start_after_idle`).
    idle_restart_window: u32,

    /// How the time-out follows the round-trip time: `"ticks"` (integer ticks of a coarse clock, as
    /// 4.4BSD and ns-2) or `"rfc6298"`. Default `"rfc6298"`, in the ns-2 profiles `"ticks"`.
    rto_estimator: RtoEstimator,

    /// Granularity of the clock that measures round trips. More than 0 s. Default 10 ms (ns-2
    /// `tcpTick_`); profiles `"rfc"` and `"linux"`: 1 ms (G of RFC 6298).
    /// The variant `"linux"` has 1 ms, whatever this says.
    rto_tick: Span,

    /// By how much the clock of `"ticks"` is ahead of the simulated time, below `rto_tick`. Default
    /// 0 s. ns-2 draws it for every agent (`boot_time_`); it decides how a round trip is rounded.
    rto_clock_phase: Span,

    /// Shortest time-out before back-off. At most `rto_max`. Default 200 ms (ns-2 `minrto_`); 1 s
    /// in the profiles `"rfc"` (RFC 6298 (2.4)) and `"ns2-2003"`.
    rto_min: Span,

    /// Longest time-out, back-off included. At most 1,000,000 s. Default 60 s (RFC 6298 (2.5); ns-2
    /// `maxrto_`); profile `"ns2-2003"`: 100,000 s; profile `"linux"`: 120 s.
    rto_max: Span,

    /// Time-out before the first measurement. More than 0 s, at most `rto_max`. Default 3 s (ns-2
    /// `rtxcur_init_`); 1 s in the profiles `"rfc"` (RFC 6298 (2.1)) and `"linux"`, 6 s in
    /// `"ns2-2003"`.
    rto_initial: Span,

    /// The factor up to which every time-out doubles the next. At least 1. Default 64.
    rto_backoff_max: u32,

    /// Whether doubling goes on beyond `rto_backoff_max` as long as the time-out is below `rto_max`
    /// (ns-2 `rfc2988_`). Default true.
    rto_backoff_past_max: bool,

    /// Event that ends the back-off: `"measurement"` (of a round trip, which segments sent twice do
    /// not give: Karn, RFC 6298 section 5; ns-2) or `"progress"` (any ACK of new data, as many
    /// stacks do). Default `"measurement"`. It matters where losses follow one another closely.
    rto_backoff_end: BackoffEnd,

    /// A constant in place of the estimated time-out, before back-off; 0 s: none. Default 0 s. It
    /// takes no notice of `rto_min`. For papers that state one.
    rto_fixed: Span,

    /// Whether the receiver delays ACKs of segments in order (RFC 5681 section 4.2; ns-2 sinks
    /// `DelAck`). Default true, in the ns-2 profiles false.
    delayed_ack: bool,

    /// Longest delay of an ACK. More than 0 s. Default 100 ms (ns-2 `interval_`; RFC 5681 allows
    /// 500 ms), in profile `"linux"` 40 ms. Without effect unless `delayed_ack`.
    delayed_ack_timeout: Span,

    /// Segments in order that make a delayed ACK go out. At least 1. Default 2 (RFC 5681 section
    /// 4.2). Without effect unless `delayed_ack`.
    delayed_ack_every: u32,

    /// Rule by which the sender distinguishes a false time-out (one burst was lost, nothing is
    /// congested) from a true one (Burst TCP: Yu, Qiao, Liu 2004, section IV): `"none"`, `"ble"`,
    /// `"back"`, `"bnak"`, `"em"` (Jayaraj, Venkatesh and Murthy 2008), `"python"` (as
    /// `detector_class` says), `"law"` (as the window law says: `"saimd"`, `"bcl"` or a class that
    /// is law and detector) or `"oracle"` (perfect knowledge at the instant of the loss: a bound,
    /// not a protocol). Default `"none"`. Not with `"tahoe"`.
    /// After a false time-out the sender halves its window, sends everything outstanding again
    /// without slow start, and does not back off the time-out.
    detector: Detector,

    /// Smallest window, in segments, at which a time-out can be false, 0 to 1,000,000. Default 3
    /// (Yu et al. 2004: a run of false time-outs halves the window until it is below 3 and then
    /// ends in a true one); 0: no such guard. Without effect on `"oracle"`.
    detector_window_min: u32,

    /// `"ble"`: whether the estimate takes account of a time-out before it decides on it
    /// (`"update-first"`, the order in which the paper lists the steps) or after
    /// (`"decide-first"`). Default `"update-first"`.
    ble_order: BleOrder,

    /// `"ble"`: a time-out is false only while the estimated burst is longer than this many
    /// segments. Default 3 (Yu et al. 2004, section IV.A).
    ble_burst_min: u32,

    /// `"back"`: which edge nodes send burst ACKs: `"ingress"`, `"egress"` or `"both"`. Default
    /// `"both"`.
    back_mode: BackMode,

    /// `"back"` with `"egress"`: the verdict on a time-out while the arrival of all outstanding
    /// segments is not known, on which the paper is silent: `"false-timeout"` or `"true-timeout"`.
    /// Default `"false-timeout"`.
    back_egress_unknown: EgressUnknown,

    /// `"bnak"`: when a burst NAK arrives: `"path"` (after the delay of the reverse path) or
    /// `"rtt"` (when the ACKs of the burst would have, as equation (10) of Yu et al. 2004 assumes).
    /// Default `"path"`.
    bnak_delay: BnakDelay,

    /// `"bnak"`: the verdict on a time-out after a burst NAK that did not cover all outstanding
    /// segments: `"true-timeout"` or `"recheck"` (false if it covers all that are outstanding by
    /// then). Default `"true-timeout"`.
    bnak_partial: BnakPartial,

    rare

    /// `"aimd"`: by how many segments the window grows each round trip (GAIMD: Yang and Lam 2000),
    /// above 0, at most 1,000. Default: 3 (1 - `aimd_beta`) / (1 + `aimd_beta`), with which the
    /// mean window under random losses is RFC 5681's; 1 without `aimd_beta`. Without effect if
    /// `variant` is `"linux"`.
    aimd_alpha: f64,

    /// `"aimd"`: the part of the window that a loss leaves, above 0, below 1; after a time-out the
    /// threshold is this part. Default 0.5 (RFC 5681). Larger values make a steadier window.
    /// Without effect if `variant` is `"linux"`.
    aimd_beta: f64,

    /// `"em"`: number of the last failures that are clustered. 4 to 10,000. Default 100 (a choice:
    /// the abstract of Jayaraj, Venkatesh and Murthy 2008 has no number).
    em_recent: u32,

    /// `"em"`: from this probability on a failure counts as contention, 0 to 1. Default 0.5 (a
    /// choice: the likelier class).
    em_sure: f64,

    /// For how long a sender with `sack_recovery` `"rfc6675"` takes duplicate ACKs for reordering,
    /// as by deflection or several routes, before it repairs (TCP-NCR, RFC 4653, which grew out of
    /// TCP-DCR, Bhandarkar and Reddy 2004): `"off"`, `"careful"` or `"aggressive"`. The last two
    /// wait for about a round trip. They replace `limited_transmit`. Default `"off"`.
    ncr: Ncr,

    /// `"saimd"`: number of the last round trips whose mean is compared with all. 1 to 100,000, at
    /// most `saimd_long`. Default 8 (a choice: the abstract of Shihada, Ho and Zhang 2009 has no
    /// number). More are steadier and slower.
    saimd_short: u32,

    /// `"saimd"`: number of the last round trips that are compared, one for each ACK that measures
    /// one. 1 to 100,000. Default 500 (a choice). It should hold times with and without queues.
    saimd_long: u32,

    /// `"saimd"` with `detector` `"law"`: up to this confidence that a loss is congestion a
    /// time-out is excused, 0 to 1. Default 0.7 (a choice). 1 excuses all.
    saimd_sure: f64,

    /// `"bcl"`: as `aimd_alpha`, after a loss that a burst NAK reported; `aimd_alpha` holds after
    /// others. Above 0, at most 1,000. Default 1 (a choice: the abstract of Shihada and Ho 2008
    /// has no number).
    bcl_alpha: f64,

    /// `"bcl"`: as `aimd_beta`, at a loss that a burst NAK reported. Above 0, at most 1: nothing is
    /// lost of the window. Default 0.875 (a choice).
    bcl_beta: f64,

    /// `"vegas"`: of the last `vegas_recent` round trips so many have to be longer than the
    /// shortest by `vegas_margin`, else delay is taken for bursts that were sent again or
    /// deflected, and not for queues (threshold-based Vegas: Shihada, Zhang and Ho 2006). 1 to
    /// `vegas_recent`. Default: no such rule. 1 is nearly Vegas, more are slower to see queues.
    vegas_threshold: u32,

    /// `"vegas"` with `vegas_threshold`: the number of round trips that are counted. 1 to 100,000.
    /// Default 10 (a choice: the abstracts have no number).
    vegas_recent: u32,

    /// `"vegas"` with `vegas_threshold`: the part of the shortest round trip by which a round trip
    /// is longer that counts. 0 to 100. Default 0.05 (a choice). It should be below the delay of a
    /// retransmitted burst, and above the changes of other delays.
    vegas_margin: f64,

    /// Reports of nodes that the class of `detector` `"law"` or `"python"` gets: `"none"`, `"acks"`
    /// (burst ACKs of the edge nodes that `back_mode` names), `"naks"` (burst NAKs, which travel as
    /// `bnak_delay` says) or `"all"`. Default `"none"`.
    class_notices: ClassNotices,

    linux

    /// Whether the receiver reports segments that arrive out of order (RFC 2018). Default true.
    /// Without it duplicate ACKs stand for segments, and a loss takes a round trip each. Without
    /// effect unless `variant` is `"linux"`.
    sack: bool,

    /// Whether the receiver reports segments that arrive twice (RFC 2883), by which the sender
    /// undoes a needless reduction (RFC 3708). Default true. Without effect unless `variant` is
    /// `"linux"` and `sack` true.
    d_sack: bool,

    /// Whether losses are found by time: a segment is lost if one that was sent sufficiently later
    /// has arrived (RFC 8985), else by three reported segments above it (RFC 6675). Default true.
    /// Without effect unless `variant` is `"linux"`.
    rack: bool,

    /// Whether segments that arrive twice widen the time for which RACK waits for reordered
    /// segments (RFC 8985 section 6.2). Default true (Linux `tcp_recovery` without its bit 2).
    /// Without effect unless `variant` is `"linux"` and `rack` true.
    rack_adapts: bool,

    /// Whether RACK waits no longer for reordered segments once `dupack_threshold` segments are
    /// reported, as long as none was reordered (RFC 8985 section 6.2). Default true (Linux
    /// `tcp_recovery` without its bit 4). Without effect unless `variant` is `"linux"` and `rack`
    /// true.
    rack_counts: bool,

    /// Whether the end of a flight is probed after two round trips, before the time-out (RFC 8985
    /// section 7). Default true. Without effect unless `variant` is `"linux"`.
    tail_loss_probe: bool,

    /// Whether a time-out is undone when ACKs show that not all was lost (F-RTO, RFC 5682). Default
    /// true. Without effect unless `variant` is `"linux"`.
    f_rto: bool,

    /// Events that may end slow start before a loss. `"standard"`: none. `"hystart"` (with
    /// `"cubic"`; Ha and Rhee 2008): a train of ACKs as long as half a round trip, or a round trip
    /// that has grown by an eighth. `"hystart++"` (with `"cubic"`, `"aimd"` and `"dctcp"`; RFC
    /// 9406): a round trip that has grown and stays so for five slower rounds. Default `"hystart"`
    /// with `"cubic"`, else `"standard"`. Without effect unless `variant` is `"linux"`.
    slow_start: SlowStart,

    /// Whether segments are handed to the device in groups. A group is as large as the pacing rate
    /// sends in a millisecond. It may wait for the next ACK so that it can be larger. The last
    /// segment of a group is short where the receiver's window or the written data end within it,
    /// unless a short one is in flight (RFC 896). Default false: a segment at a time, of which one
    /// may be short where a write ends. Without effect unless `variant` is `"linux"`.
    grouping: bool,

    /// Number from 0 to 6 from which BBR takes the phase in which its gain cycle begins; Linux
    /// draws it anew each time. `"bbr3"` draws the times of its probes from it. Default 0. Without
    /// effect unless `variant` is `"linux"` and `window_law` `"bbr"` or `"bbr3"`.
    bbr_phase: u32,

    /// Whether packets carry time stamps (RFC 7323 section 3). With them a sender measures round
    /// trips, and distinguishes the ACK of a first transmission from that of a retransmission (RFC
    /// 4015). They are part of `syn_size` and `ack_size`, which without them are 40 B by default.
    /// Default true. Without effect unless `variant` is `"linux"`.
    timestamps: bool,

    /// Whether queues mark packets rather than drop them, where `marking` of a link, an edge or a
    /// node says so, and the receiver echoes marks (RFC 3168; with `window_law` `"dctcp"` and
    /// `"python"` those of each packet, RFC 8257). Default false, with `"dctcp"` true. Without
    /// effect unless `variant` is `"linux"`.
    ecn: bool,

    /// Bytes of the receiver's buffer at first, bookkeeping included: the window that it advertises
    /// grows by two segments with each that arrives, up to five eighths of it. 4 KB to 1 GB.
    /// Default 128 KiB (Linux `tcp_rmem`). Without effect unless `variant` is `"linux"`.
    receive_buffer: Bytes,

    /// Largest size to which the buffer grows. It grows so that the application can read twice as
    /// much as in the last round trip. At least `receive_buffer`, at most 1 GB. Default 6 MiB
    /// (Linux `tcp_rmem`). Without effect unless `variant` is `"linux"`.
    receive_buffer_max: Bytes,

    /// The widest window that the receiver advertises before the first segment comes (Linux
    /// `TCP_WINDOW_CLAMP`), from which on the buffer bounds it. At least `segment_size`. Default:
    /// no such bound. Without effect unless `variant` is `"linux"`.
    window_clamp: Bytes,

    /// Whether windows are scaled (RFC 7323 section 2). Without it none is above 65,535 bytes.
    /// Default true. Without effect unless `variant` is `"linux"`.
    window_scaling: bool,

    /// Bytes of the sender's buffer, bookkeeping included, which grows to twice of that: what the
    /// application has written and the receiver has not acknowledged. It writes 64 KiB at a time.
    /// 4 KB to 1 GB. Default: without bound, with `grouping` 4 MiB. Without effect unless `variant`
    /// is `"linux"`.
    send_buffer: Bytes,

    /// Bytes of the sender's buffer that each group of segments takes besides its data, which the
    /// configuration of a kernel decides; without `grouping` each segment. 0 B to 64 KB. Default
    /// 832 B, as of the kernel that was recorded. Without effect unless `variant` is `"linux"`.
    send_overhead: Bytes,

    /// The count of ticks of the sender's clock at time 0, as its timer wheel sees it: timers
    /// beyond 62, 503 and 4031 ticks are late until the count is a multiple of 8, 64 and 512. 0 to
    /// 511. Default 0. Without effect unless `variant` is `"linux"`.
    wheel_phase: u32,

    classes

    /// The class that is the window law. Default: none. Without effect unless `window_law` is
    /// `"python"`, which needs it.
    window_law_class,

    /// The class that is the detector. Default: none. Without effect unless `detector` is
    /// `"python"`, which needs it.
    detector_class,
}

impl Config {
    /// The parameters that `overrides` describes: the profile's, with what is written explicitly on
    /// top.
    ///
    /// # Errors
    /// When a value is out of range or contradicts another; the error names the field and the fix.
    pub fn resolve(overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut config = profile::defaults(overrides);
        overrides.apply(&mut config);
        profile::complete(&mut config);
        config.forget_idle_classes();
        validate::validate(&config)?;
        Ok(config)
    }

    /// Drops the classes that nothing uses: an entry may have another law than the others.
    fn forget_idle_classes(&mut self) {
        if self.window_law != WindowLaw::Python {
            self.window_law_class = None;
        }
        if self.detector != Detector::Python {
            self.detector_class = None;
        }
    }

    /// Whether a class of Python takes part in an endpoint.
    #[must_use]
    pub fn needs_classes(&self) -> bool {
        self.window_law_class.is_some() || self.detector_class.is_some()
    }

    /// The headers of every segment: what a SYN is, unless it is as large as a full segment.
    #[must_use]
    pub fn headers(&self) -> Bytes {
        headers(self.segment_size, self.syn_size)
    }
}

/// Headers of TCP and IP without options (ns-2 `tcpip_base_hdr_size_`).
const HEADERS: Bytes = Bytes::new(40);

fn headers(segment: Bytes, syn: Bytes) -> Bytes {
    if syn < segment { syn } else { HEADERS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_wins_over_the_profile() {
        let text = r#"{"profile": "ns2", "variant": "new-reno", "window": 40, "rto_min": "1 s"}"#;
        let overrides: Overrides = serde_json::from_str(text).expect("reads");
        let config = Config::resolve(&overrides).expect("is valid");
        assert_eq!(config.initial_ssthresh, 40);
        assert_eq!(config.rto_min, Span::from_secs(1));
        assert_eq!(config.rto_initial, Span::from_secs(3));
        let base = Overrides { window: Some(7), max_burst: Some(4), ..Overrides::default() };
        let both = overrides.over(&base);
        assert_eq!((both.window, both.max_burst), (Some(40), Some(4)));
    }

    #[test]
    fn every_profile_is_valid() {
        for &profile in Profile::ALL {
            let overrides = Overrides { profile: Some(profile), ..Overrides::default() };
            let config = Config::resolve(&overrides).expect("is valid");
            assert_eq!(config.profile, profile);
        }
    }

    #[test]
    fn a_resolved_configuration_is_read_back_as_it_is() {
        for &profile in Profile::ALL {
            let overrides = Overrides { profile: Some(profile), ..Overrides::default() };
            let config = Config::resolve(&overrides).expect("is valid");
            let text = serde_json::to_string(&config).expect("is written");
            let again: Overrides = serde_json::from_str(&text).expect("is read");
            assert_eq!(Config::resolve(&again), Ok(config));
        }
    }

    #[test]
    fn every_field_is_described() {
        let schema = schemars::schema_for!(Overrides);
        let fields = schema.as_value()["properties"].as_object().expect("an object");
        assert!(fields.len() > 30);
        for (name, field) in fields {
            let text = field["description"].as_str().unwrap_or_default();
            assert!(text.contains("Default"), "{name}: {text}");
        }
    }

    #[test]
    fn unknown_fields_and_bare_numbers_are_refused() {
        for (text, says) in [
            (r#"{"windw": 3}"#, "windw"),
            (r#"{"rto_min": 3}"#, "no unit"),
            (r#"{"variant": "cubic"}"#, "new-reno"),
        ] {
            let error = serde_json::from_str::<Overrides>(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn errors_name_field_value_and_mend() {
        let bad = Overrides { window: Some(0), ..Overrides::default() };
        let error = Config::resolve(&bad).expect_err("no window");
        assert_eq!((error.field, error.value.as_str()), ("window", "0"));
        assert!(error.to_string().contains("window") && !error.fix.is_empty());
        let bad = Overrides { rto_min: Some(Span::from_secs(61)), ..Overrides::default() };
        assert_eq!(Config::resolve(&bad).expect_err("min > max").field, "rto_min");
        let bad = Overrides { rto_clock_phase: Some(Span::from_ms(1)), ..Overrides::default() };
        assert_eq!(Config::resolve(&bad).expect_err("phase").field, "rto_clock_phase");
    }
}
