//! Lists on a terminal, and the files that the quickstart mentions.

use std::path::Path;

#[cfg(unix)]
use envd_sdk::fake::{Fake, Fault};
use processes::Program;
#[cfg(unix)]
use processes::{Folder, Terminal};
#[cfg(unix)]
use serde_json::json;

/// The lines that a terminal finally shows: a carriage return moves to the start of a line, and `ESC [ 2 K` clears it.
#[cfg(unix)]
fn shown(output: &str) -> Vec<String> {
    let last = |line: &str| {
        let line = line.rsplit("\u{1b}[2K").next().unwrap_or_default();
        console::strip_ansi_codes(line).trim().to_owned()
    };
    output.split('\n').map(last).collect()
}

#[cfg(unix)]
#[tokio::test]
async fn no_progress_bar_stays_on_a_terminal() {
    let fake = Fake::start().await;
    for fails in [false, true] {
        if fails {
            // The second page.
            let ok = Fault::none();
            fake.on_operation("Consignments")
                .fault(ok)
                .fault(Fault::status(400).json(json!({"Message": "No"})));
        }
        let program = Program::new("page_consignments").at(&fake);
        let terminal = Terminal::start_all(program.env("TERM", "xterm"));
        // The progress line was shown.
        let ended = terminal.wait().with(i32::from(fails)).says("0 of 8");
        for line in shown(&ended.stderr) {
            let is_text = line.is_empty()
                || ["NUMBER", "C-9", "8 changed", "error: "]
                    .iter()
                    .any(|start| line.starts_with(start));
            assert!(is_text && !line.contains(" of 8"), "{line}: {ended:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_table_fits_its_terminal() {
    for (name, columns) in [
        ("find_property", 40),
        ("find_property", 60),
        ("find_property", 72),
        ("page_consignments", 80),
        ("page_consignments", 60),
        ("page_consignments", 40),
        ("quickstart", 60),
        ("quickstart", 40),
        ("sync_account", 60),
        ("sync_account", 40),
        ("save_and_fix", 80),
        ("outbox", 80),
        ("outbox", 60),
        ("outbox", 40),
        ("validate", 60),
    ] {
        let folder = Folder::new();
        let mut program = Program::new(name).env("NO_COLOR", "1");
        if name == "outbox" {
            let input = json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}});
            let input = folder.write("in.json", input.to_string());
            let store = folder.path("farm.db");
            let add = Program::new(name).arg("--store").arg(&store);
            add.args(["add", "--submit"]).arg(&input).run().with(0);
            program = program.arg("--store").arg(&store).arg("list");
        }
        let ended = Terminal::start_wide(program, columns).wait().with(0);
        for line in shown(&ended.stderr) {
            assert!(line.chars().count() <= columns.into(), "{line}: {ended:?}");
        }
    }
}

#[test]
fn what_the_quickstart_names_to_read_next_is_there() {
    let ended = Program::new("quickstart").run().well();
    let (_, next) = ended.stdout.split_once("Try next:\n").unwrap();
    let (tried, read) = next.split_once("\n\nRead next:\n").unwrap();
    assert_eq!(tried.matches("  cargo run --example ").count(), 3, "{next}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let [source, cookbook, command] = read.lines().collect::<Vec<_>>()[..] else {
        panic!("{read}");
    };
    for file in [source, cookbook] {
        let file = file.split_whitespace().next().unwrap();
        assert!(root.join(file).is_file(), "{file}");
    }
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(
        readme.contains(&format!("`{}`", command.trim())),
        "{command}"
    );
}
