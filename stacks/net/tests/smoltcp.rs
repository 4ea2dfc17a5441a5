//! smoltcp over NSFNET, where background bursts block its own.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn a_transfer_crosses_a_mesh_in_which_bursts_meet() {
    let lab = Lab::nsfnet().carrying(300_000);
    let run = lab.run(AllStacks::shared(), "smoltcp", Some("cubic")).expect("it is sound");
    assert!(
        run.acknowledged_after_s().is_some() && run.conserves(),
        "{:?}",
        run.summary().flows[0]
    );
}
