//! `page_consignments`, `find_property`, `quickstart` and `save_and_fix`: what a person sees.

use std::path::Path;

use envd_sdk::fake::{Fake, Fault};
use processes::{Folder, Program, Terminal};
use serde_json::json;

const HEADINGS: [&str; 7] = ["NUMBER", "STATUS", "SPECIES", "HEAD", "FROM", "TO", "DAY"];

/// The cells of a row, which have at least two blanks between them.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn consignments_are_rows_with_what_matters() {
    let ended = Program::new("page_consignments").run().well();
    let lines: Vec<_> = ended.stdout.lines().map(cells).collect();
    assert_eq!(lines[0], HEADINGS);
    let row = [
        "C-900000105",
        "SUBMITTED",
        "SHEEP_LAMB",
        "130",
        "QAZZ7777 Sample Station",
        "NC000002 Fixture Flats",
        "2026-11-28",
    ];
    assert!(lines.contains(&row.to_vec()), "{ended:?}");
    assert_eq!(lines[9], ["8 changed consignments."]);
}

#[tokio::test]
async fn a_consignment_with_missing_values_stays_in_line() {
    let fake = Fake::start().await;
    for field in ["heads", "species", "destination", "movementDate"] {
        let fault = Fault::replaced(format!("/data/consignments/edges/0/node/{field}"), ());
        fake.on_operation("Consignments").fault(fault);
        let ended = Program::new("page_consignments").at(&fake).run().with(0);
        let columns = |line: &str| HEADINGS.len() == cells(line).len();
        assert!(
            ended.stdout.lines().take(9).all(columns),
            "{field}: {ended:?}"
        );
        fake.clear_scripts();
    }
}

/// The lines that a terminal shows in the end: a carriage return goes back to the start of a line, and `ESC [ 2 K` clears it.
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
                .fault(Fault::status(400).json(serde_json::json!({"Message": "No"})));
        }
        let program = Program::new("page_consignments").at(&fake);
        let terminal = Terminal::start_all(program.env("TERM", "xterm"));
        // It was there.
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

#[test]
fn a_property_is_a_row() {
    let ended = Program::new("find_property").arg("yards").run().well();
    let lines: Vec<_> = ended.stdout.lines().map(cells).collect();
    assert_eq!(lines[0], ["PIC", "NAME", "TOWN", "STATE", "STATUS", "USE"]);
    assert_eq!(
        lines[1],
        [
            "QCZZ8888",
            "Test Yards",
            "Test Creek",
            "QLD",
            "Active",
            "saleyard"
        ]
    );
    assert_eq!(ended.stdout.lines().last(), Some("3 found for “yards”"));
    let none = Program::new("find_property").arg("nobody").run().well();
    let said = "Nothing was found for “nobody”. Try a part of the name, or the town.\n";
    assert_eq!(none.stdout, said);
}

#[cfg(unix)]
#[test]
fn a_table_fits_its_terminal() {
    for (name, columns) in [
        ("find_property", 72),
        ("page_consignments", 80),
        ("save_and_fix", 80),
        ("outbox", 80),
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
fn the_quickstart_joins_what_is_asked_with_what_is_missing_and_ends_with_what_to_try() {
    let ended = Program::new("quickstart").run().well();
    let lines: Vec<_> = ended.stdout.lines().map(cells).collect();
    for (kind, text) in [
        ("missing", "Does every goat carry a device?"),
        ("no row", "Animals in this consignment"),
        ("optional", "Anything to add"),
    ] {
        assert!(lines.contains(&vec![kind, text]), "{text}: {ended:?}");
        assert_eq!(ended.stdout.matches(text).count(), 1, "{text}: {ended:?}");
    }
    assert!(lines.contains(&HEADINGS.to_vec()), "{ended:?}");
    assert_eq!(
        ended.stdout.matches(" Sample Station ").count(),
        9,
        "{ended:?}"
    );
    assert!(
        ended
            .stdout
            .contains("   Its clock stands still at 2026-11-20")
    );
    let (_, next) = ended.stdout.split_once("Try next:\n").unwrap();
    assert_eq!(
        next.matches("  cargo run --example ").count(),
        3,
        "{ended:?}"
    );
    let (_, read) = next.split_once("\n\nRead next:\n").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let [source, cookbook, command] = read.lines().collect::<Vec<_>>()[..] else {
        panic!("{ended:?}");
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

#[test]
fn the_refusal_and_the_findings_are_one_table() {
    let ended = Program::new("save_and_fix").run().well();
    let lines: Vec<_> = ended.stdout.lines().map(cells).collect();
    let sides: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.get(1).copied())
        .collect();
    let count = |side| sides.iter().filter(|found| **found == side).count();
    assert_eq!(
        (count("FOUND BY"), count("server"), count("validator")),
        (2, 1, 0),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains("answers."), "{ended:?}");
}
