//! `[signalling]`: how burst header packets (BHPs) reserve the path of a burst.

use burstlab_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{CONTROL_MAX, PARALLEL_MAX, RATE_MIN};

/// The control plane of a burst-switched mesh. A header is processed once at each node that
/// schedules its burst, which is every node of the route except the egress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Signalling {
    /// How wavelengths are reserved.
    pub protocol: Protocol,
    /// Time a node takes for a header.
    #[schemars(extend("x-maximum" = CONTROL_MAX))]
    pub processing: Span,
    /// Headers a node works on at a time; further ones wait. Absent: headers never wait.
    #[schemars(range(min = 1, max = PARALLEL_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// The spare time in the offset time, beyond hops x `processing`. It covers the sending of the
    /// header, its waiting, and `switching`. The default is 1 us if that is enough on every route
    /// for a header that waits nowhere. Otherwise it is twice the need of such a header, in whole
    /// microseconds: `switching`, and the sending of the header on all fibres of the longest route
    /// except the last.
    #[schemars(extend("x-default" = "`\"1 us\"`, or more on long routes and at low rates"))]
    #[schemars(extend("x-maximum" = CONTROL_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<Span>,
    /// Offset time of every burst, in place of hops x `processing` + `guard`.
    #[schemars(extend("x-default" = "by `processing` and `guard`"))]
    #[schemars(extend("x-maximum" = CONTROL_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Span>,
    /// Time a node needs to set its switch, between the end of processing and the burst.
    #[schemars(extend("x-maximum" = CONTROL_MAX))]
    pub switching: Span,
    /// Size of a header.
    #[schemars(extend("x-maximum" = "65535 B"))]
    pub header_size: Bytes,
    /// Control channels of a fibre, in addition to its data wavelengths.
    #[schemars(range(min = 1, max = PARALLEL_MAX))]
    pub channels: u32,
    /// Rate of a control channel. Absent: that of a data wavelength.
    #[schemars(extend("x-default" = "`network.link_rate`"))]
    #[schemars(extend("x-minimum" = RATE_MIN))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// `two-way`: number of requests for a burst before the ingress gives it up.
    #[schemars(range(min = 1))]
    pub requests: u32,
    /// `two-way`: time from a refusal to the next request.
    #[schemars(extend("x-maximum" = CONTROL_MAX))]
    pub retry: Span,
}

/// How wavelengths are reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Just enough time (Yoo and Qiao 1997): one-way, from the arrival of the burst to its end.
    #[default]
    Jet,
    /// Just in time (Wei and McFarland 2000): one-way, from the header on to the end of the burst.
    Jit,
    /// Tell and wait: the burst leaves when every node has agreed, and waits at the ingress
    /// otherwise.
    TwoWay,
}

impl Default for Signalling {
    fn default() -> Self {
        Self {
            protocol: Protocol::Jet,
            processing: Span::from_us(10),
            processors: None,
            guard: None,
            offset: None,
            switching: Span::ZERO,
            header_size: Bytes::new(64),
            channels: 1,
            rate: None,
            requests: 8,
            retry: Span::from_ms(1),
        }
    }
}

impl Signalling {
    /// The guard time of a resolved scenario; 0 s where it has none to resolve, as on a path.
    #[must_use]
    pub fn guard(&self) -> Span {
        self.guard.unwrap_or_default()
    }
}
