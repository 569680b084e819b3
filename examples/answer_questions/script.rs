//! Scripted answers.

use envd_sdk::validate::{Item, ItemKind};

/// A prompt of the dialog.
pub(crate) enum Prompt<'a> {
    /// A question, and the number of refused answers so far.
    Question { item: &'a Item, refused: usize },
    /// Asks whether to add the first row of a section.
    FirstRow(&'a Item),
    /// Asks whether to add another row.
    NextRow,
    /// Asks whether the form is complete.
    Done,
}

/// Answers by the text of the question. Other choices get `No`, or the last choice; other required questions get a sample
/// value, and the rest stay open.
const ANSWERS: [(&str, &str); 9] = [
    ("Number of head", "24"),
    ("Breed", "Brahman"),
    ("Sex or class", "1"),
    ("Did the vendor breed all of them?", "no"),
    ("Time the cattle were held", "2"),
    ("Transporter", "Sample Haulage"),
    ("Registration of the vehicle", "123 ABC"),
    ("The transporter declares the load correct", "yes"),
    ("Email", "driver@example.com"),
];

pub(crate) fn answer(prompt: &Prompt) -> String {
    match prompt {
        // The first attempt shows how the dialog handles a wrong answer.
        Prompt::Question { item, refused: 0 } if item.text == "Number of head" => {
            "two dozen".to_owned()
        }
        Prompt::Question {
            item,
            refused: ..=1,
        } => to_question(item),
        Prompt::FirstRow(section) if section.text != "Other documents" => "y".to_owned(),
        Prompt::FirstRow(_) | Prompt::NextRow => "n".to_owned(),
        Prompt::Question { .. } | Prompt::Done => String::new(),
    }
}

fn to_question(item: &Item) -> String {
    if let Some((_, answer)) = ANSWERS.iter().find(|(text, _)| *text == item.text) {
        return (*answer).to_owned();
    }
    let last = item.choices.len();
    let is_no = |name: &str| name.eq_ignore_ascii_case("no");
    let no = item
        .choices
        .iter()
        .position(|choice| is_no(&choice.name))
        .map_or(last, |at| at + 1);
    match item.kind {
        _ if last > 0 => no.to_string(),
        _ if !item.required => String::new(),
        ItemKind::Number => "24".to_owned(),
        ItemKind::Date => "2026-11-18".to_owned(),
        ItemKind::Time => "05:15".to_owned(),
        ItemKind::Month => "2026-10".to_owned(),
        _ => "sample".to_owned(),
    }
}
