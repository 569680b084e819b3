//! `check_pics`: files as a clerk has them.

use std::path::Path;

use encoding_rs::WINDOWS_1252;
use envd_sdk::fake::Fake;

use super::folder::Folder;
use super::program::{Ended, Program};
use super::workbook::{day, number, text, time, write};

fn check(list: &Path) -> Program {
    Program::new("check_pics").arg(list)
}

/// The cells of the file of `--csv`, the headings first.
fn rows(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let text = folder.read(name);
    let text = text
        .strip_prefix('\u{feff}')
        .expect("a byte order mark for Excel");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}

fn assert_refused(ended: &Ended, file: &Path, part: &str) {
    assert_eq!(ended.code, Some(2), "{part}: {ended:?}");
    assert_eq!(ended.stdout, "", "{part}");
    let start = format!("error: {}: ", file.display());
    assert!(ended.stderr.starts_with(&start), "{part}: {ended:?}");
    assert!(ended.stderr.contains(part), "{part}: {ended:?}");
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn each_encoding_and_delimiter_is_read_and_all_columns_are_kept() {
    let folder = Folder::new("check_pics_encodings");
    let out = folder.path("out.csv");
    for delimiter in [",", ";", "\t"] {
        let list = "Verkäufe im Mai\n\nLot|Vendor PIC|Vendor|Head\n1|QAZZ7777|\"Müller; Söhne, \"\"alt\"\"\"|12\n2| qbzz2222 ||-5\n";
        let list = list.replace('|', delimiter);
        let marked = format!("\u{feff}{list}");
        for (encoding, bytes) in [
            ("UTF-8", list.clone().into_bytes()),
            ("UTF-8 with a mark", marked.clone().into_bytes()),
            ("UTF-16 LE", utf_16(&marked, u16::to_le_bytes)),
            ("UTF-16 BE", utf_16(&marked, u16::to_be_bytes)),
            ("UTF-16 LE without a mark", utf_16(&list, u16::to_le_bytes)),
            ("UTF-16 BE without a mark", utf_16(&list, u16::to_be_bytes)),
            ("Windows-1252", WINDOWS_1252.encode(&list).0.into_owned()),
            (
                "line ends of Windows",
                list.replace('\n', "\r\n").into_bytes(),
            ),
        ] {
            let file = folder.write("list.csv", bytes);
            let ended = check(&file).arg("--csv").arg(&out).run();
            assert_eq!(ended.code, Some(0), "{encoding} {delimiter:?}: {ended:?}");
            assert!(
                ended.stdout.ends_with("2 checked: 2 Active\n"),
                "{encoding}: {ended:?}"
            );
            assert!(
                ended.stderr.contains("column 2, “Vendor PIC”"),
                "{encoding}: {ended:?}"
            );
            assert!(
                ended.stderr.contains("the headings are in line 3"),
                "{encoding}: {ended:?}"
            );
            let rows = rows(&folder, "out.csv");
            let headings = [
                "Lot",
                "Vendor PIC",
                "Vendor",
                "Head",
                "NAME",
                "TOWN",
                "STATE",
                "STATUS",
            ];
            assert_eq!(rows[0], headings, "{encoding} {delimiter:?}");
            let first = [
                "1",
                "QAZZ7777",
                "Müller; Söhne, \"alt\"",
                "12",
                "Sample Station",
                "Sampleton",
                "QLD",
                "Active",
            ];
            assert_eq!(rows[1], first, "{encoding} {delimiter:?}");
            // A number is no formula.
            assert_eq!(
                rows[2][..4],
                ["2", "QBZZ2222", "", "-5"],
                "{encoding} {delimiter:?}"
            );
        }
    }
}

#[test]
fn the_column_is_found_by_its_heading_or_its_contents() {
    let folder = Folder::new("check_pics_columns");
    for (heading, place) in [
        ("x,PIC", "column 2, “PIC”"),
        ("x,Vendor PIC", "column 2"),
        ("x,PIC No.", "column 2"),
        ("x,pic_number", "column 2"),
        ("x,Property Identification Code", "column 2"),
        ("x,Property Identification Code (PIC)", "column 2"),
        ("PIC status,PIC", "column 2"),
        ("PIC report\nPicture,Vendor's PIC", "column 2"),
        // Without a heading.
        ("1,QBZZ2222", "column 2, “PIC”"),
        ("sep=,\nx,PIC", "column 2"),
    ] {
        let file = folder.write(
            "list.csv",
            format!("{heading}\nActive,QAZZ7777\nActive,QCZZ8888\n"),
        );
        let ended = check(&file).run();
        assert_eq!(ended.code, Some(0), "{heading}: {ended:?}");
        assert!(ended.stderr.contains(place), "{heading}: {ended:?}");
        let all = if heading.starts_with('1') {
            "3 checked: 3"
        } else {
            "2 checked: 2"
        };
        assert!(
            ended.stdout.ends_with(&format!("{all} Active\n")),
            "{heading}: {ended:?}"
        );
    }
}

#[test]
fn several_columns_of_pics_are_asked_about() {
    let folder = Folder::new("check_pics_two_columns");
    let two = folder.write(
        "list.csv",
        "Vendor PIC,Buyer PIC,PIC\nQAZZ7777,QBZZ2222,old\nQAZZ7777,NE000004,old\n",
    );
    let ended = check(&two).run();
    assert_refused(
        &ended,
        &two,
        "--column NUMBER (1 “Vendor PIC”, 2 “Buyer PIC”)",
    );
    for column in ["2", "buyer pic", "Buyer PIC "] {
        let ended = check(&two).args(["--column", column]).run();
        assert_eq!(ended.code, Some(0), "{column}: {ended:?}");
        assert!(
            ended.stdout.ends_with("2 checked: 1 Active, 1 Blocked\n"),
            "{column}: {ended:?}"
        );
    }
    for column in ["0", "4", "Seller"] {
        assert_refused(
            &check(&two).args(["--column", column]).run(),
            &two,
            &format!("--column {column}: "),
        );
    }
    let same = folder.write("same.csv", "PIC,PIC\nQAZZ7777,QBZZ2222\n");
    assert_refused(&check(&same).run(), &same, "(1 “PIC”, 2 “PIC”)");
    assert_refused(
        &check(&same).args(["--column", "PIC"]).run(),
        &same,
        "several columns have that name",
    );
    let none = folder.write("none.csv", "Lot,Vendor\n1,Smith\n");
    assert_refused(&check(&none).run(), &none, "no column looks like PICs");
}

#[test]
fn a_workbook_is_read() {
    let folder = Folder::new("check_pics_workbook");
    let file = folder.path("list.xlsx");
    let title: &[String] = &[text("Sale <1>")];
    let sale: &[&[String]] = &[
        title,
        &[
            text("Day"),
            text("Property Identification Code"),
            text("Head"),
            text("Name"),
        ],
        &[
            day(46_346),
            text("qazz7777 "),
            number(12.0),
            text("Müller & Söhne"),
        ],
        &[
            day(46_346),
            number(12_300_000_000.0),
            number(0.5),
            time(0.25),
        ],
        &[],
        &[text("Total"), String::from("<c/>"), number(12.5)],
    ];
    let notes: &[&[String]] = &[&[text("Nothing here"), text("x")]];
    let other: &[&[String]] = &[&[text("PIC")], &[text("NE000004")]];
    write(&file, &[("Notes", notes), ("Sale", sale), ("Other", other)]);

    let ended = check(&file).arg("--csv").arg(folder.path("out.csv")).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("column 2 of sheet Sale"), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("not checked (Other): choose one with --sheet NAME"),
        "{ended:?}"
    );
    let rows = rows(&folder, "out.csv");
    // The list has a column of that name.
    assert_eq!(rows[0][3..5], ["Name", "REGISTER NAME"]);
    assert_eq!(
        rows[1][..5],
        [
            "2026-11-20",
            "QAZZ7777",
            "12",
            "Müller & Söhne",
            "Sample Station"
        ]
    );
    let second = ["2026-11-20", "12300000000", "0.5", "06:00:00"];
    assert_eq!(rows[2][..4], second);
    assert!(
        rows[2][7].contains("took the code for a number"),
        "{rows:?}"
    );
    assert_eq!(
        (rows[3][0].as_str(), rows[3][7].as_str()),
        ("Total", "no PIC in the row")
    );

    let ended = check(&file).args(["--sheet", "other"]).run();
    assert!(
        ended.stdout.ends_with("1 checked: 1 Blocked\n"),
        "{ended:?}"
    );
    assert_refused(
        &check(&file).args(["--sheet", "Mai"]).run(),
        &file,
        "--sheet Mai: the file has Notes, Sale, Other",
    );
}

#[test]
fn a_file_that_is_no_list_is_refused_with_what_to_do() {
    let folder = Folder::new("check_pics_nonsense");
    let name: Vec<u8> = utf_16("EncryptedPackage", u16::to_le_bytes);
    let compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    for (bytes, part) in [
        (
            b"%PDF-1.7\n%\xe2\xe3\nPIC\nQAZZ7777\n".to_vec(),
            "this is a PDF: export",
        ),
        (b"\xef\xbb\xbf<html><td>QAZZ7777".to_vec(), "a web page"),
        (b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "a picture"),
        (
            b"PIC\nQAZZ7777\nQBZZ\x002222\n".to_vec(),
            "line 3 has a NUL",
        ),
        (b"\xff\xfeP\0I\0C\0\0\xd8".to_vec(), "not valid UTF-16LE"),
        (
            b"PK\x03\x04 cut off".to_vec(),
            "no workbook that can be read",
        ),
        ([&compound[..], &[0; 600], &name].concat(), "has a password"),
        (
            [&compound[..], &[0; 600]].concat(),
            "no workbook that can be read",
        ),
    ] {
        let file = folder.write("list.csv", &bytes);
        assert_refused(&check(&file).run(), &file, part);
    }
    let file = folder.path("folder.csv");
    std::fs::create_dir(&file).unwrap();
    assert_refused(&check(&file).run(), &file, "directory");
}

#[test]
fn a_code_that_a_spreadsheet_has_changed_gets_advice() {
    let folder = Folder::new("check_pics_advice");
    for (cell, status) in [
        (
            "1.23E+07",
            "not a PIC (a spreadsheet took the code for a number and lost digits",
        ),
        (
            "\"1,2e7\"",
            "not a PIC (a spreadsheet took the code for a number and lost digits",
        ),
        (
            "12345",
            "not a PIC (a spreadsheet drops zeros in front: if the code is 00012345,",
        ),
        (
            "123456789",
            "not a PIC (a spreadsheet took the code for a number",
        ),
        (
            "12300000",
            "not in the register (only digits: a spreadsheet may have",
        ),
        (
            "QAZZ-7777",
            "not a PIC (other characters stand in it: is it QAZZ7777?)",
        ),
        (
            "qazz\u{200b}7777",
            "not a PIC (other characters stand in it: is it QAZZ7777?)",
        ),
        ("QAZZ777", "not a PIC (7 characters, and a PIC has 8)"),
        ("#N/A", "not a PIC (the error of a formula"),
        ("nobody knows", "not a PIC"),
        (
            "QAZZ7778",
            "not in the register (the check letter does not fit",
        ),
        (" qazz7777\u{a0}", "Active"),
    ] {
        let file = folder.write("list.csv", format!("PIC\n{cell}\nQBZZ2222\n"));
        let ended = check(&file).arg("--csv").arg(folder.path("out.csv")).run();
        assert_eq!(ended.code, Some(0), "{cell}: {ended:?}");
        let rows = rows(&folder, "out.csv");
        assert!(rows[1][4].starts_with(status), "{cell}: {rows:?}");
        assert_eq!(
            ended
                .stderr
                .contains("1 of the PICs had small letters or blanks"),
            status == "Active",
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn a_hundred_thousand_rows_are_checked_with_one_request_for_each_pic() {
    let fake = Fake::start().await;
    let folder = Folder::new("check_pics_many");
    let pics = ["QAZZ7777", "QBZZ2222", "QCZZ8888", "no"];
    let list = (0..100_000).map(|row| format!("{row},{}", pics[row % 4]));
    let list: Vec<String> = list.collect();
    let file = folder.write("list.csv", format!("Lot,PIC\n{}\n", list.join("\n")));
    let ended = check(&file)
        .arg("--csv")
        .arg(folder.path("out.csv"))
        .at(&fake)
        .run();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stdout
            .ends_with("100000 checked: 75000 Active, 25000 not a PIC\n")
    );
    assert_eq!(fake.requests().len(), 3);
    let rows = rows(&folder, "out.csv");
    assert_eq!(rows.len(), 100_001);
    assert_eq!(rows[100_000][..2], ["99999", "no"]);
}
