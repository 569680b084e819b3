//! `answer_questions`: output, answers from a pipe, and interruption.

use processes::{Ended, Folder, Program, Terminal};
use serde_json::Value;

/// Question, row and value of each answer.
fn answers(json: &str) -> Vec<(String, Option<i64>, String)> {
    let declaration: Value = serde_json::from_str(json).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let answers = declaration["answers"].as_array();
    let answers = answers.into_iter().flatten();
    answers
        .map(|answer| {
            (
                text(&answer["questionId"]),
                answer["index"].as_i64(),
                text(&answer["value"]),
            )
        })
        .collect()
}

fn answer(
    question: &str,
    row: impl Into<Option<i64>>,
    value: &str,
) -> (String, Option<i64>, String) {
    (question.to_owned(), row.into(), value.to_owned())
}

/// Runs the example with these lines on a pipe.
fn typed(program: Program, lines: &[&str]) -> Ended {
    program.run_with_input(&(lines.join("\n") + "\n"))
}

/// The text of a line of SVG, without its tags.
fn plain(line: &str) -> String {
    let parts = line.split('<').filter_map(|part| part.split_once('>'));
    let text: String = parts.map(|(_, text)| text).collect();
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

/// As above, with a saved form in the folder; the answers that the consignment has then.
fn piped(folder: &Folder, lines: &[&str]) -> (Ended, Vec<(String, Option<i64>, String)>) {
    let program = Program::new("answer_questions")
        .arg("--resume")
        .arg(folder.path("form.json"));
    let ended = typed(program, lines);
    let answers = answers(&ended.stdout);
    (ended, answers)
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_first_question() {
    let folder = Folder::new();
    let broken = folder.write("broken.json", "{\"input\":");
    let missing = folder.path("none").join("out.json");
    for (option, file) in [
        ("--out", &missing),
        ("--out", &folder.path(".")),
        ("--resume", &missing),
        ("--resume", &broken),
    ] {
        let ended = Program::new("answer_questions")
            .arg(option)
            .arg(file)
            .run()
            .mute(2)
            .says(file.to_str().unwrap());
        assert!(!ended.stderr.contains("[0 of"), "{ended:?}");
    }
    assert_eq!(folder.read("broken.json"), "{\"input\":");
}

#[test]
fn the_file_has_the_same_contents_as_stdout() {
    let folder = Folder::new();
    let out = folder.write("out.json", "x".repeat(100_000));
    Program::new("answer_questions")
        .arg("--out")
        .arg(&out)
        .run()
        .mute(0);
    let ended = Program::new("answer_questions").run().with(0);
    assert_eq!(folder.read("out.json"), ended.stdout);
    assert!(answers(&ended.stdout).contains(&answer("3", 0, "24")));
    // The script shows a wrong answer and its refusal.
    assert!(
        ended
            .stderr
            .contains("looks wrong: two dozen. Write it like 24."),
        "{ended:?}"
    );
    assert!(
        ended
            .stderr
            .ends_with("The declaration is complete and valid.\n"),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
}

#[test]
fn the_recording_shows_what_the_example_prints() {
    let recording = include_str!("../../../examples/answer_questions/recording.svg");
    let lines = recording.lines().filter(|line| line.starts_with("<text "));
    // After the first line, which is the command; the summary at the end is for terminals only.
    let lines: Vec<String> = lines.skip(1).map(plain).collect();
    let ended = Program::new("answer_questions").run();
    let printed = ended.stderr.lines().filter(|line| !line.is_empty());
    let printed: Vec<String> = printed.map(str::to_owned).collect();
    assert!(
        lines.starts_with(&printed),
        "run examples/answer_questions/record.py: {lines:#?}"
    );
}

#[test]
fn an_answer_of_the_wrong_kind_is_refused_in_plain_words_and_not_kept() {
    let folder = Folder::new();
    let number = ["y", "abc", "1e3", "-4", "1,5", "24"];
    let (ended, given) = piped(&folder, &number);
    assert_eq!(given, [answer("3", 0, "24")]);
    for wrong in &number[1..5] {
        let about = "“Number of head” in row 1";
        let sentence = format!("{about} looks wrong: {wrong}. Write it like 24.\n");
        assert!(ended.stderr.contains(&sentence), "{wrong}: {ended:?}");
    }
    assert!(
        ended.stderr.contains("a number, such as 24\n  > abc\n"),
        "{ended:?}"
    );

    // Breed, then a choice: by number, by name and by the beginning of one name.
    let (ended, given) = piped(
        &folder,
        &["Brah\u{1b}[Dman", "Brahman", "0", "10", "C", "cow : f"],
    );
    assert_eq!(
        given[1..],
        [answer("4", 0, "Brahman"), answer("5", 0, "Cow : F")]
    );
    assert!(
        ended.stderr.contains("no text, as of an arrow key"),
        "{ended:?}"
    );
    assert!(
        ended
            .stderr
            .contains("“10” is none of them. Type a number from 1 to 9, or a name."),
        "{ended:?}"
    );
    let several = "“C” may be Cow : F or Cows and Calves : F or Calves : F or Castrate male bovine : M. Type the number.";
    assert!(ended.stderr.contains(several), "{ended:?}");

    // Up to the day of a treatment.
    let (ended, given) = piped(
        &folder,
        &[
            "n",
            "",
            "",
            "",
            "n",
            "",
            "",
            "",
            "",
            "y",
            "y",
            "Feed",
            "abc",
            "31/12/2026",
            "2026-02-30",
            "2026-11-01",
        ],
    );
    assert!(given.contains(&answer("73", 0, "2026-11-01")), "{ended:?}");
    for (wrong, right) in [
        ("abc", "like 2026-11-20"),
        ("31/12/2026", "as 2026-12-31"),
        ("2026-02-30", "as 2026-02-28"),
    ] {
        let sentence = format!("“Treated on” in row 1 looks wrong: {wrong}. Write it {right}.");
        assert!(ended.stderr.contains(&sentence), "{wrong}: {ended:?}");
    }
}

#[test]
fn an_empty_line_leaves_a_question_open_and_what_is_missing_is_told_by_its_text() {
    let folder = Folder::new();
    let (ended, given) = piped(&folder, &["y"]);
    assert_eq!((ended.code, given.len()), (Some(1), 0), "{ended:?}");
    // No first choice is taken by the way.
    let (ended, given) = piped(&folder, &[""; 40]);
    assert_eq!((ended.code, given.len()), (Some(0), 0), "{ended:?}");
    let (_, end) = ended
        .stderr
        .split_once("Before the declaration can be submitted:\n")
        .unwrap();
    for missing in [
        "“Did the vendor breed all of them?” is not answered.",
        "Row 1 of “Animals in this consignment” is empty.",
    ] {
        assert!(end.contains(missing), "{missing}: {ended:?}");
    }
    for id in ["question 17", "answers.", " 17 ", "Section 1"] {
        assert!(!ended.stderr.contains(id), "{id}: {ended:?}");
    }
}

#[test]
fn a_user_goes_back_changes_and_takes_away_answers() {
    let folder = Folder::new();
    let to_held = ["n", "No", "2"];
    // Back over the question that the answer has brought up, and another answer takes that away.
    let back = ["<", "<", "", "<", "<", "?", "Yes"];
    let (ended, given) = piped(&folder, &[&to_held[..], &back].concat());
    assert_eq!(given, [answer("17", None, "Yes")], "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("now: 2 - 6 Months (Enter keeps it, -- takes it away)"),
        "{ended:?}"
    );
    assert!(
        ended
            .stderr
            .contains("no longer asked: Time the cattle were held\n"),
        "{ended:?}"
    );
    let why = "Asked because each declaration of this form needs it.\n    It must be answered";
    assert!(ended.stderr.contains(why), "{ended:?}");

    let (ended, given) = piped(&folder, &["<", "--", "<", "<", "<", "<"]);
    assert_eq!(given, [], "{ended:?}");
    assert!(
        ended.stderr.contains("This is the first question."),
        "{ended:?}"
    );
}

#[test]
fn rows_are_added_and_removed() {
    let folder = Folder::new();
    let row = |head| ["y", head, "Brahman", "1", "2", "", "", ""];
    let lines = [
        &row("24")[..],
        &row("30"),
        &row("40"),
        &["maybe", "remove 9", "remove 2", "n"],
    ]
    .concat();
    let (ended, given) = piped(&folder, &lines);
    let heads: Vec<_> = given
        .iter()
        .filter(|(question, ..)| question == "3")
        .collect();
    // Other rows keep their numbers.
    assert_eq!(
        heads,
        [&answer("3", 0, "24"), &answer("3", 2, "40")],
        "{ended:?}"
    );
    assert_eq!(
        ended.stderr.matches("Type y for yes or n for no.").count(),
        2,
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("Animals in this consignment, row 3"),
        "{ended:?}"
    );
    // Back from the question whether there is another row, to the last one of the row.
    let (ended, given) = piped(&folder, &["<", "", "<", "<"]);
    assert_eq!(given.len(), 8, "{ended:?}");
    assert!(ended.stderr.contains("it has 2 rows"), "{ended:?}");
    // Rows are counted as they stand, whatever their numbers are.
    assert!(ended.stderr.contains("consignment, row 2"), "{ended:?}");
    assert!(!ended.stderr.contains("row 3"), "{ended:?}");
}

#[test]
fn a_pipe_that_ends_early_is_saved_and_resumed_without_asking_again() {
    let lines = [
        "y", "24", "Brahman", "1", "2", "", "", "", "n", "Yes", "2", "2", "2", "2", "2", "2", "2",
        "n", "", "n",
    ];
    let folder = Folder::new();
    let (whole, all) = piped(&folder, &lines);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    for cut in 1..lines.len() {
        let folder = Folder::new();
        let (first, _) = piped(&folder, &lines[..cut]);
        assert_eq!(first.code, Some(1), "{cut}: {first:?}");
        let name = folder.path("form.json").display().to_string();
        assert!(
            first.stderr.contains(&format!(
                "Saved to {name}. Continue with: answer_questions --resume {name}\n"
            )),
            "{first:?}"
        );
        // Whether there is another row is not a question of the form, and is not asked again after the row is complete.
        let rest = if cut == 8 { &lines[9..] } else { &lines[cut..] };
        let (second, given) = piped(&folder, rest);
        assert_eq!((second.code, &given), (Some(0), &all), "{cut}: {second:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_the_answers_and_resume_goes_on() {
    let folder = Folder::new();
    let program = |options: &[&str]| {
        let program = Program::new("answer_questions").within(&folder.path("."));
        let program = program.arg("--out").arg(folder.path("out.json"));
        program.args(options).env("NO_COLOR", "1")
    };
    for (count, name) in [
        (0, "answer_questions.json"),
        (1, "answer_questions-2.json"),
        (2, "answer_questions-3.json"),
    ] {
        let mut terminal = Terminal::start(program(&[]));
        terminal.read_until("Add a row? > ");
        terminal.type_line("y");
        terminal.read_until("24\r\n  > ");
        for line in ["24", "Brahman"].iter().take(count) {
            terminal.type_line(line);
            terminal.read_until("\r\n  > ");
        }
        // One goes by the word, the others by the key.
        if count == 1 {
            terminal.type_line("help");
            terminal.read_until("as Ctrl-C does");
            terminal.type_line("quit");
        } else {
            terminal.interrupt();
        }
        terminal
            .wait()
            .with(1)
            .says(&format!("Continue with: answer_questions --resume {name}"));
        let given = [answer("3", 0, "24"), answer("4", 0, "Brahman")];
        assert_eq!(answers(&folder.read("out.json")), given[..count], "{count}");
    }
    let ended = typed(
        program(&["--resume", "answer_questions-2.json"]),
        &["Angus"],
    );
    assert!(!ended.stderr.contains("Number of head"), "{ended:?}");
    let given = [answer("3", 0, "24"), answer("4", 0, "Angus")];
    assert_eq!(answers(&folder.read("out.json")), given);
}

#[cfg(unix)]
#[test]
fn a_terminal_has_colours_unless_no_color_is_set_and_a_summary_for_people() {
    let folder = Folder::new();
    let form = folder.path("form.json");
    for no_color in [false, true] {
        let program = Program::new("answer_questions").arg("--resume").arg(&form);
        let mut terminal = Terminal::start_all(program.on_xterm(no_color));
        terminal.read_until(" ");
        for line in [
            "n", "Yes", "2", "2", "2", "2", "2", "2", "2", "", "", "", "",
        ] {
            terminal.type_line(line);
        }
        let ended = terminal.wait().with(0);
        assert_eq!(ended.stderr.contains("\u{1b}["), !no_color, "{ended:?}");
        let shown = console::strip_ansi_codes(&ended.stderr);
        assert!(
            shown.contains("Did the vendor breed all of them? Yes\r\n"),
            "{shown}"
        );
        assert!(!shown.contains("questionId"), "{shown}");
        std::fs::remove_file(&form).unwrap();
    }
}
