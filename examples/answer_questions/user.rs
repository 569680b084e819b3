//! Who answers: the user at the terminal, or a script where there is none.

use std::error::Error;
use std::io::{self, IsTerminal};

use dialoguer::{Confirm, Input, Select};
use envd_sdk::validate::{AppliedQuestion, Session};

use super::script;

#[derive(Clone, Copy)]
pub(crate) enum User {
    AtTheTerminal,
    Scripted,
}

impl User {
    pub(crate) fn at_the_terminal_or_scripted() -> Self {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            Self::AtTheTerminal
        } else {
            Self::Scripted
        }
    }

    /// The answer; none where the user leaves the question open.
    pub(crate) fn answer(
        self,
        asked: &AppliedQuestion,
        session: &Session,
    ) -> Result<Option<String>, Box<dyn Error>> {
        let value = match self {
            Self::AtTheTerminal if asked.choices.is_empty() => Some(text(asked, session)?),
            Self::AtTheTerminal => choice(asked)?,
            Self::Scripted => {
                let value = script::answer(asked);
                eprintln!("  > {value}");
                Some(value)
            }
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    pub(crate) fn wants_a_row(self) -> Result<bool, Box<dyn Error>> {
        Ok(match self {
            Self::AtTheTerminal => Confirm::new()
                .with_prompt("  Add a row?")
                .default(true)
                .interact()?,
            Self::Scripted => true,
        })
    }

    pub(crate) fn begins_a_row(self, question: &str) -> Result<String, Box<dyn Error>> {
        Ok(match self {
            Self::AtTheTerminal => Input::new()
                .with_prompt(format!("  question {question}"))
                .interact_text()?,
            Self::Scripted => "24".to_owned(),
        })
    }
}

fn choice(asked: &AppliedQuestion) -> Result<Option<String>, Box<dyn Error>> {
    let names: Vec<&str> = asked.choices.iter().map(|c| c.name.as_str()).collect();
    let chosen = Select::new().items(&names).default(0).interact_opt()?;
    Ok(chosen.map(|at| asked.choices[at].value.clone()))
}

/// Each try is judged by a copy of the session, so that a wrong answer never gets into the form.
fn text(asked: &AppliedQuestion, session: &Session) -> Result<String, Box<dyn Error>> {
    let place = asked.question.clone();
    let session = session.clone();
    let judge = move |text: &String| -> Result<(), String> {
        let mut session = session.clone();
        session.answer(&place.id, place.row, Some(text));
        let report = session.report();
        let mut wrong = report.question(place.id.as_str()).filter(|f| {
            f.question.as_ref().is_some_and(|q| q.row == place.row) && f.message != "Required"
        });
        wrong
            .next()
            .map_or(Ok(()), |finding| Err(finding.to_string()))
    };
    Ok(Input::new()
        .with_prompt("  answer, or Enter to leave it open")
        .allow_empty(true)
        .validate_with(judge)
        .interact_text()?)
}
