//! `answer_questions`: the recording, a pipe that ends early, and a terminal.

#[cfg(unix)]
use processes::Terminal;
use processes::{Ended, Folder, Program};
use serde_json::Value;

fn answers(json: &str) -> Vec<Value> {
    let mut declaration: Value = serde_json::from_str(json).unwrap();
    let answers = declaration["answers"].as_array_mut();
    answers.map(std::mem::take).unwrap_or_default()
}

/// The text of an SVG line, without tags.
fn plain(line: &str) -> String {
    let parts = line.split('<').filter_map(|part| part.split_once('>'));
    let text: String = parts.map(|(_, text)| text).collect();
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

#[test]
fn the_recording_shows_what_the_example_prints() {
    let recording = include_str!("../../../examples/answer_questions/recording.svg");
    let lines = recording.lines().filter(|line| line.starts_with("<text "));
    // Skip the first line, which is the command. The summary at the end appears only on terminals.
    let lines: Vec<String> = lines.skip(1).map(plain).collect();
    let ended = Program::new("answer_questions").run();
    let printed = ended.stderr.lines().filter(|line| !line.is_empty());
    let printed: Vec<String> = printed.map(str::to_owned).collect();
    assert!(
        lines.starts_with(&printed),
        "run examples/answer_questions/record.py: {lines:#?}"
    );
}

/// Runs the example with these lines on a pipe and a saved form in the folder.
fn piped(folder: &Folder, lines: &[&str]) -> Ended {
    let program = Program::new("answer_questions").arg("--resume");
    let program = program.arg(folder.path("form.json"));
    program.run_with_input(&(lines.join("\n") + "\n"))
}

#[test]
fn a_pipe_that_ends_early_is_saved_and_resumed_without_asking_again() {
    let lines = "y 24 Brahman 1 2 - - - n Yes 2 2 2 2 2 2 2 n - n".split(' ');
    let lines: Vec<&str> = lines
        .map(|line| if line == "-" { "" } else { line })
        .collect();
    let whole = piped(&Folder::new(), &lines).with(0).stdout;
    for cut in 1..lines.len() {
        let folder = Folder::new();
        let first = piped(&folder, &lines[..cut]).with(1);
        let name = folder.text("form.json");
        first.says(&format!(
            "Saved to {name}. Continue with: answer_questions --resume {name}\n"
        ));
        // The prompt for another row is not a question of the form, so the program does not repeat it after the row is complete.
        let rest = if cut == 8 { &lines[9..] } else { &lines[cut..] };
        let second = piped(&folder, rest).with(0);
        assert_eq!(
            answers(&second.stdout),
            answers(&whole),
            "{cut}: {second:?}"
        );
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
    let values = |folder: &Folder| {
        let given = answers(&folder.read("out.json")).into_iter();
        given.map(|given| given["value"].clone())
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
        // Once with `quit`, otherwise with Ctrl-C.
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
        let given = ["24", "Brahman"].into_iter().take(count);
        assert!(values(&folder).eq(given), "{count}");
    }
    let ended = program(&["--resume", "answer_questions-2.json"]).run_with_input("Angus\n");
    assert!(!ended.stderr.contains("Number of head"), "{ended:?}");
    assert!(values(&folder).eq(["24", "Angus"]));
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
