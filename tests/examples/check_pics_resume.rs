//! `check_pics --resume`: it goes on where it stopped, and asks nothing twice.

use std::path::Path;

use envd_sdk::fake::{Fake, Fault};

use super::folder::Folder;
use super::program::Program;

const HEADINGS: &str = "\u{feff}PIC,NAME,TOWN,STATE,STATUS\n";
const STATION: &str = "QAZZ7777,Sample Station,Sampleton,QLD,Active\n";
const DOWNS: &str = "QBZZ2222,Example Downs,Exampleville,QLD,Active\n";
const YARDS: &str = "QCZZ8888,Test Yards,Test Creek,QLD,Active\n";

fn resume(list: &Path, out: &Path) -> Program {
    let program = Program::new("check_pics").arg(list).arg("--csv").arg(out);
    program.arg("--resume")
}

/// The PICs that were asked for, in the order of the requests.
fn asked(fake: &Fake) -> Vec<String> {
    let requests = fake.requests();
    let pic = |path: &str| {
        path.split_once("PIC=")
            .unwrap()
            .1
            .trim_end_matches(')')
            .to_owned()
    };
    requests.iter().map(|request| pic(request.path())).collect()
}

#[test]
fn it_needs_the_file() {
    let ended = Program::new("check_pics").arg("--resume").run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--csv OUT"), "{ended:?}");
}

#[tokio::test]
async fn what_is_answered_is_kept_and_not_asked_again() {
    let folder = Folder::new("check_pics_resume");
    let list = folder.write("list.csv", "QAZZ7777\nqbzz2222\nQCZZ8888\nQAZZ7777\n-x\n");
    let out = folder.path("out.csv");
    let complete = format!("{HEADINGS}{STATION}{DOWNS}{YARDS}{STATION}'-x,,,,not a PIC\n");
    for (written, wanted) in [
        // The last row was not written whole.
        (
            format!("{HEADINGS}{STATION}{}", &DOWNS[..20]),
            ["QBZZ2222", "QCZZ8888"].as_slice(),
        ),
        (format!("{HEADINGS}{STATION}{DOWNS}"), &["QCZZ8888"]),
        (
            format!("{HEADINGS}QAZZ7777,,,,failed: no reply\n{DOWNS}"),
            &["QAZZ7777", "QCZZ8888"],
        ),
        (HEADINGS.to_owned(), &["QAZZ7777", "QBZZ2222", "QCZZ8888"]),
        (
            HEADINGS[..10].to_owned(),
            &["QAZZ7777", "QBZZ2222", "QCZZ8888"],
        ),
        (complete.clone(), &[]),
    ] {
        let fake = Fake::start().await;
        folder.write("out.csv", &written);
        let ended = resume(&list, &out).at(&fake).run();
        assert_eq!(ended.code, Some(0), "{written}: {ended:?}");
        let mut asked = asked(&fake);
        asked.sort();
        assert_eq!(asked, wanted, "{written}");
        assert_eq!(folder.read("out.csv"), complete, "{written}");
        assert!(
            ended.stdout.ends_with("5 checked: 4 Active, 1 not a PIC\n"),
            "{ended:?}"
        );
        assert!(!folder.path("out.csv.new").exists());
    }
}

#[tokio::test]
async fn a_file_of_another_list_is_refused_and_stays() {
    let folder = Folder::new("check_pics_resume_other");
    let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\n");
    for (written, part) in [
        (format!("{HEADINGS}{DOWNS}"), "row 1 differs"),
        (format!("{HEADINGS}{STATION}{DOWNS}{YARDS}"), "more rows"),
        (format!("Lot,{HEADINGS}1,{STATION}"), "columns differ"),
    ] {
        let out = folder.write("out.csv", &written);
        let ended = resume(&list, &out).run();
        assert_eq!(ended.code, Some(2), "{written}: {ended:?}");
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
        assert_eq!(folder.read("out.csv"), written, "{part}");
    }
}

#[tokio::test]
async fn a_failure_is_told_and_asked_again() {
    let folder = Folder::new("check_pics_resume_failed");
    let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\n");
    let out = folder.path("out.csv");
    let fake = Fake::start().await;
    fake.on_path("/api/v2/PICRegister/(PIC=QAZZ7777)")
        .fault(Fault::status(400))
        .times(1);
    let ended = resume(&list, &out).at(&fake).run();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("1 of 2 look-ups failed; go on with --resume"),
        "{ended:?}"
    );
    assert!(folder.read("out.csv").contains("QAZZ7777,,,,failed: "));
    let ended = resume(&list, &out).at(&fake).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        folder.read("out.csv"),
        format!("{HEADINGS}{STATION}{DOWNS}")
    );
    assert_eq!(
        asked(&fake).iter().filter(|pic| *pic == "QBZZ2222").count(),
        1
    );
}

/// Failures among the rows of an earlier run: until all of its rows are passed again, its file is as it was.
#[cfg(unix)]
#[tokio::test]
async fn an_interruption_of_the_second_run_loses_no_answer_of_the_first() {
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
    let folder = Folder::new("check_pics_resume_interrupted");
    let list = folder.write("list.csv", "QAZZ7777\nQBZZ2222\nQCZZ8888\n");
    let failed = "QBZZ2222,,,,failed: no reply\n";
    for signal in [Signal::INT, Signal::KILL] {
        let written = format!("{HEADINGS}{STATION}{failed}{YARDS}");
        let out = folder.write("out.csv", &written);
        let mut program = resume(&list, &out).at(&fake);
        let mut child = program
            .0
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The heading, and the row that is known.
        let shown: Vec<String> = lines.take(2).map(Result::unwrap).collect();
        assert!(shown[1].starts_with("QAZZ7777"), "{shown:?}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        assert_eq!(folder.read("out.csv"), written, "{signal:?}");
    }
    fake.clear_scripts();
    let out = folder.path("out.csv");
    let ended = resume(&list, &out).at(&fake).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        folder.read("out.csv"),
        format!("{HEADINGS}{STATION}{DOWNS}{YARDS}")
    );
    assert!(
        !asked(&fake).iter().any(|pic| pic != "QBZZ2222"),
        "{:?}",
        asked(&fake)
    );
}
