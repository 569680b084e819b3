//! Exit codes, `--help` and invalid arguments of every example.

use std::fs;
use std::path::Path;

use super::program::Program;

/// The names of all examples, as cargo finds them.
fn example_names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_example =
            path.join("main.rs").exists() || path.extension().is_some_and(|e| e == "rs");
        let name = path.file_stem().unwrap().to_str().unwrap();
        // Built with the feature `postgres` only.
        if is_example && (name != "many_hosts" || cfg!(feature = "postgres")) {
            names.push(name.to_owned());
        }
    }
    assert!(names.len() > 10);
    names
}

#[test]
fn every_example_prints_its_usage() {
    for name in example_names() {
        for option in ["--help", "-h"] {
            let ended = Program::new(&name).arg(option).run();
            assert_eq!(ended.code, Some(0), "{name} {option}: {ended:?}");
            assert!(
                ended.stdout.starts_with(&format!("usage: {name}")),
                "{name} {option}: {ended:?}"
            );
            assert_eq!(ended.stderr, "", "{name} {option}");
            // The help describes the example in lines that fit a terminal.
            assert!(
                ended.stdout.lines().count() > 2,
                "{name} {option}: {ended:?}"
            );
            let longest = ended.stdout.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(120), "{name} {option}: {ended:?}");
        }
    }
}

#[test]
fn every_example_refuses_an_unknown_option() {
    for name in example_names() {
        let ended = Program::new(&name).arg("--bogus").run();
        assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
        assert_eq!(ended.stdout, "", "{name}");
        assert!(ended.stderr.contains("--bogus"), "{name}: {ended:?}");
        assert!(
            ended.stderr.contains(&format!("usage: {name}")),
            "{name}: {ended:?}"
        );
    }
}

#[test]
fn a_wrong_value_is_refused_with_the_name_of_its_option() {
    for [name, option, value] in [
        ["page_consignments", "--page-size", "0"],
        ["page_consignments", "--page-size", "-1"],
        ["page_consignments", "--page-size", "many"],
        ["page_consignments", "--since", "yesterday"],
        ["page_consignments", "--since", "2026-02-30"],
        ["sync_account", "--overlap", "-1"],
        ["sync_account", "--overlap", "soon"],
        ["sync_account", "--consumer", ""],
        ["sync_account", "--consumer", "a\nb"],
        ["outbox", "--settle", "-1"],
        ["outbox", "--for", "soon"],
        ["outbox", "--lease", "NaN"],
        ["outbox", "--not-after", "tomorrow"],
        ["validate", "--today", "tomorrow"],
        ["serve_fake", "--port", "65536"],
        ["serve_fake", "--latency", "1s"],
        ["serve_fake", "--token-lifetime", "-1"],
        ["serve_fake", "--world", "/no/such/folder"],
        ["web_login", "--port", "http"],
        ["web_login", "--address", "ftp://desk.example/"],
        ["web_login", "--address", "https://desk.example/app"],
        ["web_login", "--address", "https://user@desk.example/"],
        // Without --serve the address is of no use.
        ["web_login", "--address", "https://desk.example/"],
        ["web_form", "--port", "65536"],
        ["login", "--redirect-port", "-1"],
        ["login", "--redirect-path", "callback"],
        ["access_token", "--redirect-port", "x"],
    ] {
        let ended = Program::new(name).args([option, value]).run();
        assert_eq!(ended.code, Some(2), "{name} {option} {value}: {ended:?}");
        assert_eq!(ended.stdout, "", "{name} {option} {value}");
        let problem = ended.stderr.lines().next().unwrap();
        assert!(
            problem.contains(option),
            "{name} {option} {value}: {problem}"
        );
    }
}

#[test]
fn an_option_without_its_value_is_refused() {
    for [name, option] in [
        ["answer_questions", "--out"],
        ["answer_questions", "--resume"],
        ["check_pics", "--csv"],
        ["check_pics", "--column"],
        ["check_pics", "--sheet"],
        ["page_consignments", "--resume"],
        ["schema_drift", "--endpoint"],
        ["serve_fake", "--port"],
        ["sync_account", "--store"],
        ["outbox", "--store"],
        ["outbox", "--base"],
        ["login", "--store"],
    ] {
        let ended = Program::new(name).arg(option).run();
        assert_eq!(ended.code, Some(2), "{name} {option}: {ended:?}");
        assert!(ended.stderr.contains(option), "{name} {option}: {ended:?}");
    }
}

#[test]
fn surplus_arguments_are_refused() {
    for name in [
        "quickstart",
        "page_consignments",
        "answer_questions",
        "sync_account",
        "offline_farm",
        "outbox",
        "login",
        "web_form",
    ] {
        let ended = Program::new(name).arg("more").run();
        assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
    }
    for name in ["check_pics", "validate"] {
        let ended = Program::new(name).args(["one", "two"]).run();
        assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
        assert!(ended.stderr.contains("two"), "{name}: {ended:?}");
    }
}

#[test]
fn an_address_without_http_fails() {
    for name in [
        "quickstart",
        "find_property",
        "page_consignments",
        "schema_drift",
    ] {
        let mut program = Program::new(name);
        program
            .0
            .env("ENVD_GRAPHQL_URL", "ftp://127.0.0.1:1/")
            .env("ENVD_REGISTER_URL", "ftp://127.0.0.1:1/")
            .env("ENVD_ACCESS_TOKEN", "token");
        let ended = program.run();
        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        assert!(ended.stderr.starts_with("error: "), "{name}: {ended:?}");
    }
}
