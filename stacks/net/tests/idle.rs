//! The page of questions says what the example `idle` gives, to the digits it has.

#[path = "../examples/idle.rs"]
mod idle;

use burstlab_stacks::AllStacks;
use idle::{Shown, all};

/// The page, its lines joined.
fn page() -> String {
    let page = include_str!("../../../docs/howto/questions.md");
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of<'a>(runs: &'a [Shown], question: &str, sender: &str) -> Vec<&'a Shown> {
    runs.iter().filter(|one| (one.question, one.sender.as_str()) == (question, sender)).collect()
}

fn says(text: &str) {
    assert!(page().contains(text), "the page does not say: {text}");
}

fn has_quiche() -> bool {
    AllStacks::shared().names().contains(&"quiche")
}

#[test]
fn what_a_pause_does() {
    let runs = all(Some("pause"));
    let senders = [("quinn cubic", "quinn"), ("noq cubic", "noq"), ("quiche cubic", "quiche")];
    for (sender, name) in senders.into_iter().filter(|(_, name)| *name != "quiche" || has_quiche())
    {
        let all = of(&runs, "pause", sender);
        let after: Vec<String> = all.iter().map(|one| format!("{:.0}", one.after)).collect();
        let lost: Vec<String> = all.iter().map(|one| one.lost.to_string()).collect();
        let (after, lost) = (after.join(" | "), lost.join(" | "));
        says(&format!("| {name} CUBIC | {:.0} | {after} | {lost} |", all[0].before));
    }
    let quinn = of(&runs, "pause", "quinn cubic");
    let [short, long] = [quinn[0], quinn[3]].map(|one| format!("{:.2}", one.took_s));
    says(&format!("{short} s after 0.1 s, and {long} s after 20 s"));
    says(&format!("a pause of 20 s costs quinn {} packets", quinn[3].lost));
}

#[test]
fn what_a_trickle_does() {
    let runs = all(Some("trickle"));
    let window = |sender: &str, at_s: f64| {
        let all = of(&runs, "trickle", sender);
        let one = all.iter().find(|one| one.x_s == at_s).expect("it was looked at");
        format!("{:.0}", one.before)
    };
    let [first, tenth, last] = [1.0, 10.0, 40.0].map(|at| window("quinn bbr", at));
    says(&format!("{first} packets after 1 s, {tenth} after 10 s, and {last} after 40 s"));
    let grown = last.parse::<f64>().expect("it is a number") / 140.0;
    says(&format!("{:.0} times the capacity of path and queue", grown.floor()));
    let cubic = [window("quinn cubic", 40.0), window("noq cubic", 40.0)];
    assert_eq!(cubic[0], cubic[1]);
    let bbr3 = window("noq bbr3", 40.0);
    says(&format!("CUBIC of quinn and noq has {} packets, BBRv3 of noq {bbr3}", cubic[0]));
    if has_quiche() {
        let [cubic, bbr2] = ["quiche cubic", "quiche bbr2"].map(|one| window(one, 40.0));
        says(&format!("CUBIC of quiche {cubic}, and BBR2 of quiche {bbr2}"));
    }
}

#[test]
fn what_comes_after_a_trickle() {
    let runs = all(Some("after-a-trickle"));
    let noq = of(&runs, "after-a-trickle", "noq bbr3");
    says(&format!("take {:.2} s without a trickle", noq[0].took_s));
    let [two, ten, thirty] = [1, 2, 3].map(|place| format!("{:.1}", noq[place].took_s));
    says(&format!("they take {two}, {ten} and {thirty} s"));
    assert!(noq[1..].iter().all(|one| format!("{:.0}", one.before) == "4"));
    let range = |sender: &str| {
        let times = of(&runs, "after-a-trickle", sender).into_iter().map(|one| one.took_s);
        let (least, most) = times.fold((f64::MAX, 0.0_f64), |(l, m), t| (l.min(t), m.max(t)));
        format!("{least:.2} to {most:.2} s")
    };
    says(&format!("BBR of quinn needs {}", range("quinn bbr")));
    let lost = |sender: &str| of(&runs, "after-a-trickle", sender)[3].lost;
    says(&format!("quinn loses {} packets and noq {}", lost("quinn cubic"), lost("noq cubic")));
    if has_quiche() {
        says(&format!("BBR2 of quiche {}", range("quiche bbr2")));
        says(&format!("quiche loses {}", lost("quiche cubic")));
    }
}
