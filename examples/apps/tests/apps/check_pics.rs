//! `check_pics`: realistic lists, the result file, and `--resume`.

use std::fs;
use std::path::Path;

use encoding_rs::WINDOWS_1252;
use envd_sdk::fake::{Fake, World};
use processes::stories::{Stage, play};
use processes::table;
use processes::{Ended, Folder, Program};
use serde_json::json;

use super::app;
use super::workbook::{day, number, text, time, write};

const HEADINGS: &str = concat!("\u{feff}", r#""PIC","NAME","TOWN","STATE","STATUS""#, "\n");
const STATION: &str = concat!(
    r#""QAZZ7777","Sample Station","Sampleton","QLD","Active""#,
    "\n"
);
const DOWNS: &str = concat!(
    r#""QBZZ2222","Example Downs","Exampleville","QLD","Active""#,
    "\n"
);
const YARDS: &str = concat!(
    r#""QCZZ8888","Test Yards","Test Creek","QLD","Active""#,
    "\n"
);

fn check(list: &Path) -> Program {
    app("check_pics").arg(list)
}

/// Checks the list, and writes the result to `out.csv`.
fn write_out(folder: &Folder, list: &Path) -> Program {
    check(list).arg("--csv").arg(folder.path("out.csv"))
}

/// The cells of `out.csv`, the headings first.
fn rows_of(folder: &Folder) -> Vec<Vec<String>> {
    let text = folder.read("out.csv");
    let text = text.strip_prefix('\u{feff}').expect("a mark for Excel");
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).from_reader(text.as_bytes());
    let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    reader.records().map(|row| cells(row.unwrap())).collect()
}

/// Asserts the exit code 0 and the counts in the last line.
#[track_caller]
fn assert_counts(ended: Ended, counts: &str) -> Ended {
    let ended = ended.with(0);
    let last = ended.stdout.lines().last();
    assert_eq!(last, Some(counts), "{ended:?}");
    ended
}

#[track_caller]
fn assert_refused(program: Program, file: &Path, part: &str) {
    let ended = program.run().mute(2).says(part);
    let start = format!("error: {}: ", file.display());
    assert!(ended.stderr.starts_with(&start), "{ended:?}");
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[tokio::test]
async fn stories() {
    let names = [
        ("HEADINGS", HEADINGS),
        ("STATION", STATION),
        ("DOWNS", DOWNS),
        ("YARDS", YARDS),
    ];
    let stage = Stage {
        program: app,
        names: names
            .map(|(name, text)| (name, text.replace('\n', r"\n")))
            .into(),
        ..Stage::default()
    };
    play(table!("check_pics.txt"), stage).await;
}

#[test]
fn each_encoding_and_delimiter_is_read_and_all_columns_are_kept() {
    let folder = Folder::new();
    for delimiter in [",", ";", "\t"] {
        let list = "Verkäufe im Mai\n\nLot|Vendor PIC|Vendor|Head\n1|QAZZ7777|\"Müller; Söhne, \"\"alt\"\"\"|12\n2| qbzz2222 ||-5\n";
        let list = list.replace('|', delimiter);
        let marked = format!("\u{feff}{list}");
        let windows_lines = list.replace('\n', "\r\n");
        for bytes in [
            list.clone().into_bytes(),
            marked.clone().into_bytes(),
            utf_16(&marked, u16::to_le_bytes),
            utf_16(&marked, u16::to_be_bytes),
            utf_16(&list, u16::to_le_bytes),
            utf_16(&list, u16::to_be_bytes),
            WINDOWS_1252.encode(&list).0.into_owned(),
            windows_lines.into_bytes(),
        ] {
            let file = folder.write("list.csv", bytes);
            let ended = write_out(&folder, &file).run();
            assert_counts(ended, "2 checked: 2 Active")
                .says("column 2, “Vendor PIC”")
                .says("the headings are in line 3");
            let rows = rows_of(&folder);
            let headings = "Lot|Vendor PIC|Vendor|Head|NAME|TOWN|STATE|STATUS";
            assert_eq!(rows[0].join("|"), headings);
            let first = "1|QAZZ7777|Müller; Söhne, \"alt\"|12|Sample Station|Sampleton|QLD|Active";
            assert_eq!(rows[1].join("|"), first);
            // A number is not a formula.
            assert_eq!(rows[2][..4].join("|"), "2|QBZZ2222||-5");
        }
    }
}

#[test]
fn a_workbook_is_read() {
    let folder = Folder::new();
    let file = folder.path("list.xlsx");
    let headings = ["Day", "Property Identification Code", "Head", "Name"].map(text);
    let pic = text("qazz7777 ");
    let name = text("Müller & Söhne");
    let first = [day(46_346), pic, number(12.0), name];
    let code = number(12_300_000_000.0);
    let half = number(0.5);
    let second = [day(46_346), code, half, time(0.25)];
    let total = [text("Total"), "<c/>".to_owned(), number(12.5)];
    let title = [text("Sale <1>")];
    let sale: [&[String]; 6] = [&title, &headings, &first, &second, &[], &total];
    let notes = [text("Nothing here"), text("x")];
    let notes: [&[String]; 1] = [&notes];
    let other = ["PIC", "NE000004"].map(|cell| [text(cell)]);
    let other: [&[String]; 2] = [&other[0], &other[1]];
    write(
        &file,
        &[("Notes", &notes), ("Sale", &sale), ("Other", &other)],
    );

    let several = "several sheets have PICs: choose one with --sheet NAME (Sale, Other)";
    assert_refused(write_out(&folder, &file), &file, several);
    write_out(&folder, &file)
        .args(["--sheet", "Sale"])
        .run()
        .with(0)
        .says("column 2 of sheet Sale");
    let rows = rows_of(&folder);
    // The list already has a column of that name.
    assert_eq!(rows[0][3..5].join("|"), "Name|REGISTER NAME");
    let first = "2026-11-20|QAZZ7777|12|Müller & Söhne|Sample Station";
    assert_eq!(rows[1][..5].join("|"), first);
    let second = "2026-11-20|12300000000|0.5|06:00:00";
    assert_eq!(rows[2][..4].join("|"), second);
    assert!(rows[2][7].contains("took the code for a number"));
    assert_eq!((&*rows[3][0], &*rows[3][7]), ("Total", "no PIC in the row"));

    let ended = check(&file).args(["--sheet", "other"]).run();
    assert_counts(ended, "1 checked: 1 Blocked");
    let none = "--sheet Mai: the file has Notes, Sale, Other";
    assert_refused(check(&file).args(["--sheet", "Mai"]), &file, none);
}

/// Programs that write a workbook often leave the computation of formulas to the spreadsheet. An empty text is a value.
#[test]
fn a_formula_without_its_value_is_not_an_empty_cell() {
    let folder = Folder::new();
    let file = folder.path("list.xlsx");
    for (cell, kind) in [
        ("<c><f>B2</f></c>", "cannot be read"),
        ("<c t=\"str\"><f>B2&amp;C2</f></c>", "cannot be read"),
        ("<c><f>B2</f><v></v></c>", "cannot be read"),
        ("<c><f t=\"shared\" si=\"0\"/></c>", "cannot be read"),
        ("<c t=\"str\"><f>B2</f><v></v></c>", "no PIC in the row"),
        ("<c t=\"str\"><f>B2</f><v>QBZZ2222</v></c>", "Active"),
    ] {
        let rows = ["PIC", "QAZZ7777"].map(|first| [text(first), text("x")]);
        let last = [cell.to_owned(), text("y")];
        write(&file, &[("Sale", &[&rows[0], &rows[1], &last])]);
        let is_read = kind != "cannot be read";
        let ended = write_out(&folder, &file).run().with(i32::from(!is_read));
        if !is_read {
            ended.says("1 of 2 rows have a formula without its value");
        }
        let written = rows_of(&folder);
        assert!(written[2][5].starts_with(kind), "{cell}: {:?}", written[2]);
    }
    // A column with only such formulas counts as a column of PICs.
    let rows = [text("PIC"), "<c><f>B2</f></c>".to_owned()].map(|cell| [cell]);
    write(&file, &[("Sale", &[&rows[0], &rows[1]])]);
    check(&file).run().with(1).says("1 of 1 rows");
}

#[test]
fn an_old_or_locked_workbook_and_an_open_quote_are_named() {
    let folder = Folder::new();
    let old = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat();
    let password = utf_16("EncryptedPackage", u16::to_le_bytes);
    let tail = "QBZZ2222,Downs\n".repeat(50);
    let to_the_end = format!("PIC,vendor\nQAZZ7777,Station\nQCZZ8888,\"Yards\n{tail}");
    // The next quote closes the cell in the middle of a later row.
    let to_the_next = format!("PIC,vendor\nQCZZ8888,\"Yards\n{tail}QAZZ7777,\"Station\"\n{tail}");
    for (bytes, part) in [
        (&old[..], "a workbook of the old format (.xls): open it"),
        (&[&old[..], &password].concat(), "has a password"),
        (to_the_end.as_bytes(), "line 3: this quote is not"),
        (to_the_next.as_bytes(), "line 2: this quote is not"),
    ] {
        let file = folder.write("list.csv", bytes);
        assert_refused(check(&file), &file, part);
    }
}

#[test]
fn the_csv_does_not_overwrite_the_list() {
    let folder = Folder::new();
    let list = folder.write("list.csv", "PIC\nQAZZ7777\n");
    fs::hard_link(&list, folder.path("linked.csv")).unwrap();
    fs::create_dir(folder.path("beside")).unwrap();
    // On Windows only administrators can make one.
    #[cfg(unix)]
    std::os::unix::fs::symlink("list.csv", folder.path("symbolic.csv")).unwrap();
    let symbolic = cfg!(unix).then_some("symbolic.csv");
    let names = ["list.csv", "./list.csv", "beside/../list.csv", "linked.csv"];
    for name in names.into_iter().chain(symbolic) {
        let out = check(&list).arg("--csv").arg(folder.path(name));
        out.run().mute(2).says("is the list itself");
        assert_eq!(folder.read("list.csv"), "PIC\nQAZZ7777\n", "{name}");
    }
}

#[tokio::test]
async fn a_hundred_thousand_rows_are_checked_with_one_request_for_each_pic() {
    let fake = Fake::start().await;
    let folder = Folder::new();
    let pics = ["QAZZ7777", "QBZZ2222", "QCZZ8888", "no"];
    let list = (0..100_000).map(|row| format!("{row},{}", pics[row % 4]));
    let list: Vec<String> = list.collect();
    let list = folder.write("list.csv", format!("Lot,PIC\n{}\n", list.join("\n")));
    let ended = write_out(&folder, &list).at(&fake).run();
    assert_counts(ended, "100000 checked: 75000 Active, 25000 not a PIC");
    assert_eq!(fake.requests().len(), 3);
    let rows = rows_of(&folder);
    assert_eq!(rows.len(), 100_001);
    assert_eq!(rows[100_000][..2], ["99999", "no"]);
}

/// Runs in 256 MB of address space, so that a file that takes more memory aborts the program.
#[cfg(target_os = "linux")]
fn check_in_little_memory(list: &Path) -> Program {
    let Program(check) = check(list);
    let limits = "ulimit -v 262144 && exec \"$@\"";
    let limited = Program::new("/bin/sh").args(["-c", limits, "sh"]);
    let limited = limited.arg(check.get_program()).args(check.get_args());
    // Each thread reserves address space.
    limited
        .env("TOKIO_WORKER_THREADS", "1")
        .env("MALLOC_ARENA_MAX", "1")
}

#[cfg(target_os = "linux")]
#[test]
fn a_workbook_with_cells_far_apart_takes_little_memory() {
    let folder = Folder::new();
    let file = folder.path("list.xlsx");
    let row = |number: u32| {
        let far = format!("<c r=\"XFD{number}\" t=\"inlineStr\"><is><t>far</t></is></c>");
        vec![text(if number == 1 { "PIC" } else { "QAZZ7777" }), far]
    };
    let rows: Vec<Vec<String>> = (1..=4_000).map(row).collect();
    let sheet: Vec<&[String]> = rows.iter().map(Vec::as_slice).collect();
    write(&file, &[("Sale", &sheet)]);
    let out = folder.path("out.csv");
    let program = check_in_little_memory(&file).arg("--csv").arg(&out);
    assert_counts(program.run(), "3999 checked: 3999 Active").says("column 1 of sheet Sale");
    let written = rows_of(&folder);
    assert_eq!(written[0][..2].join("|"), "PIC|far");
    assert_eq!(written[3_999][..3].join("|"), "QAZZ7777|far|Sample Station");
    // Columns keep their numbers in the sheet.
    let by_number = |number| check_in_little_memory(&file).args(["--column", number]);
    by_number("16384")
        .run()
        .with(1)
        .says("column 16384 of sheet Sale");
    assert_refused(
        by_number("2"),
        &file,
        "--column 2: nothing is in it; the last column is 16384",
    );
}

/// Columns: the cells of the sheet, another part, its body, its declared size, and the error.
#[cfg(target_os = "linux")]
const UNPACKED: &str = "
shared   | xl/sharedStrings.xml | strings   |           | more than 200 MB
diagonal |                      |           |           | 9999 rows of 9999 columns are too many cells
none     | xl/styles.xml        | styles    |           | more than 200 MB
none     | xl/sharedStrings.xml | empty     |           | more than 200 MB
none     | xl/sharedStrings.xml | room      |           | more than 200 MB
none     | xl/sharedStrings.xml | some room |           | more than 200 MB
none     | xl/sharedStrings.xml | hidden    |           | more than 200 MB
none     | xl/sharedStrings.xml | tagged    |           | more than 200 MB
none     | xl/sharedStrings.xml | one text  |           | a cell of the workbook is longer than 1 MB
none     | xl/sharedStrings.xml | runs      |           | a cell of the workbook is longer than 1 MB
none     | xl/sharedStrings.xml | crossed   |           | a cell of the workbook is longer than 1 MB
none     | xl/sharedStrings.xml | deep      |           | nested too deep
none     | xl/media/image.png   | long      | 201000000 | more than 200 MB
none     | xl/sharedStrings.xml | strings   | 1000      | larger than its declared uncompressed size
";

/// A text that many cells share, a separate column for each cell, a font that all styles share, and false sizes.
#[cfg(target_os = "linux")]
#[test]
fn a_workbook_that_unpacks_to_gigabytes_is_refused_in_little_memory() {
    let folder = Folder::new();
    let file = folder.path("list.xlsx");
    let pics: &[String] = &["PIC", "QAZZ7777"].map(text);
    let shared = "<c t=\"s\"><v>0</v></c>".to_owned();
    let long = "x".repeat(1_000_000);
    let shared = vec![shared; 1_000];
    let strings = format!("<sst><si><t>{long}</t></si></sst>");
    let letter = |number: u32| char::from(b'A' + u8::try_from(number % 26).unwrap());
    let diagonal = |number: u32| {
        let column: String = [number / 676, number / 26, number]
            .map(letter)
            .iter()
            .collect();
        format!("<c r=\"{column}{number}\" t=\"str\"><v>1</v></c>")
    };
    let diagonal: Vec<String> = (1..10_000).map(diagonal).collect();
    let styles = format!(
        "<styleSheet><fonts><font><name val=\"{long}\"/></font></fonts><cellXfs>{}</cellXfs></styleSheet>",
        "<xf fontId=\"0\"/>".repeat(2_000)
    );
    let none = Vec::new();
    let empty = format!("<sst>{}</sst>", "<si/>".repeat(3_900_000));
    let room = "<sst uniqueCount = '18446744073709551615'><si><t>x</t></si></sst>".to_owned();
    let some_room = "<sst count=\"1\" uniqueCount=\"40000000\"><si><t>x</t></si></sst>".to_owned();
    // Quotes and angle brackets inside an attribute do not end it.
    let hidden = "<sst x=\"uniqueCount='1'\" uniqueCount=\"4000000000\"/>".to_owned();
    let tagged = "<sst x=\"<t\" uniqueCount=\"4000000000\"/>".to_owned();
    let one_text = format!("<sst><si><t>{long}{long}</t></si></sst>");
    let run = format!("<r><t>{}</t></r>", "x".repeat(1_000));
    let runs = format!("<sst><si>{}</si></sst>", run.repeat(2_000));
    // End tags that do not close the reader's string.
    let crossed = format!("<f>{run}</f>").repeat(2_000);
    let crossed = format!("<sst><f><si></f>{crossed}</si></sst>");
    let deep = format!("<sst>{}</sst>", "<c>".repeat(3_000_000));
    let parts = [
        ("hidden", &hidden),
        ("tagged", &tagged),
        ("one text", &one_text),
        ("runs", &runs),
        ("crossed", &crossed),
        ("deep", &deep),
        ("strings", &strings),
        ("styles", &styles),
        ("empty", &empty),
        ("room", &room),
        ("some room", &some_room),
        ("long", &long),
    ];
    for row in processes::rows(UNPACKED) {
        let cells = match row[0] {
            "shared" => &shared,
            "diagonal" => &diagonal,
            _ => &none,
        };
        let body = parts.iter().find(|(name, _)| *name == row[2]);
        let part = body.map(|(_, body)| (row[1], *body));
        let said = row[3].parse::<u32>().ok();
        let refusal = row[4];
        let rows: Vec<&[String]> = cells.chunks(1).collect();
        super::workbook::write_with(&file, &[("Sale", &rows), ("Pics", &[pics])], part);
        if let (Some(said), Some((_, body))) = (said, part) {
            let size = u32::try_from(body.len()).unwrap().to_le_bytes();
            let mut bytes = fs::read(&file).unwrap();
            let places = 0..bytes.len() - 4;
            let places: Vec<usize> = places.filter(|at| bytes[*at..at + 4] == size).collect();
            // The size is in the local header and in the central directory.
            assert_eq!(places.len(), 2);
            for at in places {
                bytes[at..at + 4].copy_from_slice(&said.to_le_bytes());
            }
            fs::write(&file, bytes).unwrap();
        }
        assert!(fs::metadata(&file).unwrap().len() < 500_000);
        assert_refused(check_in_little_memory(&file), &file, refusal);
    }
}

/// Column and row numbers that no spreadsheet has; the reader panics on them in builds with overflow checks.
#[cfg(debug_assertions)]
#[test]
fn a_workbook_whose_places_are_no_places_is_refused() {
    let folder = Folder::new();
    let file = folder.path("list.xlsx");
    for place in ["ZZZZZZZZZZ1", "A99999999999"] {
        let cell = format!("<c r=\"{place}\" t=\"str\"><v>QAZZ7777</v></c>");
        write(&file, &[("Sale", &[&[cell]])]);
        let ended = check(&file).run().mute(2);
        let problem = ended.stderr.lines().next().unwrap();
        assert!(problem.contains("workbook cannot be read"), "{ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    }
}

/// With a cell for each column, the result of 100 kB would be gigabytes.
#[test]
fn a_csv_with_one_long_row_among_many_is_refused() {
    let folder = Folder::new();
    let list = format!("PIC{}\n{}", ",".repeat(50_000), "QAZZ7777\n".repeat(5_000));
    let list = folder.write("list.csv", list + "x\n");
    assert_refused(
        check(&list),
        &list,
        "5002 rows of 50001 columns are too many cells",
    );
}

/// Sequences that set the title, erase the screen, reverse the direction and end the line.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";
const SHOWN: &str = r"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\r\nFORGED";

#[tokio::test]
async fn neither_the_register_nor_the_list_controls_the_terminal_or_a_spreadsheet() {
    let formulas = [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1",
    ];
    let names = [&formulas[..], &["a=1", HOSTILE]].concat();
    let mut world = World::sample();
    let mut list = String::new();
    for (number, text) in (0..).zip(&names) {
        let pic = format!("QAZZ000{number}");
        list.extend([pic.as_str(), "\n"]);
        world = world.property(json!({"PIC": pic, "PICName": text, "Town": HOSTILE}));
    }
    let fake = Fake::builder().world(world).start().await.unwrap();
    let folder = Folder::new();
    let quoted_rows = format!("\"=cmd|' /C calc'!A0\"\n\"{HOSTILE}\"\n");
    let list = folder.write("list.csv", list + &quoted_rows);
    // A formula is not a PIC.
    let ended = write_out(&folder, &list).at(&fake).run().with(1);

    let ended = ended.shows(&format!("\n{SHOWN} "));
    for letter in ended.stdout.chars().chain(ended.stderr.chars()) {
        let is_mark = matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let is_control = letter.is_control() && letter != '\n';
        assert!(!is_control && !is_mark, "{letter:?} in {ended:?}");
    }
    let rows = rows_of(&folder);
    for (row, name) in rows[1..].iter().zip(&names) {
        let mark = if formulas.contains(name) { "'" } else { "" };
        assert_eq!(row[1], format!("{mark}{name}"));
    }
    let command = &rows[1 + names.len()];
    // A missing value is an empty cell, because a dash would begin a formula.
    assert_eq!(command[..2].join("|"), "'=cmd|' /C calc'!A0|");
}

#[cfg(unix)]
#[tokio::test]
async fn long_texts_leave_the_columns_in_line_on_a_terminal() {
    use processes::Terminal;

    let long = "Sehr Weite Ebenen am Großen Fluss";
    let wide = "牧場牧場牧場牧場牧場牧場牧場";
    let property = |pic, name| json!({"PIC": pic, "PICName": name, "RegisteredState": "QLD"});
    let world = World::sample().property(property("QZZZ0001", long));
    let world = world.property(property("QZZZ0002", wide));
    let fake = Fake::builder().world(world).start().await.unwrap();
    let folder = Folder::new();
    let list = folder.write("list.csv", "QAZZ7777\nQZZZ0001\nQZZZ0002\nQAZZ777\n");
    for no_color in [false, true] {
        let program = check(&list).at(&fake).on_xterm(no_color);
        let ended = Terminal::start_all(program).wait().with(0);
        assert_eq!(ended.stderr.contains("\u{1b}[32m"), !no_color, "{ended:?}");
        let shown = console::strip_ansi_codes(&ended.stderr);
        let state = |word: &str| {
            let line = shown.lines().find(|line| line.contains(word)).unwrap();
            let line = line.rsplit('\r').next().unwrap();
            console::measure_text_width(&line[..line.find("QLD").unwrap()])
        };
        assert_eq!(state("Sehr Weite"), state("Sample Station"), "{shown}");
        assert_eq!(state("牧場"), state("Sample Station"), "{shown}");
        // On the screen texts are truncated, advice has its own line, and the progress bar is gone.
        assert!(!shown.contains("Großen Fluss"), "{shown}");
        assert!(shown.contains('…'), "{shown}");
        let mut lines = shown.lines().map(str::trim);
        assert!(lines.any(|line| line == "7 characters, and a PIC has 8"));
        let bar = ended.stderr.rfind('░').unwrap_or(0);
        assert!(ended.stderr[bar..].contains("\u{1b}[2K"), "{ended:?}");
    }
    // A pipe gets the complete text.
    check(&list).at(&fake).run().with(0).shows(long);
}

/// In a shared directory, another user may have created something under that name.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_new_file_is_not_followed() {
    let folder = Folder::new();
    let list = folder.write("list.csv", "QAZZ7777\n");
    let precious = folder.write("precious", "mine");
    folder.write("out.csv", HEADINGS);
    std::os::unix::fs::symlink(&precious, folder.path("out.csv.new")).unwrap();
    write_out(&folder, &list).arg("--resume").run().with(0);
    assert_eq!(folder.read("precious"), "mine");
    assert_eq!(folder.read("out.csv"), format!("{HEADINGS}{STATION}"));
    assert!(!folder.path("out.csv").is_symlink());
}

#[cfg(unix)]
mod interrupted {
    use std::io::{BufRead, BufReader};
    use std::time::{Duration, SystemTime};

    use envd_sdk::Clock;
    use envd_sdk::fake::Fault;
    use processes::{Signal, signal};

    use super::*;

    /// A fake that never answers for the second property, because its clock does not advance.
    async fn stuck() -> Fake {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800));
        let fake = Fake::builder().clock(clock).start().await.unwrap();
        fake.on_path("/api/v2/PICRegister/(PIC=QBZZ2222)")
            .fault(Fault::latency(Duration::from_secs(1)));
        fake
    }

    /// Sends a signal after the heading and the first row, when the program waits for the second property. Returns the later output.
    fn interrupt(program: Program, by: Signal) -> (Vec<String>, Ended) {
        let mut child = program.piped();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let shown: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
        assert!(shown[1].starts_with("QAZZ7777"), "{shown:?}");
        signal(child.id(), by);
        let rest = lines.map(Result::unwrap).collect();
        (rest, Ended::of(child))
    }

    #[tokio::test]
    async fn ctrl_c_leaves_complete_rows_and_prints_their_number() {
        let fake = stuck().await;
        let folder = Folder::new();
        let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\nQCZZ8888\n");
        let program = write_out(&folder, &list).at(&fake);
        let (rest, ended) = interrupt(program, Signal::INT);
        assert_eq!(rest, ["1 checked: 1 Active"]);
        ended.with(1).says("interrupted: 1 of 3 are checked");
        assert_eq!(folder.read("out.csv"), format!("{HEADINGS}{STATION}"));
    }

    /// Failed rows of an earlier run: its file stays unchanged until the new run has reached all of its rows.
    #[tokio::test]
    async fn an_interruption_of_the_second_run_loses_no_answer_of_the_first() {
        let fake = stuck().await;
        let folder = Folder::new();
        let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\nQCZZ8888\n");
        let resume = || write_out(&folder, &list).arg("--resume").at(&fake);
        let failed = concat!(r#""QBZZ2222","","","","failed: no reply""#, "\n");
        for signal in [Signal::INT, Signal::KILL] {
            let written = format!("{HEADINGS}{STATION}{failed}{YARDS}");
            folder.write("out.csv", &written);
            interrupt(resume(), signal);
            assert_eq!(folder.read("out.csv"), written, "{signal:?}");
        }
        fake.clear_scripts();
        resume().run().with(0);
        let complete = format!("{HEADINGS}{STATION}{DOWNS}{YARDS}");
        assert_eq!(folder.read("out.csv"), complete);
        let requests = fake.requests();
        assert!(requests.iter().all(|it| it.path().contains("QBZZ2222")));
    }
}
