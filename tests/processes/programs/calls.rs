//! Exit codes, `--help` and invalid arguments of every example.

use std::fs;
use std::path::Path;

use processes::{Ended, Folder, Program};

/// The names of all examples, as cargo finds them.
fn example_names() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["examples", "crates/envd-sync/examples"];
    let entries = folders.map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut names = Vec::new();
    for entry in entries.into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.join("main.rs").exists() || path.extension().is_some_and(|e| e == "rs") {
            names.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert!(names.len() > 12);
    names
}

#[test]
fn every_example_prints_its_usage() {
    for name in example_names() {
        for option in ["--help", "-h"] {
            let ended = Program::new(&name).arg(option).run().well();
            assert!(
                ended.stdout.starts_with(&format!("usage: {name}")),
                "{ended:?}"
            );
            // The help describes the example in lines that fit a terminal.
            assert!(ended.stdout.lines().count() > 2, "{ended:?}");
            let longest = ended.stdout.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(120), "{ended:?}");
        }
    }
}

#[test]
fn every_example_refuses_an_unknown_option() {
    for name in example_names() {
        let ended = Program::new(&name).arg("--bogus").run().mute(2);
        let ended = ended.says("--bogus").says(&format!("usage: {name}"));
        assert!(ended.stderr.lines().count() < 9, "{ended:?}");
        ended.says("--help");
    }
}

/// As by `head`, which may close the pipe before anything is written or later.
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    let store = folder.path("farm.db").display().to_string();
    for arguments in [
        &["quickstart"][..],
        &["page_consignments", "--json"],
        &["find_property"],
        &["save_and_fix"],
        &["validate"],
        &["offline_farm"],
        &["sync_account"],
        &["sync_account", "--store", &store, "--json"],
        &["sync_account", "--store", &store, "--list"],
        &["outbox", "--store", &store, "list"],
        &["outbox", "--store", &store, "run", "--once"],
        &["login"],
        &["access_token"],
        &["access_token", "--status"],
        &["answer_questions"],
        &["outbox", "--help"],
    ] {
        let mut child = Program::new(arguments[0]).args(&arguments[1..]).piped();
        drop(child.stdout.take());
        let ended = Ended::of(child).with(0);
        assert!(!ended.stderr.contains("error"), "{arguments:?}: {ended:?}");
    }
}

/// The first line of an error names the option.
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
        ["login", "--redirect-port", "-1"],
        ["login", "--redirect-path", "callback"],
        ["access_token", "--redirect-port", "x"],
    ] {
        let ended = Program::new(name).args([option, value]).run().mute(2);
        assert!(
            ended.stderr.lines().next().unwrap().contains(option),
            "{ended:?}"
        );
    }
}

#[test]
fn an_option_without_its_value_is_refused() {
    for [name, option] in [
        ["answer_questions", "--out"],
        ["answer_questions", "--resume"],
        ["page_consignments", "--resume"],
        ["serve_fake", "--port"],
        ["sync_account", "--store"],
        ["outbox", "--store"],
        ["outbox", "--base"],
        ["login", "--store"],
    ] {
        Program::new(name).arg(option).run().with(2).says(option);
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
    ] {
        Program::new(name).arg("more").run().with(2);
    }
    Program::new("validate")
        .args(["one", "two"])
        .run()
        .with(2)
        .says("two");
}

#[test]
fn an_address_without_http_fails() {
    for name in ["quickstart", "find_property", "page_consignments"] {
        let program = Program::new(name)
            .env("ENVD_GRAPHQL_URL", "ftp://127.0.0.1:1/")
            .env("ENVD_REGISTER_URL", "ftp://127.0.0.1:1/")
            .env("ENVD_ACCESS_TOKEN", "token");
        program.run().with(1).fails();
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    let broken = folder.write("resume.json", "{");
    for file in [broken, folder.path("none").join("resume.json")] {
        let program = Program::new("page_consignments").arg("--resume").arg(&file);
        program.run().with(2).says(file.to_str().unwrap());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_loopback_interface_an_example_ends_with_an_error() {
    use std::process::Command;

    // In a new network namespace the loopback interface is down. Without the right to create one, the test is skipped.
    let namespace = ["--user", "--map-root-user", "--net"];
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(namespace).args(arguments);
        command.output().map(Ended::from)
    };
    if !unshare(&["true"]).is_ok_and(|ended| ended.code == Some(0)) {
        eprintln!("skipped: users cannot create network namespaces on this machine");
        return;
    }
    for name in ["quickstart", "answer_questions", "login", "access_token"] {
        let program = Program::path(name);
        let ended = unshare(&["timeout", "10", program.to_str().unwrap()]).unwrap();
        ended.with(1).fails().says("unreachable");
    }
}
