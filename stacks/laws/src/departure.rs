//! Departures of stacks from RFC 9438, by its sections.

/// A departure from RFC 9438.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// K follows from W_max alone, as in RFC 8312: the curve begins at 0.7 W_max, which after fast
    /// convergence is below the window.
    KOfMaximum,
    /// The curve's time counts from the loss, not from the end of the repair.
    EpochAtLoss,
    /// The curve is looked at the shortest round trip ahead, not the smoothed one.
    ShortestRoundTrip,
    /// Windows are of whole packets: what is over after a step counts for the next one.
    WholePackets,
    /// Windows are of whole packets: what is over after a step is dropped.
    RestDropped,
    /// The estimate of Reno's window follows from the time, as in RFC 8312, not from ACKs, and
    /// never grows by a packet a round trip.
    EstimateByTime,
    /// Reno's window grows by alpha all the time, not by a packet a round trip from the window
    /// before the loss on.
    AlphaStays,
    /// It does so from W_max on, which after fast convergence is less than the window was.
    AlphaByMaximum,
    /// Which of the two is larger, the curve or Reno's window, is asked a round trip ahead.
    RegionAhead,
    /// Persistent congestion reduces the threshold twice.
    TimeoutTwice,
    /// Persistent congestion is a loss as any other.
    TimeoutIsLoss,
    /// A time-out leaves one packet, and without a known maximum the window grows by a twentieth a
    /// round trip at least.
    TimeoutProbes,
    /// A reduction that was for nothing stays.
    SpuriousStays,
    /// Of a reduction that was for nothing the window comes back, and not the curve.
    SpuriousWindowOnly,
    /// A reduction is taken back after each repair in which less than a fifth of the window was
    /// lost, or one packet.
    FewLostForgiven,
    /// Time without growth counts where the application is what limits the sender.
    LimitedCounts,
    /// Such time counts but where nothing is in flight.
    LimitedCountsUnlessIdle,
}

impl Departure {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::KOfMaximum,
        Self::EpochAtLoss,
        Self::ShortestRoundTrip,
        Self::EstimateByTime,
        Self::AlphaStays,
        Self::AlphaByMaximum,
        Self::RegionAhead,
        Self::WholePackets,
        Self::RestDropped,
        Self::TimeoutTwice,
        Self::TimeoutIsLoss,
        Self::TimeoutProbes,
        Self::SpuriousStays,
        Self::SpuriousWindowOnly,
        Self::FewLostForgiven,
        Self::LimitedCounts,
        Self::LimitedCountsUnlessIdle,
    ];

    /// Its description in a few words.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::KOfMaximum => "K from W_max alone (RFC 8312)",
            Self::EpochAtLoss => "the curve's time counts from the loss",
            Self::ShortestRoundTrip => "the target is the shortest round trip ahead",
            Self::EstimateByTime => "Reno's window from the time (RFC 8312)",
            Self::AlphaStays => "alpha never becomes 1",
            Self::AlphaByMaximum => "alpha becomes 1 at W_max",
            Self::RegionAhead => "the region is chosen a round trip ahead",
            Self::WholePackets => "whole packets, the rest is kept",
            Self::RestDropped => "whole packets, the rest is dropped",
            Self::TimeoutTwice => "persistent congestion reduces twice",
            Self::TimeoutIsLoss => "persistent congestion is one loss",
            Self::TimeoutProbes => "W_max is forgotten, 5 % a round trip at least",
            Self::SpuriousStays => "a spurious reduction stays",
            Self::SpuriousWindowOnly => "the window comes back, the curve does not",
            Self::FewLostForgiven => "a few losses are taken back",
            Self::LimitedCounts => "time of the application counts",
            Self::LimitedCountsUnlessIdle => "time of the application counts but when idle",
        }
    }

    /// The section of RFC 9438.
    #[must_use]
    pub fn section(self) -> &'static str {
        match self {
            Self::KOfMaximum | Self::EpochAtLoss | Self::ShortestRoundTrip => "4.2",
            Self::EstimateByTime | Self::AlphaStays | Self::AlphaByMaximum | Self::RegionAhead => {
                "4.3"
            }
            Self::WholePackets | Self::RestDropped => "4.4",
            Self::TimeoutTwice | Self::TimeoutIsLoss | Self::TimeoutProbes => "4.8",
            Self::SpuriousStays | Self::SpuriousWindowOnly | Self::FewLostForgiven => "4.9",
            Self::LimitedCounts | Self::LimitedCountsUnlessIdle => "5.8",
        }
    }
}
