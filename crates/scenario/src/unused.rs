//! Statements of a scenario that a run never reaches: starts after the end, a drain with nothing to
//! wait for, marks that no sender reacts to, samples that always fall at the same place.

use super::{Course, Demand, DemandLaw, Flow, Marks, NotEct, Pattern, Scenario};
use burstlab_units::{Serializer, Span, Time};

/// A run is the time from 0 up to `run.duration`, which is no more part of it: what would begin
/// then never does.
pub(super) fn warnings(scenario: &Scenario, demand: &[DemandLaw], heeded: bool) -> Vec<String> {
    let end = scenario.run.duration;
    let mut found = late_flows(scenario.flows(), end);
    found.extend(late_entries(scenario));
    found.extend(late_failures(scenario));
    for (index, one) in scenario.demand.iter().zip(demand).enumerate() {
        found.extend(late_rows(&format!("demand[{index}]"), one, end));
    }
    found.extend(idle_drain(scenario));
    found.extend(unheeded_marks(scenario, heeded));
    found.extend(looks_in_step(scenario));
    found.extend(looks_too_rare(scenario));
    found.extend(super::idle_classes::warnings(scenario));
    found
}

/// Warns that the entry at `path` begins too late, at `at`.
fn late(path: &str, at: Time, end: Span, what: &str) -> Option<String> {
    (at >= Time::ZERO + end).then(|| {
        format!(
            "{path}: {what} would begin at {at}, and the run is over at run.duration = {end}: \
             write an earlier time, or a longer run.duration",
            at = at.since(Time::ZERO)
        )
    })
}

/// Flows, and writes of them, that never begin.
fn late_flows(flows: &[Flow], end: Span) -> Vec<String> {
    let mut found = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        let at = format!("flows[{index}]");
        let start = Time::ZERO + flow.start;
        if let Some(line) = late(&format!("{at}.start"), start, end, "the flow") {
            found.push(line);
            continue;
        }
        let copies = u64::from(flow.count.max(1));
        let last = start.saturating_add(flow.stagger.saturating_mul(copies - 1));
        let begun = (end - flow.start).as_ps().div_ceil(flow.stagger.as_ps().max(1));
        let what = format!("the last of {copies} flows, of which {begun} begin,");
        found.extend(late(&format!("{at}.stagger"), last, end, &what));
        found.extend(wide_spread(&at, flow, end));
        if let Some(back) = flow.reverse.as_ref().filter(|back| !back.reply) {
            let begins = start.saturating_add(back.start);
            found.extend(late(&format!("{at}.reverse.start"), begins, end, "the flow back"));
        }
        for (n, write) in flow.script.iter().flatten().enumerate() {
            let path = format!("{at}.script[{n}].at");
            let line = late(&path, start.saturating_add(write.at), end, "the write");
            if line.is_some() {
                found.extend(line);
                break;
            }
        }
    }
    found
}

/// A spread by which some flows begin after the end: each start is drawn, all equally likely.
fn wide_spread(at: &str, flow: &Flow, end: Span) -> Option<String> {
    let room = end - flow.start;
    (flow.spread > room).then(|| {
        format!(
            "{at}.spread = {}: a flow begins with probability {:.2} only, as the run is over at \
             run.duration = {end}; write a shorter spread, or a longer run.duration",
            flow.spread,
            room.as_secs_f64() / flow.spread.as_secs_f64(),
        )
    })
}

/// Entries of other tables of which nothing ever begins.
fn late_entries(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<(String, Time, &str)> = Vec::new();
    let mut note = |path: String, at: Span, what: &'static str| {
        all.push((path, Time::ZERO + at, what));
    };
    for (index, one) in scenario.demand.iter().enumerate() {
        note(format!("demand[{index}].start"), one.start, "its first connection");
    }
    for (index, one) in scenario.traffic.iter().enumerate() {
        note(format!("traffic[{index}].start"), one.start, "its first packet");
    }
    for (index, one) in scenario.bursts.iter().enumerate() {
        note(format!("bursts[{index}].start"), one.start, "its first burst");
    }
    for (index, one) in scenario.batches.iter().enumerate() {
        note(format!("batches[{index}].start"), one.start, "its first batch");
    }
    for (index, one) in scenario.live.iter().enumerate() {
        note(format!("live[{index}].start"), one.start, "the program");
    }
    for (index, one) in scenario.traffic.iter().enumerate().filter(|one| one.1.phase.is_some()) {
        if one.start < scenario.run.duration {
            let first = (Time::ZERO + one.start).saturating_add(one.phase.unwrap_or_default());
            all.push((format!("traffic[{index}].phase"), first, "its first packet"));
        }
    }
    let end = scenario.run.duration;
    all.into_iter().filter_map(|(path, at, what)| late(&path, at, end, what)).collect()
}

/// Failures, and changes of routes after them, that no burst meets. Failures continue while a run
/// drains.
fn late_failures(scenario: &Scenario) -> Vec<String> {
    let run = &scenario.run;
    let end = (Time::ZERO + run.duration).saturating_add(run.drain.unwrap_or_default());
    let fields = match run.drain {
        Some(_) => "run.duration + run.drain",
        None => "run.duration",
    };
    let line = |path: String, at: Time, what: &str| {
        (at >= end).then(|| {
            format!(
                "{path}: {what} would begin at {at}, and the run is over at {fields} = {end}: \
                 write an earlier time, or a longer run.duration",
                at = at.since(Time::ZERO),
                end = end.since(Time::ZERO),
            )
        })
    };
    let mut found = Vec::new();
    for (index, one) in scenario.failures.iter().enumerate() {
        let down = Time::ZERO + one.down;
        let path = format!("failures[{index}]");
        if let Some(late) = line(format!("{path}.down"), down, "the failure") {
            found.push(late);
            continue;
        }
        let routes = one.reroute.map(|after| down.saturating_add(after));
        let path = format!("{path}.reroute");
        found.extend(routes.and_then(|at| line(path, at, "the change of routes")));
    }
    found
}

/// Rows of a trace of which no connection comes.
fn late_rows(at: &str, (demand, law): (&Demand, &DemandLaw), end: Span) -> Option<String> {
    let Course::Trace(rows) = &law.course else { return None };
    let end =
        demand.stop.filter(|&stop| stop < end).map_or(("run.duration", end), |stop| ("stop", stop));
    let starts = |row: &super::Traced| (Time::ZERO + demand.start).saturating_add(row.start);
    let in_time = rows.partition_point(|row| starts(row) < Time::ZERO + end.1);
    let first = rows.get(in_time)?;
    let (lost, all) = (rows.len() - in_time, rows.len());
    Some(format!(
        "{at}.trace: {lost} of {all} rows never begin: the first of them would at {}, and {} = {} \
         ends the arrivals; write a later {}, or leave the rows out",
        starts(first).since(Time::ZERO),
        end.0,
        end.1,
        end.0,
    ))
}

/// A drain in which no transfer can end.
fn idle_drain(scenario: &Scenario) -> Option<String> {
    let drain = scenario.run.drain?;
    let finite = |flow: &Flow| {
        let back = flow.reverse.as_ref();
        let back = back.is_some_and(|back| back.bytes.is_some() || back.script.is_some());
        // The data of a live host end with its program.
        flow.bytes.is_some() || flow.script.is_some() || back
    };
    let any = scenario.flows().iter().any(finite) || !scenario.demand.is_empty();
    (!any && scenario.live.is_empty()).then(|| {
        format!(
            "run.drain = {drain} has no effect: it waits for finite transfers, and there are none; \
             remove it, or give flows bytes or a script"
        )
    })
}

/// Queues that mark packets of which none may be marked, and drop none in place of that.
fn unheeded_marks(scenario: &Scenario, heeded: bool) -> Vec<String> {
    if heeded {
        return Vec::new();
    }
    let passes = |marks: &Marks| marks.not_ect == NotEct::Pass;
    let marking = scenario.markings().filter(|(_, marks)| passes(marks)).map(|(path, _)| {
        format!(
            "{path} marks nothing: no sender lets its packets be marked; write variant = \"linux\" \
             and ecn = true in [tcp] or of a flow, ecn = true of a flow with a stack, or remove it"
        )
    });
    marking.collect()
}

/// Looks at the network of which none comes up to the end.
fn looks_too_rare(scenario: &Scenario) -> Vec<String> {
    let run = &scenario.run;
    let looks = [("run.sample", run.sample), ("run.occupancy", run.occupancy)];
    let looks = looks.into_iter().filter_map(|(path, every)| Some((path, every?)));
    let rare = looks.filter(|(_, every)| *every > run.duration).map(|(path, every)| {
        format!(
            "{path} = {every} has no effect: the run is over before, at run.duration = {}; write a \
             shorter time",
            run.duration
        )
    });
    rare.collect()
}

/// Samples of the network that fall on one point of each round or period.
fn looks_in_step(scenario: &Scenario) -> Vec<String> {
    let mut steps: Vec<(String, Span)> = Vec::new();
    for (index, one) in scenario.demand.iter().enumerate() {
        steps.extend(one.every.map(|every| (format!("demand[{index}].every"), every)));
    }
    for (index, one) in scenario.traffic.iter().enumerate() {
        if one.pattern == Pattern::Cbr {
            let gap = Serializer::new(one.rate).next(one.packet_size);
            steps.push((format!("the packets of traffic[{index}], one each"), gap));
        }
        let even = one.pattern == Pattern::Periodic && one.period_jitter.unwrap_or(0.0) == 0.0;
        steps.extend(even.then(|| (format!("traffic[{index}].period"), one.period())));
    }
    let run = &scenario.run;
    let looks = [("run.sample", run.sample), ("run.occupancy", run.occupancy)];
    let mut found = Vec::new();
    for (path, look) in looks.into_iter().filter_map(|(path, every)| Some((path, every?))) {
        let in_step = |step: &&(String, Span)| look.as_ps().is_multiple_of(step.1.as_ps().max(1));
        if let Some((field, step)) = steps.iter().find(in_step) {
            found.push(format!(
                "{path} = {look} is a multiple of {field} = {step}: each look falls at the same \
                 place of a round and says nothing of the rest; write a time that is no multiple \
                 of it, such as {}",
                Span::from_ps((look.as_ps() as f64 * 0.382) as u64),
            ));
        }
    }
    found
}
