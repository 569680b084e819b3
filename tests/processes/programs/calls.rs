//! Exit codes, `--help` and invalid arguments of every example.

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Stdio;

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

/// Like `head`, which may close the pipe at any time.
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

/// On a full disk every write fails.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for name in example_names() {
        for arguments in [&["--help"][..], &[]] {
            // The first two are servers, and a dialog without a user prints nothing to stdout.
            if arguments.is_empty()
                && ["serve_fake", "test_your_app", "answer_questions"].contains(&name.as_str())
            {
                continue;
            }
            let mut program = Program::new(&name).args(arguments);
            let full = fs::OpenOptions::new().write(true).open("/dev/full");
            program.0.stdout(full.unwrap()).stderr(Stdio::piped());
            let ended = Ended::of(program.0.spawn().unwrap());
            assert_ne!(ended.code, Some(0), "{name} {arguments:?}: {ended:?}");
            assert!(
                ended.stderr.contains("os error 28"),
                "{name} {arguments:?}: {ended:?}"
            );
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_is_listed() {
    let folder = Folder::new();
    let file = folder.path("missing/position.json");
    let listed = Program::new("page_consignments").arg("--resume").arg(&file);
    let ended = listed.run().mute(2).fails();
    assert!(ended.stderr.contains("position.json"), "{ended:?}");
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
