//! Answers of the user at the terminal, or of a script without one.

use std::io::{self, IsTerminal};

use dialoguer::console::Term;
use dialoguer::{Confirm, Input, Select};
use envd_sdk::validate::{Form, Item};

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
            // From now on Ctrl-C ends the prompt, not the program.
            drop(cli::interrupts()?);
            Ok(Self::AtTheTerminal)
        } else {
            Ok(Self::Scripted)
        }
    }

    /// The answer; none if the user leaves the question open.
    pub(crate) fn answer(self, item: &Item, form: &Form) -> Result<Option<String>, Failure> {
        let value = match self {
            Self::AtTheTerminal if item.choices.is_empty() => Some(text(item, form)?),
            Self::AtTheTerminal => choice(item)?,
            Self::Scripted => {
                let value = script::answer(item);
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
}

/// Handles Ctrl-C and a closed terminal. Shows the cursor, which a prompt may have hidden.
fn ended(dialoguer::Error::IO(error): dialoguer::Error) -> Failure {
    drop(Term::stderr().show_cursor());
    if error.kind() == io::ErrorKind::Interrupted {
        return "interrupted: the consignment has the answers so far".into();
    }
    error.into()
}

fn choice(item: &Item) -> Result<Option<String>, Failure> {
    let names: Vec<String> = item.choices.iter().map(|c| printable(&c.name)).collect();
    let prompt = Select::new().items(&names).default(0);
    let chosen = prompt.interact_opt().map_err(ended)?;
    Ok(chosen.map(|at| item.choices[at].value.clone()))
}

/// Validates each input in a copy of the form, so that the form never has a wrong answer.
fn text(item: &Item, form: &Form) -> Result<String, Failure> {
    let question = item.question.clone();
    let form = form.clone();
    let judge = move |text: &String| -> Result<(), String> {
        let mut form = form.clone();
        let change = form
            .answer(&question.id, question.row, text.as_str())
            .map_err(printable)?;
        let mut wrong = change.added.iter();
        let wrong = wrong.find(|finding| finding.question.as_ref() == Some(&question));
        wrong.map_or(Ok(()), |finding| Err(printable(finding.sentence())))
    };
    Input::new()
        .with_prompt("  answer, or Enter to leave it open")
        .allow_empty(true)
        .validate_with(judge)
        .interact_text()
        .map_err(ended)
}
