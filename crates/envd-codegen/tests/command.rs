//! The command, as a process.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use test_support::TestFolder;

fn run(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_envd-codegen"));
    command.args(arguments).output().unwrap()
}

#[test]
fn the_command_writes_the_file_or_says_what_is_wrong_and_where() {
    let folder = TestFolder::new();
    let folder = folder.path();
    let document = folder.join("roles.graphql");
    let out = folder.join("queries.rs");
    let good = "query Roles { userDetails { roles } }";
    fs::write(&document, good).unwrap();
    let ended = run(&[folder, Path::new("--out"), &out]);
    assert!(ended.status.success(), "{ended:?}");
    let written = fs::read_to_string(&out).unwrap();
    assert!(written.contains("Roles => roles"), "{written}");

    fs::write(&document, good.replace("roles", "rolls")).unwrap();
    let ended = run(&[&document, Path::new("--out"), &out]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let place = format!("{}:1:29: ", document.display());
    assert!(
        said.starts_with(&place) && said.contains("`roles`"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), written, "it stays");

    // Endless files are not read, not even behind a link.
    #[cfg(unix)]
    for device in ["/dev/zero", "/dev/null"] {
        let link = folder.join("endless.graphql");
        std::os::unix::fs::symlink(device, &link).unwrap();
        for arguments in [&[folder][..], &[&document, Path::new("--schema"), &link]] {
            let ended = run(&[arguments, &[Path::new("--out"), &out]].concat());
            let said = String::from_utf8(ended.stderr).unwrap();
            let expected = format!("{}: is not a file that can be read\n", link.display());
            assert_eq!((ended.status.code(), said), (Some(1), expected));
        }
        fs::remove_file(&link).unwrap();
    }
    fs::File::create(&document)
        .unwrap()
        .set_len((16 << 20) + 1)
        .unwrap();
    let ended = run(&[&document, Path::new("--out"), &out]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        said.ends_with(": has more than 16 MB, which are not read\n"),
        "{said}"
    );

    let ended = run(&[&document]);
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.starts_with("--out is missing\n\nusage: "), "{said}");
}
