//! The choices that a parameter can be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! choices {
    ($($(#[$meta:meta])* $name:ident { $($(#[$case_meta:meta])* $case:ident,)+ })+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "kebab-case")]
            pub enum $name { $($(#[$case_meta])* $case,)+ }

            impl $name {
                /// All of them.
                pub const ALL: &[Self] = &[$(Self::$case,)+];
            }
        )+
    };
}

choices! {
    /// Loss recovery of a sender.
    Variant {
        /// Fast retransmit, then slow start (Jacobson 1988).
        Tahoe,
        /// Fast retransmit and fast recovery (RFC 5681).
        Reno,
        /// Reno that repairs several losses in one recovery (RFC 6582).
        NewReno,
        /// Recovery by selective acknowledgements (RFC 2018, RFC 6675).
        Sack,
        /// Retransmission of overdue segments by a fine clock (Brakmo and Peterson 1995).
        Vegas,
        /// As Linux 6.12: losses found by time and by probes (RFC 8985), proportional rate
        /// reduction (RFC 6937), and needless reductions undone (RFC 5682, 3708).
        Linux,
    }

    /// How the window grows and shrinks.
    WindowLaw {
        /// By a segment each round trip, to a half at a loss (RFC 5681).
        Aimd,
        /// By the delay, in steps of a segment (Brakmo and Peterson 1995).
        Vegas,
        /// By the delay, a share of the distance to the target (Wei, Jin, Low and Hegde 2006).
        Fast,
        /// As `"aimd"`; at a loss by the place of the recent round trips among all (Shihada, Ho and
        /// Zhang 2009).
        Saimd,
        /// As `"aimd"`; by other steps after a loss that a burst NAK reported (TCP-BCL, Shihada and
        /// Ho 2008).
        Bcl,
        /// As a class of Python says.
        Python,
        /// By the time since the last reduction, along a cubic curve (RFC 9438).
        Cubic,
        /// By a segment each round trip; by the share of marks at a mark (RFC 8257).
        Dctcp,
        /// By the largest rate of delivery and the shortest round trip, paced (version 1 of
        /// Cardwell, Cheng, Gunn, Yeganeh and Jacobson 2016).
        Bbr,
        /// As `"bbr"`, with bounds that losses set to the segments in flight (version 3,
        /// draft-ietf-ccwg-bbr-06).
        Bbr3,
        /// By a segment for each 100 ACKs; by an eighth at a loss (Kelly 2003).
        Scalable,
        /// By more segments and by less at a loss, the larger the window is (RFC 3649).
        Highspeed,
        /// By more the longer ago the last loss; at a loss by the share of the queue (Shorten and
        /// Leith 2004).
        Htcp,
        /// By 0.3 to 10 segments and by 1/8 to 1/2 at a loss, by the delay of queues (Liu, Basar
        /// and Srikant 2008).
        Illinois,
        /// As Reno; by a fifth at a loss while fewer than three segments are queued (Fu and Liew
        /// 2003).
        Veno,
        /// As Reno; at a loss to the bandwidth times the shortest round trip (Westwood+, Grieco and
        /// Mascolo 2004).
        Westwood,
    }

    /// Events that may end slow start before a loss.
    SlowStart {
        /// Nothing (RFC 5681).
        Standard,
        /// The length of a train of ACKs, or a round trip that grew (Ha and Rhee 2008).
        Hystart,
        /// A round trip that grew, if it does so for some slower rounds (RFC 9406).
        #[serde(rename = "hystart++")]
        HystartPlusPlus,
    }

    /// Details of Vegas.
    VegasRules {
        /// As its authors describe it.
        Paper,
        /// As ns-2's agent does it.
        Ns2,
    }

    /// Where the defaults come from.
    Profile {
        /// RFC 5681, 6298, 6582 and 6675.
        Rfc,
        /// The agents of ns-2.35.
        Ns2,
        /// The agents of ns-2.26, February 2003.
        #[serde(rename = "ns2-2003")]
        Ns2Of2003,
        /// Linux 6.12.
        Linux,
    }

    /// How half a window is taken.
    WindowHalving {
        /// cwnd keeps the fraction.
        Real,
        /// cwnd is rounded down.
        Integer,
    }

    /// The quantity whose half becomes the slow-start threshold.
    SsthreshBasis {
        /// The smaller of cwnd and the receiver's window.
        Window,
        /// The segments in flight.
        Flight,
    }

    /// The congestion window after fast recovery.
    FastRecoveryExit {
        /// The value it has, opened once by the ACK.
        Keep,
        /// The slow-start threshold.
        Ssthresh,
        /// The smaller of the threshold and one more than the segments in flight.
        Flight,
    }

    /// How often Reno retransmits fast in one window of data.
    RenoFastRetransmits {
        /// Once.
        OncePerWindow,
        /// As often as there are enough duplicate ACKs, unless the last reduction was a time-out.
        Several,
        /// An idealisation: for each lost segment, as if it always had duplicate ACKs of its own.
        EachHole,
    }

    /// Which partial ACKs restart New-Reno's timer.
    NewRenoTimer {
        /// The first of a recovery.
        Impatient,
        /// All.
        SlowButSteady,
    }

    /// How SACK recovery chooses the segment to send.
    SackRecovery {
        /// A count of segments in the pipe, as ns-2's Sack1.
        Ns2,
        /// RFC 6675.
        Rfc6675,
    }

    /// For how long duplicate ACKs of a SACK sender are taken for reordering.
    Ncr {
        /// Until `dupack_threshold` of them have come.
        Off,
        /// For a flight; every other releases a new segment (RFC 4653, LT_F of 2/3).
        Careful,
        /// For a flight; each releases a new segment (RFC 4653, LT_F of 1/2).
        Aggressive,
    }

    /// How the time-out follows the round-trip time.
    RtoEstimator {
        /// Integer ticks of a coarse clock.
        Ticks,
        /// RFC 6298.
        Rfc6298,
    }

    /// Event that ends the back-off of the time-out.
    BackoffEnd {
        /// A round-trip measurement, which a segment sent twice does not give.
        Measurement,
        /// An ACK of new data.
        Progress,
    }

    /// Rule that distinguishes false time-outs from true ones.
    Detector {
        /// Not at all.
        None,
        /// Burst length estimation, by the sender alone.
        Ble,
        /// Burst ACKs of the edge nodes.
        Back,
        /// Burst NAKs of the core node that drops a burst.
        Bnak,
        /// Perfect knowledge at the instant of the loss.
        Oracle,
        /// As a class of Python says.
        Python,
        /// As the window law says.
        Law,
        /// The number of bursts between failures, clustered (EM-TCP: Jayaraj, Venkatesh and Murthy
        /// 2008).
        Em,
    }

    /// Reports of nodes that a class of Python gets.
    ClassNotices {
        /// None.
        None,
        /// Burst ACKs of the edge nodes.
        Acks,
        /// Burst NAKs of the node that drops a burst.
        Naks,
        /// Both.
        All,
    }

    /// Whether burst length estimation decides by the estimate before or after the time-out.
    BleOrder {
        /// After it took account of the time-out.
        UpdateFirst,
        /// Before.
        DecideFirst,
    }

    /// Which edge nodes send burst ACKs.
    BackMode {
        /// The ingress, when a burst leaves.
        Ingress,
        /// The egress, when a burst arrives.
        Egress,
        /// Both.
        Both,
    }

    /// Verdict on a time-out while the egress has not heard of all that is outstanding.
    EgressUnknown {
        /// Taken for false.
        FalseTimeout,
        /// Taken for true.
        TrueTimeout,
    }

    /// When a burst NAK reaches the sender.
    BnakDelay {
        /// After the delay of the reverse path from the node.
        Path,
        /// When the ACKs of the burst would have.
        Rtt,
    }

    /// Verdict on a time-out after a burst NAK that did not cover all outstanding segments.
    BnakPartial {
        /// Taken for true.
        TrueTimeout,
        /// False if the NAK covers all segments that are outstanding now.
        Recheck,
    }
}

impl WindowLaw {
    /// Whether it distinguishes the loss of one burst from congestion, so that it may be the
    /// detector too.
    #[must_use]
    pub fn is_scheme(self) -> bool {
        matches!(self, Self::Saimd | Self::Bcl)
    }

    /// Whether only the sender of Linux has it.
    #[must_use]
    pub fn is_of_linux(self) -> bool {
        !matches!(self, Self::Aimd | Self::Vegas | Self::Fast | Self::Python) && !self.is_scheme()
    }
}
