//! The rooms of a world: hosts know no optics, the core knows no TCP, links know neither, and none
//! of them the loop. They share the modules next to it: packets, events, the clock.

use crate::tree::Tree;

const WORLD: &str = "crates/sim/src/world/";
const ROOMS: [&str; 3] = ["hosts", "access", "core"];
/// Modules of the world that every room may use.
const SHARED: [&str; 9] = [
    "ahead::policy",
    "context",
    "events",
    "keys",
    "notices",
    "packet",
    "tie_key",
    "surgery",
    "train",
];
/// Types that the core sends to senders; all else of TCP is none of its business.
const MESSAGES: [&str; 3] = ["Listens", "NakDelay", "Notice"];
/// Crates that rooms must not use.
const REFUSED: [(&str, &str); 3] =
    [("hosts", "burstlab_optical"), ("hosts", "burstlab_link"), ("access", "burstlab_tcp")];
/// The kinds of core, which only the core distinguishes.
const KINDS: [&str; 2] = ["Core::Bursts", "Core::Slots"];

pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.ends_with(".rs")) {
        let Some(file) = path.strip_prefix(WORLD) else { continue };
        let room = file.split('/').next().filter(|room| ROOMS.contains(room));
        for (index, line) in text.lines().enumerate() {
            let mut found = Vec::new();
            match room {
                Some(room) => check_line(room, file, line, &mut found),
                None => found.extend(
                    KINDS
                        .iter()
                        .filter(|kind| line.contains(**kind))
                        .map(|kind| format!("{kind} is for the core alone")),
                ),
            }
            let place = format!("{path}:{}", index + 1);
            problems.extend(found.into_iter().map(|problem| format!("{place}: {problem}")));
        }
    }
    problems
}

fn check_line(room: &str, file: &str, line: &str, found: &mut Vec<String>) {
    let code = line.split("//").next().unwrap_or("");
    let at_the_door = file == format!("{room}/mod.rs");
    let doors: &[&str] = if at_the_door && code.starts_with("use super::") {
        &["crate::world::", "use super::"]
    } else {
        &["crate::world::", "super::super::super::"]
    };
    for rest in doors.iter().flat_map(|door| code.split(door).skip(1)) {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let shared =
            |shared: &&str| shared.split("::").next() == Some(&name) && rest.starts_with(*shared);
        if name != room && !SHARED.iter().any(shared) && name != "in" && !name.is_empty() {
            found.push(format!("{room} must not use {name} of the world"));
        }
    }
    if REFUSED.iter().any(|(who, what)| *who == room && code.contains(what)) {
        found.push(format!("{room} must not know what it imports here"));
    }
    if room == "core"
        && let Some(names) = code.strip_prefix("use burstlab_tcp::")
    {
        let names = names.trim_end_matches(';').trim_matches(['{', '}']);
        let strange = names.split(", ").find(|name| !MESSAGES.contains(name));
        found.extend(strange.map(|name| format!("core must not know {name} of TCP")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(file: &str, line: &str) -> usize {
        check(&Tree::of(&[(&format!("{WORLD}{file}"), line)])).len()
    }

    #[test]
    fn rooms_use_what_they_share_and_themselves() {
        assert_eq!(problems("core/edge/mod.rs", "use crate::world::packet::Packet;"), 0);
        assert_eq!(problems("core/edge/mod.rs", "use crate::world::core::flows::Flows;"), 0);
        assert_eq!(problems("core/mod.rs", "use super::context::Context;"), 0);
        assert_eq!(problems("core/mod.rs", "use super::ahead::policy::Lookahead;"), 0);
        assert_eq!(problems("core/account/notify.rs", "use burstlab_tcp::{NakDelay, Notice};"), 0);
        assert_eq!(problems("transit.rs", "use super::core::Core;"), 0);
        assert_eq!(problems("hosts/flow.rs", "pub(in crate::world) fn f() {}"), 0);
    }

    #[test]
    fn rooms_know_nothing_of_one_another_and_of_the_loop() {
        for (file, line) in [
            ("core/edge/mod.rs", "use crate::world::hosts::Flow;"),
            ("core/mod.rs", "use super::hosts::Flow;"),
            ("core/mod.rs", "use burstlab_tcp::Sender;"),
            ("hosts/demand.rs", "use crate::world::World;"),
            ("hosts/demand.rs", "use crate::world::core::Core;"),
            ("hosts/demand.rs", "use crate::world::ahead::runs::Sending;"),
            ("hosts/demand.rs", "use burstlab_optical::Assembler;"),
            ("access/wlan.rs", "use burstlab_tcp::Ack;"),
            ("report.rs", "        if let Core::Slots(ops) = &self.core {"),
        ] {
            assert_eq!(problems(file, line), 1, "{file}: {line}");
        }
    }
}
