//! Who answers: the user at the terminal, or a script where there is none.

use std::io::{self, IsTerminal};

use dialoguer::console::Term;
use dialoguer::{Confirm, Input, Select};
use envd_sdk::validate::{AppliedQuestion, Session};

use super::cli::{self, Failure, printable};
use super::script;

#[derive(Clone, Copy)]
pub(crate) enum User {
    AtTheTerminal,
    Scripted,
}

impl User {
    pub(crate) fn at_the_terminal_or_scripted() -> Result<Self, Failure> {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            // From now on Ctrl-C ends the prompt, and not the program.
            drop(cli::interrupts()?);
            Ok(Self::AtTheTerminal)
        } else {
            Ok(Self::Scripted)
        }
    }

    /// The answer; none where the user leaves the question open.
    pub(crate) fn answer(
        self,
        asked: &AppliedQuestion,
        session: &Session,
    ) -> Result<Option<String>, Failure> {
        let value = match self {
            Self::AtTheTerminal if asked.choices.is_empty() => Some(text(asked, session)?),
            Self::AtTheTerminal => choice(asked)?,
            Self::Scripted => {
                let value = script::answer(asked);
                eprintln!("  > {}", printable(&value));
                Some(value)
            }
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    pub(crate) fn wants_a_row(self) -> Result<bool, Failure> {
        let prompt = Confirm::new().with_prompt("  Add a row?").default(true);
        match self {
            Self::AtTheTerminal => prompt.interact().map_err(ended),
            Self::Scripted => Ok(true),
        }
    }

    pub(crate) fn begins_a_row(self, question: &str) -> Result<String, Failure> {
        let prompt = format!("  {}", printable(question));
        match self {
            Self::AtTheTerminal => {
                let prompt = Input::new().with_prompt(prompt);
                prompt.interact_text().map_err(ended)
            }
            Self::Scripted => {
                eprintln!("{prompt}\n  > 24");
                Ok("24".to_owned())
            }
        }
    }
}

/// Ctrl-C, or the terminal is gone. A prompt that hid the cursor does not show it again.
fn ended(dialoguer::Error::IO(error): dialoguer::Error) -> Failure {
    drop(Term::stderr().show_cursor());
    if error.kind() == io::ErrorKind::Interrupted {
        return "interrupted, the consignment is as far as it was answered".into();
    }
    error.into()
}

fn choice(asked: &AppliedQuestion) -> Result<Option<String>, Failure> {
    let names: Vec<String> = asked.choices.iter().map(|c| printable(&c.name)).collect();
    let prompt = Select::new().items(&names).default(0);
    let chosen = prompt.interact_opt().map_err(ended)?;
    Ok(chosen.map(|at| asked.choices[at].value.clone()))
}

/// Each try is judged by a copy of the session, so that a wrong answer never gets into the form.
fn text(asked: &AppliedQuestion, session: &Session) -> Result<String, Failure> {
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
            .map_or(Ok(()), |finding| Err(printable(finding)))
    };
    Input::new()
        .with_prompt("  answer, or Enter to leave it open")
        .allow_empty(true)
        .validate_with(judge)
        .interact_text()
        .map_err(ended)
}
