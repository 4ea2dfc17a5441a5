//! noq-proto where packets overtake each other: what it takes for lost and is not, is told apart.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn reordering_is_no_loss() {
    let lab = Lab::reordering().carrying(3_000_000);
    let run = lab.run(AllStacks::shared(), "noq", Some("cubic")).expect("it is sound");
    let spurious = run.reactions().iter().filter(|one| one.kind.starts_with("spurious")).count();
    let flow = &run.summary().flows[0];
    assert_eq!(spurious as u64, flow.spurious_retransmissions, "{flow:?}");
    assert!(flow.retransmissions >= flow.packets_lost, "{flow:?}");
}
