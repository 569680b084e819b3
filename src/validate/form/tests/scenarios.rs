//! Runs the table of edits in `scenarios.txt`.

use std::sync::Arc;

use test_support::script::{Stage, Unparsed, listed, play, rows};
use test_support::table;

use crate::validate::tests::questions::{input, list, shown, today};
use crate::validate::{Change, Finding, Form, Item, ItemRow, QuestionRef};

const LISTS: &str = "
    yard     | 1 { 2 ?1=Yes }; 3 REPEATABLE { 4; 5 ?1=Yes; 6 REPEATABLE { 7 } }; 8 DISPLAY
    most     | 1 { 2 ?1=Yes }; 3 REPEATABLE { 4 }; 8 DISPLAY; 9 readonly; 10 @MSAC1; -
    cycles   | 1; 3 ?4=x ?1=Yes; 4 ?3=x; 5 ?5=x ?1=Yes
    # Both are required, and their findings are equal.
    twins    | 1; 2 ?1=Yes; 2 ?1=Yes ?1=No
    screen   | 9 DISPLAY; 1 REPEATABLE { 3 NUMBER; 4 optional }; 17 { 20 ?17=N; 21 }; 30 BOOLEAN; 31 COLOUR
    inner    | 3 REPEATABLE { 4; 6 REPEATABLE { 7; 8 } }
    twin_sections        | 3 REPEATABLE { 4; 3 REPEATABLE { 7 } }
    bounds   | 1 REPEATABLE { 3 NUMBER; 4; 5 optional >=2000 }
    section_and_question | 1 REPEATABLE { 2 REPEATABLE; 2 }
";

struct Edits {
    form: Form,
    change: Change,
    said: String,
}

/// Parses `4.0` as question 4 in row 0.
fn reference(text: &str) -> QuestionRef {
    let (id, row) = text.split_once('.').unwrap_or((text, ""));
    QuestionRef::new(id, row.parse().ok())
}

/// An item, with its children and rows in brackets.
pub(super) fn outline(items: &[Item]) -> String {
    let row = |row: &ItemRow| {
        let index = row.index.unwrap_or(-1);
        format!("[{index}: {}]", outline(&row.items))
    };
    let one = |item: &Item| {
        let children = match &*item.children {
            [] => String::new(),
            children => format!("({})", outline(children)),
        };
        let rows: String = item.rows.iter().map(row).collect();
        format!("{}{children}{rows}", item.question.id)
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

impl Stage for Edits {
    type Does = Vec<String>;
    type Sees = Unparsed;
    type Error = String;

    async fn start() -> Self {
        let form = list("").form(&input(""), &today());
        Self {
            form,
            change: Change::default(),
            said: String::new(),
        }
    }

    async fn act(&mut self, words: Vec<String>) -> Result<(), String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = &*words;
        let before = self.form.save();
        let form = &mut self.form;
        let done = match *words {
            ["list", name, ref answers @ ..] => {
                let row = rows(LISTS).find(|row| row[0] == name).unwrap();
                *form = list(row[1]).form(&input(&answers.join("; ")), &today());
                return Ok(());
            }
            ["answer", question] => form.answer(reference(question), None),
            ["answer", question, value] => form.answer(reference(question), value),
            ["add", section] => form.add_row(reference(section)),
            ["remove", section, row] => form.remove_row(section, row.parse::<i64>().ok()),
            ["skip", question] => form.skip(reference(question)).map(|()| Change::default()),
            ["field", path, value] => form.field(
                path,
                serde_json::from_str::<serde_json::Value>(value).unwrap(),
            ),
            _ => {
                return form
                    .undo()
                    .map(|change| self.change = change)
                    .ok_or_else(String::new);
            }
        };
        match done {
            Ok(change) => self.change = change,
            Err(error) => {
                assert_eq!(self.form.save(), before, "{error}");
                self.said = error.to_string();
                return Err(self.said.clone());
            }
        }
        Ok(())
    }

    async fn see(&mut self, _: &Unparsed, expected: &str) -> String {
        let words: Vec<&str> = expected.split(' ').collect();
        let words = &*words;
        let questions = |questions: &[QuestionRef]| listed(questions.iter().map(shown));
        let codes = |findings: &[Arc<Finding>]| listed(findings.iter().map(|it| it.code.clone()));
        let seen = match words[0] {
            "appeared" => questions(&self.change.appeared),
            "vanished" => questions(&self.change.vanished),
            "added" => codes(&self.change.added),
            "mistakes" => codes(&self.change.mistakes),
            "removed" => codes(&self.change.removed),
            "findings" => codes(self.form.report().findings()),
            "items" => outline(&self.form.items()),
            "next" => listed(self.form.next().map(|item| item.question.id.to_string())),
            "said" => self.said.clone(),
            _ => {
                let sent = self.form.to_input();
                listed(sent.answers().iter().map(|answer| {
                    let id = answer.question_id.value().unwrap();
                    let row = answer.index.value().map(|row| format!(".{row}"));
                    let row = row.unwrap_or_default();
                    let value = answer.value.value();
                    format!("{id}{row}={}", value.unwrap())
                }))
            }
        };
        format!("{} {seen}", words[0])
    }
}

#[tokio::test]
async fn each_edit_has_the_effects_in_the_table() {
    play::<Edits>(table!("scenarios.txt")).await;
}
