//! `outbox run` while it keeps running.

use envd_sdk::fake::Fake;
use processes::{Folder, Program, Signal};
use serde_json::Value;

#[tokio::test]
async fn a_run_that_goes_on_sends_what_others_write_and_ends_with_a_report() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let input = r#"{"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}}"#;
    folder.write("in.json", input);
    let program = |arguments: [&str; 2]| {
        let program = Program::new("outbox").within(&folder.path(""));
        program.args(["--store", "farm.db"]).args(arguments)
    };
    let mut run = program(["run", "--json"]).at(&fake).start();
    for number in ["1", "2"] {
        program(["add", "in.json"]).run().with(0);
        let is_end = |line: &str| {
            let change: Value = serde_json::from_str(line).expect("a change");
            change["entry"] == number && change["state"] == "confirmed"
        };
        while !is_end(&run.line()) {}
    }
    processes::signal(run.id(), Signal::INT);
    let last: Value = serde_json::from_str(&run.rest()).unwrap();
    assert_eq!(last["report"]["confirmed"], 2, "{last}");
    assert_eq!(run.wait(), Some(0));
    assert_eq!(fake.consignments::<Value>(fake.account_id()).len(), 10);
}
