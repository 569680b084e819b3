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
#[cfg(feature = "postgres")]
mod many_hosts;
mod slow_requests;
mod verify_id_token;
mod web_form;
mod web_login;
mod workbook;

use std::env::consts::EXE_SUFFIX;

use processes::Program;

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
fn each_application_prints_its_usage() {
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
    }
}

#[test]
fn each_command_of_many_hosts_has_the_option_for_help() {
    for command in ["add", "write", "host", "host --jobs 3", "status"] {
        let arguments = command.split(' ').chain(["--help"]);
        let ended = app("many_hosts").args(arguments).run().well();
        assert!(
            ended.stdout.starts_with("usage: many_hosts"),
            "{command}: {ended:?}"
        );
    }
}

#[test]
fn wrong_arguments_are_refused_with_their_name_and_the_usage() {
    for (name, arguments, named) in [
        ("check_pics", "--bogus", "--bogus"),
        ("custom_operation", "--bogus", "--bogus"),
        ("many_hosts", "--bogus", "--bogus"),
        ("many_hosts", "--schema A", "--schema"),
        ("many_hosts", "host --jobs 0", "--jobs"),
        ("many_hosts", "write envd-1", "INPUT.json"),
        ("many_hosts", "add", "ACCOUNT"),
        ("verify_id_token", "--bogus", "--bogus"),
        ("web_form", "--bogus", "--bogus"),
        ("web_login", "--bogus", "--bogus"),
        ("check_pics", "one two", "two"),
        ("check_pics", "--csv", "--csv"),
        ("check_pics", "--column", "--column"),
        ("check_pics", "--sheet", "--sheet"),
        ("check_pics", "--resume", "--csv OUT"),
        ("web_form", "more", "more"),
        ("web_form", "--port 65536", "--port"),
        ("web_login", "--port http", "--port"),
        ("web_login", "--address ftp://desk.example/", "--address"),
        ("web_login", "--address https://a.example/app", "--address"),
        ("web_login", "--address https://me@a.example/", "--address"),
        // Without --serve the address is of no use.
        ("web_login", "--address https://desk.example/", "--address"),
    ] {
        let ended = app(name).args(arguments.split(' ')).run().mute(2);
        let problem = ended.stderr.lines().next().unwrap();
        assert!(problem.contains(named), "{name} {arguments}: {problem}");
        ended.says(&format!("usage: {name}"));
    }
}

#[test]
fn without_arguments_they_play_or_name_what_is_missing() {
    let own = app("custom_operation").run().well();
    own.shows("The overridden operation read 3 accounts.");
    let verified = app("verify_id_token").run().well();
    verified
        .shows("1. The signature of the id token is verified.")
        .shows("2. A forged one: the login was refused (id_token_check): InvalidAlgorithm.")
        .shows("3. A new key: the login was refused (id_token_check): its key is not known.")
        .shows("4. The next login has fetched it, and passes.");
    let visit = app("web_login").run().well();
    assert!(visit.stdout.lines().all(|line| line.starts_with("ok: ")));
    visit.shows("after the logout the session is gone");
    app("many_hosts")
        .run()
        .well()
        .shows("DATABASE_URL is not set");
}
