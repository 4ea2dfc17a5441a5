//! noq-proto with BBRv3 through an outage that takes the end of a flight and its first probes.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn an_outage_costs_time_outs_and_no_data() {
    let lab = Lab::path().losing_bursts(60..=100).carrying(1_000_000);
    let run = lab.run(AllStacks::shared(), "noq", Some("bbr3")).expect("it is sound");
    assert!(run.acknowledged_after_s().is_some(), "it ends");
    assert!(run.reactions().iter().any(|one| one.kind == "timeout"), "it probes");
}
