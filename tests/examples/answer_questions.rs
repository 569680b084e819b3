//! `answer_questions`: output file, stdout, and interruption.

use serde_json::Value;

use super::folder::Folder;
use super::program::Program;

fn answers(json: &str) -> Vec<(String, String)> {
    let declaration: Value = serde_json::from_str(json).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let answers = declaration["answers"].as_array();
    let answers = answers.into_iter().flatten();
    answers
        .map(|answer| (text(&answer["questionId"]), text(&answer["value"])))
        .collect()
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_first_question() {
    let folder = Folder::new("answer_questions_no_file");
    for out in [folder.path("none").join("out.json"), folder.path(".")] {
        let ended = Program::new("answer_questions")
            .arg("--out")
            .arg(&out)
            .run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert_eq!(ended.stdout, "");
        assert!(ended.stderr.contains(out.to_str().unwrap()), "{ended:?}");
        assert!(!ended.stderr.contains("[0 of"), "{ended:?}");
    }
}

#[test]
fn the_file_has_the_same_contents_as_stdout() {
    let folder = Folder::new("answer_questions_file");
    let out = folder.write("out.json", "x".repeat(100_000));
    let ended = Program::new("answer_questions")
        .arg("--out")
        .arg(&out)
        .run();
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    let ended = Program::new("answer_questions").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(folder.read("out.json"), ended.stdout);
    assert!(answers(&ended.stdout).contains(&("3".into(), "24".into())));
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_the_answers_so_far() {
    use super::terminal::Terminal;

    let folder = Folder::new("answer_questions_interrupted");
    for stop in ["\u{3}", "24\r\u{3}", "24\rBrahman\r\u{3}"] {
        let out = folder.path("out.json");
        let program = Program::new("answer_questions").arg("--out").arg(&out);
        let mut terminal = Terminal::start(program);
        terminal.read_until("Add a row?");
        terminal.send_keys("y");
        terminal.send_keys(stop);
        let ended = terminal.wait();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("interrupted"), "{ended:?}");
        let given = [("3".into(), "24".into()), ("4".into(), "Brahman".into())];
        let given = &given[..stop.matches('\r').count()];
        assert_eq!(answers(&folder.read("out.json")), given, "{stop:?}");
    }
}
