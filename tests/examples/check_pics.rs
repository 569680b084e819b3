//! `check_pics`: the list of PICs, the CSV output, and failures.

use std::fs;

use envd_sdk::fake::{Fake, Fault, World};
use serde_json::json;

use super::folder::Folder;
use super::program::{Ended, Program};

fn check(list: &std::path::Path) -> Program {
    Program::new("check_pics").arg(list)
}

#[test]
fn the_csv_does_not_overwrite_the_list() {
    let folder = Folder::new("check_pics_onto_the_list");
    let list = folder.write("list.csv", "PIC\nQAZZ7777\n");
    fs::hard_link(&list, folder.path("linked.csv")).unwrap();
    fs::create_dir(folder.path("beside")).unwrap();
    let mut names = vec!["list.csv", "./list.csv", "beside/../list.csv", "linked.csv"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("list.csv", folder.path("symbolic.csv")).unwrap();
        names.push("symbolic.csv");
    }
    for name in names {
        let ended = check(&list).arg("--csv").arg(folder.path(name)).run();
        assert_eq!(ended.code, Some(2), "{name}: {ended:?}");
        assert!(ended.stderr.contains("is the list itself"), "{ended:?}");
        assert_eq!(folder.read("list.csv"), "PIC\nQAZZ7777\n", "{name}");
    }
}

#[test]
fn a_quote_that_is_not_closed_is_an_error_with_its_line() {
    let folder = Folder::new("check_pics_quotes");
    let tail = "QBZZ2222,Downs\n".repeat(50);
    for (line, text) in [
        (
            3,
            format!("PIC,vendor\nQAZZ7777,Station\nQCZZ8888,\"Yards\n{tail}"),
        ),
        // The next quote closes the cell, in the middle of a row.
        (
            2,
            format!("PIC,vendor\nQCZZ8888,\"Yards\n{tail}QAZZ7777,\"Station\"\n{tail}"),
        ),
        (1, "\u{feff}\"PIC\nQAZZ7777\n".to_owned()),
        (
            4,
            "PIC,note\nQAZZ7777,\"two\nlines\"\n\"QCZZ8888,\n".to_owned(),
        ),
    ] {
        let list = folder.write("list.csv", &text);
        let ended = check(&list).run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert_eq!(ended.stdout, "");
        let file = list.display();
        let problem = format!("{file}: line {line}: this quote is not closed");
        assert!(ended.stderr.contains(&problem), "{ended:?}");
    }
}

#[test]
fn closed_quotes_are_accepted() {
    let folder = Folder::new("check_pics_closed_quotes");
    let list = folder.write(
        "list.csv",
        "\u{feff}vendor,\"PIC\"\r\n\"Yards, \"\"old\"\"\nand new\" ,QCZZ8888\r\n5\" pipe,\"QAZZ7777\"\r\n",
    );
    let ended = check(&list).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.ends_with("2 checked: 2 Active\n"), "{ended:?}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = Folder::new("check_pics_files");
    let list = folder.write("list.csv", "QAZZ7777\n");
    let out = folder.path("none").join("out.csv");
    let ended = check(&list).arg("--csv").arg(&out).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(out.to_str().unwrap()), "{ended:?}");

    let missing = folder.path("missing.csv");
    let ended = check(&missing).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains(missing.to_str().unwrap()),
        "{ended:?}"
    );
}

#[test]
fn a_list_without_a_pic_fails() {
    let folder = Folder::new("check_pics_nothing");
    for text in ["", "PIC\n", "PIC\nQAZZ777\nx\n"] {
        let ended = check(&folder.write("list.csv", text)).run();
        assert_eq!(ended.code, Some(1), "{text:?}: {ended:?}");
        assert!(ended.stderr.starts_with("error: "), "{text:?}: {ended:?}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_register_fails() {
    let fake = Fake::start().await;
    fake.on_path("/api/v2/PICRegister/(PIC=QBZZ2222)")
        .fault(Fault::status(400))
        .forever();
    let folder = Folder::new("check_pics_refused");
    let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\n");
    let ended = check(&list).at(&fake).run();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.ends_with("2 checked: 1 Active, 1 failed\n"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("1 of 2 look-ups failed"), "{ended:?}");
}

#[tokio::test]
async fn formulas_are_escaped_in_the_csv() {
    let names = [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "a=1",
    ];
    let mut world = World::sample();
    let mut list = String::new();
    for (number, name) in (1..).zip(names) {
        let pic = format!("QAZZ000{number}");
        world = world.property(json!({"PIC": pic, "PICName": name}));
        list.extend([&pic, "\n"]);
    }
    let fake = Fake::builder().world(world).start().await.unwrap();
    let folder = Folder::new("check_pics_formulas");
    let list = folder.write("list.csv", list + "\"=cmd|' /C calc'!A0\"\n");
    let out = folder.path("out.csv");
    let ended = check(&list).arg("--csv").arg(&out).at(&fake).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let mut rows = csv::Reader::from_path(&out).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let written: Vec<&str> = rows.iter().map(|row| &row[1]).take(names.len()).collect();
    let mut expected = names.map(|name| format!("'{name}"));
    expected[8] = "a=1".to_owned();
    assert_eq!(written, expected);
    assert_eq!(&rows[9][0], "'=cmd|' /C calc'!A0");
    // A missing value is an empty cell, not a dash, which would begin a formula.
    assert_eq!(&rows[9][1], "");
}

#[cfg(unix)]
#[tokio::test]
async fn ctrl_c_leaves_complete_rows_and_prints_their_number() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    use std::time::{Duration, SystemTime};

    use envd_sdk::Clock;
    use rustix::process::{Pid, Signal, kill_process};

    let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800));
    let fake = Fake::builder().clock(clock).start().await.unwrap();
    // The clock does not advance, so this reply is never sent.
    fake.on_path("/api/v2/PICRegister/(PIC=QBZZ2222)")
        .fault(Fault::latency(Duration::from_secs(1)));
    let folder = Folder::new("check_pics_interrupted");
    let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\nQCZZ8888\n");
    let mut program = check(&list)
        .arg("--csv")
        .arg(folder.path("out.csv"))
        .at(&fake);
    let mut child = program
        .0
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Results are printed in the order of the list: after the heading and the first row the example waits for the second.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let shown: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
    assert!(shown[1].starts_with("QAZZ7777"), "{shown:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let ended: Ended = child.wait_with_output().unwrap().into();

    assert_eq!(rest, ["1 checked: 1 Active"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("interrupted: 1 of 3 are checked"),
        "{ended:?}"
    );
    assert_eq!(
        folder.read("out.csv"),
        "\u{feff}PIC,NAME,TOWN,STATE,STATUS\nQAZZ7777,Sample Station,Sampleton,QLD,Active\n"
    );
}
