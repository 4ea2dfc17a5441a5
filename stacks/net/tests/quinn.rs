//! quinn-proto over a path on which every twentieth burst is lost.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn a_megabyte_arrives_and_every_loss_is_noticed() {
    let lab = Lab::path().losing(0.05).carrying(1_000_000);
    let run = lab.run(AllStacks::shared(), "quinn", Some("cubic")).expect("it is sound");
    assert!(run.acknowledged_after_s().expect("it ends") < 10.0, "{} Mb/s", run.goodput_mbps());
    assert_eq!(run.lost_bursts(), run.explained_bursts());
}
