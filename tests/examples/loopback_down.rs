//! A machine whose loopback interface is down.

#[cfg(target_os = "linux")]
#[test]
fn an_example_ends_with_an_error() {
    use std::process::Command;

    use super::program::{Ended, path};

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
    for name in [
        "quickstart",
        "check_pics",
        "answer_questions",
        "login",
        "access_token",
        "web_login",
    ] {
        let program = path(name);
        let ended = unshare(&["timeout", "10", program.to_str().unwrap()]).unwrap();
        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        assert!(ended.stderr.starts_with("error: "), "{name}: {ended:?}");
        assert!(ended.stderr.contains("unreachable"), "{name}: {ended:?}");
    }
}
