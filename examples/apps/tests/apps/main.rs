//! The applications as a user runs them: as processes, by their arguments, exit codes and output.

#[path = "../../src/server/bodies.rs"]
mod bodies;
mod check_pics;
#[path = "../../src/server/connections.rs"]
mod connections;
mod derived_save;
mod first_contact;
#[path = "../../src/bin/verify_id_token/keys.rs"]
mod keys;
mod line_ends;
#[cfg(feature = "postgres")]
mod many_hosts;
mod slow_requests;
mod verify_id_token;
mod web_form;
mod web_login;
mod workbook;

use std::env::consts::EXE_SUFFIX;

use processes::Program;
use processes::stories::{Stage, play};
use processes::table;

const APPS: [(&str, &str); 7] = [
    ("check_pics", env!("CARGO_BIN_EXE_check_pics")),
    ("custom_operation", env!("CARGO_BIN_EXE_custom_operation")),
    ("first_contact", env!("CARGO_BIN_EXE_first_contact")),
    ("many_hosts", env!("CARGO_BIN_EXE_many_hosts")),
    ("verify_id_token", env!("CARGO_BIN_EXE_verify_id_token")),
    ("web_form", env!("CARGO_BIN_EXE_web_form")),
    ("web_login", env!("CARGO_BIN_EXE_web_login")),
];

/// An application without arguments.
fn app(name: &str) -> Program {
    let (_, path) = APPS.iter().find(|(known, _)| *known == name).unwrap();
    Program::new(path.trim_end_matches(EXE_SUFFIX))
}

#[test]
fn each_application_prints_its_usage_and_refuses_other_options() {
    for (name, _) in APPS {
        for option in ["--help", "-h"] {
            let ended = app(name).arg(option).run().well();
            let usage = &ended.stdout;
            assert!(usage.starts_with(&format!("usage: {name}")), "{usage}");
            // The help describes the application in lines that fit a terminal.
            assert!(usage.lines().count() > 2, "{usage}");
            assert!(
                usage.lines().all(|line| line.chars().count() <= 120),
                "{usage}"
            );
        }
        let ended = app(name).arg("--bogus").run().mute(2).says("--bogus");
        ended.says(&format!("usage: {name}"));
    }
}

#[tokio::test]
async fn stories() {
    let stage = Stage {
        program: app,
        ..Stage::default()
    };
    play(table!("apps.txt"), stage).await;
}
