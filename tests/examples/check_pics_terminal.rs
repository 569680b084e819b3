//! `check_pics` on a terminal.

use envd_sdk::fake::{Fake, World};
use serde_json::json;

use super::folder::Folder;
use super::program::Program;
use super::terminal::Terminal;

#[tokio::test]
async fn long_texts_leave_the_columns_in_line_on_a_terminal() {
    let long = "Sehr Weite Ebenen am Großen Fluss";
    let world = World::sample()
        .property(json!({"PIC": "QZZZ0001", "PICName": long, "RegisteredState": "QLD"}))
        .property(json!({"PIC": "QZZZ0002", "PICName": "牧場牧場牧場牧場牧場牧場牧場", "RegisteredState": "QLD"}));
    let fake = Fake::builder().world(world).start().await.unwrap();
    let folder = Folder::new("check_pics_wide");
    let file = folder.write("list.csv", "QAZZ7777\nQZZZ0001\nQZZZ0002\nQAZZ777\n");
    for no_color in [false, true] {
        let mut program = Program::new("check_pics").arg(&file).at(&fake);
        program
            .0
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR");
        if no_color {
            program.0.env("NO_COLOR", "1");
        }
        let ended = Terminal::start_all(program).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stderr.contains("\u{1b}[32m"), !no_color, "{ended:?}");
        let shown = console::strip_ansi_codes(&ended.stderr);
        let column = |word: &str, part: &str| {
            let line = shown.lines().find(|line| line.contains(word)).unwrap();
            let line = line.rsplit('\r').next().unwrap();
            console::measure_text_width(&line[..line.find(part).unwrap()])
        };
        let state = column("Sample Station", "QLD");
        assert_eq!(column("Sehr Weite", "QLD"), state, "{shown}");
        assert_eq!(column("牧場", "QLD"), state, "{shown}");
        // Cut on the screen, with advice in a line of its own, and nothing left of the progress bar.
        assert!(
            !shown.contains("Großen Fluss") && shown.contains('…'),
            "{shown}"
        );
        assert!(
            shown
                .lines()
                .any(|line| line.trim() == "7 characters, and a PIC has 8"),
            "{shown}"
        );
        let bar = ended.stderr.rfind('░').unwrap_or(0);
        assert!(ended.stderr[bar..].contains("\u{1b}[2K"), "{ended:?}");
    }
    // A program gets the whole text.
    let ended = Program::new("check_pics").arg(&file).at(&fake).run();
    assert!(ended.stdout.contains(long), "{ended:?}");
}
