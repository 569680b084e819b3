//! `sync_account` after failures, and with a closed pipe.

use std::io::Read;

use envd_sdk::fake::{Fake, Fault, World};
use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
use processes::{Ended, Folder, Program};
use serde_json::Value;

/// A fake with a given number of records, and a store file.
struct Farm {
    fake: Fake,
    folder: Folder,
}

impl Farm {
    async fn with(records: usize) -> Self {
        let from = PartyInput::new("QAZZ7777");
        let to = PartyInput::new("QDZZ3333");
        let input = ConsignmentInput::new([FormType::Lpac1], from, to);
        let input = input.status(ConsignmentStatus::Draft);
        let world = (0..records).fold(World::sample(), |world, _| {
            world.consignment("envd-100201", input.clone())
        });
        Self {
            fake: Fake::builder().world(world).start().await.unwrap(),
            folder: Folder::new(),
        }
    }

    fn program(&self) -> Program {
        let program = Program::new("sync_account").at(&self.fake);
        let program = program.arg("--store").arg(self.folder.path("farm.db"));
        program.arg("--json")
    }

    /// Runs the program, checks that the last line is the report, and returns the sequence numbers of the changes.
    fn run(&self) -> Vec<u64> {
        let mut lines = self.program().run().well().lines();
        assert_eq!(lines.pop().unwrap()["report"]["clean"], true);
        sequences(&lines)
    }
}

fn sequences(changes: &[Value]) -> Vec<u64> {
    let sequences = changes.iter().map(|change| change["sequence"].as_u64());
    sequences.map(Option::unwrap).collect()
}

#[tokio::test]
async fn a_failed_sync_shows_what_it_copied_and_no_report() {
    let farm = Farm::with(120).await;
    let failing = farm.fake.on_operation("Consignments");
    failing
        .fault(Fault::none())
        .refuse("BROKEN", "the second page is broken")
        .times(20);
    let first = farm.program().run().with(1).fails().lines();
    assert_eq!(first.len(), 100);
    farm.fake.clear_scripts();
    let all = [sequences(&first), farm.run()].concat();
    assert!(all.into_iter().eq(1..=128));
}

/// More lines than a pipe holds, so that the program is still writing when the test ends it.
const TOO_MANY: usize = 1_300;

#[tokio::test]
async fn a_closed_stdout_acknowledges_nothing() {
    let farm = Farm::with(TOO_MANY).await;
    let mut child = farm.program().piped();
    let mut some = [0];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    // Close the pipe, as `head` does.
    assert_eq!(Ended::of(child).with(0).stderr, "");
    assert_eq!(farm.run()[0], 1);
}
