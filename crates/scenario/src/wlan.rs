//! `[[wlan]]`: cells of 802.11b between hosts and their access links.

use burstlab_link::wlan::{Paths, Preamble, Reach, Rules, Shadowing, Speed};
use burstlab_tcp::Config;
use burstlab_units::{Bytes, Probability, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::{Choice, Fields};
use super::error::{Check, refuse, word};
use super::{Scenario, ScenarioError, Side};
use crate::topology::Graph;

/// Defaults of path loss and shadowing, as `Wlan` documents them at its fields.
const EXPONENT: f64 = 2.0;
const SIGMA_DB: f64 = 4.0;
const REFERENCE_M: f64 = 1.0;
const REFERENCE_DB: f64 = 48.0;
const SENSE_DB: f64 = 13.7;

/// The rates of 802.11b.
const RATES: [&str; 4] = ["1 Mb/s", "2 Mb/s", "5.5 Mb/s", "11 Mb/s"];
/// The default rate of data frames.
const RATE: Rate = Rate::from_bps(11_000_000);
/// The largest contention window of all.
const WINDOW_MAX: u32 = 32_767;
/// Most stations of a cell.
const STATIONS_MAX: u32 = 500;
/// The longest packet that fits into a frame (802.11-1999, 7.1.2).
const PACKET_MAX: u64 = 2304;

/// An 802.11b cell: the hosts of flows at one place are its stations, each with one flow, and its
/// base station is at the far end of their access links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wlan {
    /// In a mesh: name of the edge node whose hosts are stations. Absent: the last.
    #[schemars(extend("x-default" = "the last edge node"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// On a `path`: which hosts are stations. Absent: the receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Rate of data frames.
    #[schemars(extend("x-enum" = RATES))]
    pub rate: Rate,
    /// In place of `rate`: rate of data frames to and from each station, in the order of the flows.
    /// A station at a low rate keeps the medium for longer. All others then get about as little
    /// throughput as this station (Heusse, Rousseau, Berger-Sabbatel and Duda, 2003). Absent:
    /// `rate` for all.
    #[schemars(extend("x-enum" = RATES))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_rates: Option<Vec<Rate>>,
    /// Rate of RTS, CTS and ACK frames.
    #[schemars(extend("x-enum" = RATES))]
    pub basic_rate: Rate,
    /// The preamble of each frame.
    pub preamble: WlanPreamble,
    /// Data frames longer than this, with their 28 B of MAC header and check sequence, are preceded
    /// by an RTS. Absent: no frame is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Bytes>,
    /// Tries of a frame that no RTS precedes, and of an RTS.
    #[schemars(range(min = 1, max = 255))]
    pub short_retries: u32,
    /// Tries of a frame that an RTS precedes.
    #[schemars(range(min = 1, max = 255))]
    pub long_retries: u32,
    /// First contention window: a back-off is 0 to this many slots.
    #[schemars(range(max = WINDOW_MAX))]
    pub cw_min: u32,
    /// Largest contention window, at least `cw_min`.
    #[schemars(range(max = WINDOW_MAX))]
    pub cw_max: u32,
    /// Packets that may wait at the base station behind the packet being sent; further packets are
    /// dropped. Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_queue: Option<u32>,
    /// Packets that may wait at a station behind the packet being sent; further packets are
    /// dropped. Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_queue: Option<u32>,
    /// Whether stations cannot hear each other; the base station hears all of them. With
    /// `shadowing` and `positions`, the positions decide which stations hear each other.
    pub hidden: bool,
    /// The process that loses frames without a collision.
    pub loss: WlanLoss,
    /// `frame-error`: chance that a frame is not received, whatever its length. `residual`: chance
    /// that a packet is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// `bit-error`: chance b that a bit of a frame is wrong, independently of the others. A frame
    /// of n bytes, from its MAC header to its check sequence, is not received with chance 1 -
    /// (1 - b)^8n. A packet of 1500 B is a frame of 1528 B: 1e-5 loses 11.5 % of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<Probability>,
    /// `frame-error` and `bit-error`: which frames. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<WlanFrames>,
    /// `shadowing`: standard deviation in dB. Absent: 4.
    #[schemars(range(min = 0.0, max = 100.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma_db: Option<f64>,
    /// `shadowing`: by how many dB the mean power between base station and stations is above the
    /// threshold for reception. Takes the place of distances.
    #[schemars(range(min = -200.0, max = 200.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_db: Option<f64>,
    /// `shadowing`: distance of every station from the base station, in m.
    #[schemars(range(min = 0.0, max = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_m: Option<f64>,
    /// `shadowing`: position of each station: x and y in m from the base station, in the order of
    /// the flows. Stations that are too far from one another are hidden.
    #[schemars(extend("x-minimum" = -1e9, "x-maximum" = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<Vec<(f64, f64)>>,
    /// `shadowing`: path loss exponent. Absent: 2.
    #[schemars(range(min = 0.0, max = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// `shadowing`: distance of `reference_margin_db`, in m. Absent: 1.
    #[schemars(range(min = 1e-9, max = 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_distance_m: Option<f64>,
    /// `shadowing`: by how many dB the mean power at the reference distance is above the threshold
    /// for reception. Absent: 48, which is 0 at 251 m.
    #[schemars(range(min = -200.0, max = 200.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_margin_db: Option<f64>,
    /// `shadowing`: by how many dB the mean power of a frame may be below the threshold for
    /// reception and still make the medium busy. Absent: 13.7, as in ns-2.
    #[schemars(range(min = 0.0, max = 200.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sense_db: Option<f64>,
}

/// The preamble of an 802.11b frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WlanPreamble {
    /// Preamble and PLCP header of 192 us.
    #[default]
    Long,
    /// Of 96 us; frames at 1 Mb/s still have the long one.
    Short,
}

/// The process that loses frames without a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WlanLoss {
    /// None is.
    #[default]
    None,
    /// Each with the same chance, `probability`.
    FrameError,
    /// Longer ones more often, by `bit_error_rate`.
    BitError,
    /// By log-distance path loss and log-normal shadowing: data, RTS, CTS and ACK frames alike.
    Shadowing,
    /// None is; but each packet that has been carried is lost with chance `probability`, once and
    /// for all. A control experiment: such losses take no time.
    Residual,
}

/// Which frames are subject to errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WlanFrames {
    /// Data, RTS, CTS and ACK frames alike.
    #[default]
    All,
    /// Data frames alone.
    Data,
}

impl WlanLoss {
    const FIELDS: Fields = &[
        ("probability", "0.01"),
        ("bit_error_rate", "1e-5"),
        ("frames", "\"data\""),
        ("sigma_db", "4.0"),
        ("margin_db", "8.0"),
        ("distance_m", "100.0"),
        ("positions", "[[10.0, 0.0]]"),
        ("exponent", "2.0"),
        ("reference_distance_m", "1.0"),
        ("reference_margin_db", "48.0"),
        ("sense_db", "13.7"),
    ];
}

impl Default for Wlan {
    fn default() -> Self {
        let rules = Rules::default();
        Self {
            node: None,
            side: None,
            rate: RATE,
            station_rates: None,
            basic_rate: Rate::from_bps(1_000_000),
            preamble: WlanPreamble::Long,
            rts_threshold: None,
            short_retries: rules.short_retries,
            long_retries: rules.long_retries,
            cw_min: rules.cw_min,
            cw_max: rules.cw_max,
            base_queue: None,
            station_queue: None,
            hidden: false,
            loss: WlanLoss::None,
            probability: None,
            bit_error_rate: None,
            frames: None,
            sigma_db: None,
            margin_db: None,
            distance_m: None,
            positions: None,
            exponent: None,
            reference_distance_m: None,
            reference_margin_db: None,
            sense_db: None,
        }
    }
}

/// The rules of a cell's nodes, and how its frames are lost.
#[derive(Clone, Debug)]
pub struct WlanLaw {
    /// Times, windows and retries.
    pub rules: Rules,
    losses: FrameLosses,
    /// Whether no station hears another one.
    hidden: bool,
}

/// The process that loses frames without a collision.
#[derive(Clone, Debug)]
enum FrameLosses {
    None,
    /// Frames with data, and those without.
    FrameError {
        data: Probability,
        control: Probability,
    },
    /// Bits of the same.
    BitError {
        data: Probability,
        control: Probability,
    },
    /// Packets that have been carried.
    Residual(Probability),
    Shadowing(Shadowing, Places),
}

/// How far stations are from the base station.
#[derive(Clone, Debug)]
enum Places {
    /// The mean power above the threshold, in dB.
    Margin(f64),
    /// All so far, in m.
    Distance(f64),
    /// Each elsewhere, in m from the base station.
    Positions(Vec<(f64, f64)>),
}

impl WlanLaw {
    /// Chance that a packet is lost that has been carried.
    #[must_use]
    pub fn residual(&self) -> f64 {
        match self.losses {
            FrameLosses::Residual(chance) => chance.get(),
            _ => 0.0,
        }
    }

    /// Which nodes hear each other: the base station and the stations.
    #[must_use]
    pub fn paths(&self, stations: u32) -> Paths {
        Paths::new(stations + 1, |from, to| {
            let between_stations = from > 0 && to > 0;
            match &self.losses {
                _ if between_stations && self.hidden => Reach::hidden(),
                FrameLosses::None | FrameLosses::Residual(_) => Reach::clear(),
                &FrameLosses::FrameError { data, control } => {
                    Reach { data_error: data, control_error: control, ..Reach::clear() }
                }
                &FrameLosses::BitError { data, control } => {
                    Reach { data_bit_error: data, control_bit_error: control, ..Reach::clear() }
                }
                FrameLosses::Shadowing(model, Places::Positions(places)) => {
                    let place = |node: u32| match node.checked_sub(1) {
                        Some(station) => places[station as usize],
                        None => (0.0, 0.0),
                    };
                    let ((x, y), (u, v)) = (place(from), place(to));
                    model.reach((x - u).hypot(y - v))
                }
                // Stations are side by side.
                FrameLosses::Shadowing(..) if between_stations => Reach::clear(),
                FrameLosses::Shadowing(model, Places::Distance(distance)) => model.reach(*distance),
                FrameLosses::Shadowing(model, Places::Margin(margin)) => {
                    let error = Shadowing::frame_error(*margin, model.sigma_db);
                    Reach { data_error: error, control_error: error, ..Reach::clear() }
                }
            }
        })
    }
}

impl Wlan {
    /// The law of this cell with its number of stations; `at` is the path of the cell.
    fn law(&self, at: &str, stations: u32) -> Result<WlanLaw, ScenarioError> {
        let mut given = Choice::of(at, self, "loss", WlanLoss::FIELDS);
        let losses = match self.loss {
            WlanLoss::None => FrameLosses::None,
            WlanLoss::FrameError => {
                let data = given.needs("probability", self.probability)?;
                FrameLosses::FrameError { data, control: self.control(data, &mut given) }
            }
            WlanLoss::BitError => {
                let data = given.needs("bit_error_rate", self.bit_error_rate)?;
                FrameLosses::BitError { data, control: self.control(data, &mut given) }
            }
            WlanLoss::Residual => {
                FrameLosses::Residual(given.needs("probability", self.probability)?)
            }
            WlanLoss::Shadowing => {
                let model = self.shadowing(&mut given);
                FrameLosses::Shadowing(model, self.places(at, stations, &mut given)?)
            }
        };
        given.done()?;
        let stations = self.speeds(at, stations)?;
        Ok(WlanLaw { rules: Rules { stations, ..self.rules(at)? }, losses, hidden: self.hidden })
    }

    /// The chance for frames without data, given the chance for frames with data.
    fn control(&self, data: Probability, given: &mut Choice<'_>) -> Probability {
        match given.may("frames", self.frames).unwrap_or_default() {
            WlanFrames::All => data,
            WlanFrames::Data => Probability::default(),
        }
    }

    /// The speed of each station, if they differ.
    fn speeds(&self, at: &str, stations: u32) -> Result<Vec<Speed>, ScenarioError> {
        let Some(rates) = &self.station_rates else { return Ok(Vec::new()) };
        if self.rate != RATE {
            let problem = "station_rates says the rate of each station";
            let fix = "keep one of the two";
            return refuse(format!("{at}.rate"), self.rate.to_string(), problem, fix);
        }
        if rates.len() != stations as usize {
            let problem = format!("there are {stations} stations, one for each flow");
            let (path, fix) = (format!("{at}.station_rates"), "write one rate for each station");
            return refuse(path, format!("{} rates", rates.len()), &problem, fix);
        }
        let speed = |(index, &rate)| speed(format!("{at}.station_rates[{index}]"), rate);
        rates.iter().enumerate().map(speed).collect()
    }

    fn rules(&self, at: &str) -> Result<Rules, ScenarioError> {
        Ok(Rules {
            data: speed(format!("{at}.rate"), self.rate)?,
            basic: speed(format!("{at}.basic_rate"), self.basic_rate)?,
            preamble: match self.preamble {
                WlanPreamble::Long => Preamble::Long,
                WlanPreamble::Short => Preamble::Short,
            },
            cw_min: self.cw_min,
            cw_max: self.cw_max,
            short_retries: self.short_retries,
            long_retries: self.long_retries,
            rts_threshold: self.rts_threshold,
            ..Rules::default()
        })
    }

    fn shadowing(&self, given: &mut Choice<'_>) -> Shadowing {
        let mut may = |field, value, usual| given.may(field, value).unwrap_or(usual);
        // Powers are counted from the threshold for reception.
        Shadowing {
            exponent: may("exponent", self.exponent, EXPONENT),
            sigma_db: may("sigma_db", self.sigma_db, SIGMA_DB),
            reference_m: may("reference_distance_m", self.reference_distance_m, REFERENCE_M),
            reference_power_dbm: may("reference_margin_db", self.reference_margin_db, REFERENCE_DB),
            receive_dbm: 0.0,
            sense_dbm: -may("sense_db", self.sense_db, SENSE_DB),
        }
    }

    /// Writes out the defaults of the losses; with `margin_db` no distance counts.
    pub(super) fn fill(&mut self) {
        if self.loss == WlanLoss::FrameError {
            self.frames.get_or_insert_default();
        }
        if self.loss != WlanLoss::Shadowing {
            return;
        }
        self.sigma_db.get_or_insert(SIGMA_DB);
        if self.margin_db.is_none() {
            self.exponent.get_or_insert(EXPONENT);
            self.reference_distance_m.get_or_insert(REFERENCE_M);
            self.reference_margin_db.get_or_insert(REFERENCE_DB);
            self.sense_db.get_or_insert(SENSE_DB);
        }
    }

    fn places(
        &self,
        at: &str,
        stations: u32,
        given: &mut Choice<'_>,
    ) -> Result<Places, ScenarioError> {
        let margin = given.may("margin_db", self.margin_db);
        let distance = given.may("distance_m", self.distance_m);
        let positions = given.may("positions", self.positions.as_ref());
        let twice = |first: &str, second: &str| {
            let problem = format!("{first} says it already");
            refuse(format!("{at}.{second}"), "", &problem, "keep one of the two")
        };
        match (margin, distance, positions) {
            (Some(margin), None, None) => Ok(Places::Margin(margin)),
            (None, Some(distance), None) => Ok(Places::Distance(distance)),
            (None, None, Some(places)) => {
                self.placed(at, stations, places.len())?;
                Ok(Places::Positions(places.clone()))
            }
            (None, None, None) => {
                let fix = "add margin_db, distance_m or positions";
                let problem = "loss = \"shadowing\" needs to know how far";
                refuse(format!("{at}.margin_db"), "", problem, fix)
            }
            (Some(_), Some(_), _) => twice("margin_db", "distance_m"),
            (Some(_), None, Some(_)) => twice("margin_db", "positions"),
            (None, Some(_), Some(_)) => twice("distance_m", "positions"),
        }
    }

    /// Whether the number of positions equals the number of stations.
    fn placed(&self, at: &str, stations: u32, places: usize) -> Check {
        if self.hidden {
            let problem = "positions say who hears whom";
            return refuse(format!("{at}.hidden"), "true", problem, "remove it");
        }
        if places == stations as usize {
            return Ok(());
        }
        let problem = format!("there are {stations} stations, one for each flow");
        let fix = "write one pair for each station";
        refuse(format!("{at}.positions"), format!("{places} places"), &problem, fix)
    }
}

/// The speed of the rate at `path`.
fn speed(path: String, rate: Rate) -> Result<Speed, ScenarioError> {
    Speed::of(rate).ok_or_else(|| {
        let fix = format!("write {}", RATES.join(", "));
        ScenarioError::new(path, rate.to_string(), "it is no rate of 802.11b", fix)
    })
}

/// Reads the cells of a scenario, and fills in where each is; the flows know their ends.
pub(super) fn read(
    scenario: &mut Scenario,
    mesh: Option<&Graph>,
) -> Result<Vec<WlanLaw>, ScenarioError> {
    let mut cells = Vec::new();
    for index in 0..scenario.wlan.len() {
        place(scenario, index, mesh)?;
        let wlan = &scenario.wlan[index];
        let at = |field: &str| format!("wlan[{index}].{field}");
        if wlan.cw_min > wlan.cw_max {
            let fix = format!("write {} to {WINDOW_MAX}", wlan.cw_min);
            return refuse(at("cw_max"), wlan.cw_max.to_string(), "no largest window", fix);
        }
        let stations = stations(scenario, wlan);
        if !(1..=STATIONS_MAX).contains(&stations) {
            let problem = format!("it has {stations} stations, one for each flow that ends there");
            let fix = format!("let 1 to {STATIONS_MAX} flows begin or end there");
            return refuse(format!("wlan[{index}]"), "", &problem, fix);
        }
        cells.push(wlan.law(&format!("wlan[{index}]"), stations)?);
    }
    if !scenario.wlan.is_empty() && !scenario.demand.is_empty() {
        let fix = "write [[flows]] in place of [[demand]], or remove [[wlan]]";
        return refuse("demand", "", "a station has one flow, from the beginning", fix);
    }
    Ok(cells)
}

/// Packets of all flows that cross a cell fit into a frame.
pub(super) fn fits(scenario: &Scenario, flow: usize, table: &str, config: &Config) -> Check {
    let one = &scenario.flows()[flow];
    let crosses = scenario.wlan.iter().any(|wlan| wlan.seats(one) != [false; 2]);
    // The SACK blocks that a segment carries come on top.
    let blocks = config.sack_block_size.get() * u64::from(config.sack_blocks);
    let most = PACKET_MAX - if one.reverse.is_some() { blocks.min(PACKET_MAX) } else { 0 };
    if !crosses || config.segment_size.get() <= most {
        return Ok(());
    }
    let (value, problem) = (config.segment_size.to_string(), "it fits into no frame of 802.11");
    let fix = format!("write at most \"{most} B\"");
    refuse(format!("{table}.segment_size"), value, problem, fix)
}

impl Wlan {
    /// Whether the sender, and the receiver, of a flow is a station.
    #[must_use]
    pub fn seats(&self, flow: &super::Flow) -> [bool; 2] {
        match (&self.node, self.side) {
            (Some(node), _) => [flow.from.as_ref() == Some(node), flow.to.as_ref() == Some(node)],
            (None, Some(Side::Sender)) => [true, false],
            (None, _) => [false, true],
        }
    }
}

/// How many stations a cell has: one for each flow that begins or ends there.
pub(super) fn stations(scenario: &Scenario, wlan: &Wlan) -> u32 {
    let of = |flow: &super::Flow| u64::from(wlan.seats(flow) != [false; 2]) * u64::from(flow.count);
    u32::try_from(scenario.flows().iter().map(of).sum::<u64>()).unwrap_or(u32::MAX)
}

/// Fills in where a cell is.
fn place(scenario: &mut Scenario, index: usize, mesh: Option<&Graph>) -> Check {
    let path = scenario.kind().is_path();
    let (before, rest) = scenario.wlan.split_at_mut(index);
    let wlan = &mut rest[0];
    let at = |field: &str| format!("wlan[{index}].{field}");
    match mesh {
        None => {
            debug_assert!(path, "what is no mesh is a path");
            if let Some(node) = &wlan.node {
                let fix = "write side = \"sender\" or side = \"receiver\" in its place";
                return refuse(at("node"), format!("{node:?}"), "it belongs to a mesh", fix);
            }
            let side = *wlan.side.get_or_insert(Side::Receiver);
            if before.iter().any(|other| other.side == Some(side)) {
                let problem = "there is a cell already";
                return refuse(
                    at("side"),
                    word(&side),
                    problem,
                    "name the other side, or remove it",
                );
            }
        }
        Some(graph) => {
            if let Some(side) = wlan.side {
                let fix = "name an edge node: node = \"...\"";
                return refuse(at("side"), word(&side), "it belongs to a path", fix);
            }
            let edges = graph.edges();
            let last = edges.last().map(|&node| graph.name(node).to_string());
            let node = wlan.node.get_or_insert_with(|| last.unwrap_or_default()).clone();
            if !edges.iter().any(|&edge| graph.name(edge) == node) {
                let names = edges.iter().map(|&edge| graph.name(edge)).take(20);
                let names = names.collect::<Vec<_>>().join(", ");
                let fix = format!("write the name of an edge node: {names}");
                return refuse(at("node"), format!("{node:?}"), "it is no edge node", fix);
            }
            if before.iter().any(|other| other.node.as_ref() == Some(&node)) {
                let problem = "there is a cell already";
                return refuse(at("node"), format!("{node:?}"), problem, "name another node");
            }
        }
    }
    Ok(())
}
