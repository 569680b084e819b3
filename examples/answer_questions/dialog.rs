//! The loop over the form.

use envd_sdk::model::Day;
use envd_sdk::validate::{Change, EditError, Form, Item, ItemKind, QuestionRef};

use super::cli::Failure;
use super::files::Files;
use super::places::{self, Place};
use super::screen;
use super::script::Prompt;
use super::typed::{Typed, User};
use super::value;

/// How the dialog ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    /// By `quit` or Ctrl-C.
    Interrupted,
    /// Stdin ended before the questions.
    NoInput,
}

pub(crate) struct Dialog<'a> {
    user: User,
    files: &'a Files,
    today: Day,
    /// The section that the user is filling in: after the last question of a row, the dialog offers another row.
    section: Option<QuestionRef>,
    /// The question that the user went back to.
    back: Option<QuestionRef>,
}

/// Where to go from a prompt.
enum Step {
    /// Continue with the first open question.
    On,
    Back,
    End(Ended),
}

impl<'a> Dialog<'a> {
    pub(crate) fn new(files: &'a Files, today: Day) -> Result<Self, Failure> {
        Ok(Self {
            user: User::new()?,
            files,
            today,
            section: None,
            back: None,
        })
    }

    /// Asks until no question is open. If the dialog ends early, the form keeps the answers so far.
    pub(crate) async fn fill_in(mut self, form: &mut Form) -> Result<Ended, Failure> {
        screen::start(form);
        loop {
            let items = form.items();
            let all = places::places(&items);
            let back = self
                .back
                .take()
                .and_then(|question| places::find(&all, &question));
            let next = form.next();
            let next = next.and_then(|item| places::find(&all, &item.question));
            let row_of = next
                .and_then(|place| place.section)
                .map(|section| section.question.clone());
            let filled_in = self
                .section
                .clone()
                .filter(|section| Some(section) != row_of.as_ref());
            let filled_in = filled_in.and_then(|section| places::find(&all, &section));
            let place = back.or(filled_in).or(next);
            let step = match place {
                None => self.finish().await,
                Some(place) if place.item.kind == ItemKind::Rows => self.rows(&place, form).await?,
                Some(place) => {
                    let section = place.section;
                    self.section = section.map(|section| section.question.clone());
                    self.question(&place, form, &all).await?
                }
            };
            match step {
                Step::On => {
                    // Continue: the answers can still be written at the end of the dialog.
                    if let Err(problem) = self.files.save_again(form) {
                        screen::refused(&format!("not saved: {problem}"));
                    }
                }
                Step::End(ended) => return Ok(ended),
                Step::Back => {
                    let here = place.map(|place| &place.item.question);
                    self.back = self.before(&items, here, back.is_some());
                    if self.back.as_ref() == here {
                        screen::note("    This is the first question.");
                    }
                }
            }
        }
    }

    /// Returns the previous question in display order, or this question if it is the first. From the question about another row
    /// of a section, the user goes back into the rows of the section, unless they came from there.
    fn before(
        &self,
        items: &[Item],
        here: Option<&QuestionRef>,
        is_back: bool,
    ) -> Option<QuestionRef> {
        let section = here.filter(|here| !is_back && self.section.as_ref() == Some(here));
        let last = section.and_then(|section| places::last_in(items, section));
        last.or_else(|| places::before(items, here))
            .or(here.cloned())
    }

    async fn question(
        &mut self,
        place: &Place<'_>,
        form: &mut Form,
        all: &[Place<'_>],
    ) -> Result<Step, Failure> {
        let item = place.item;
        screen::question(place, form, self.today);
        let mut refused = 0;
        loop {
            screen::prompt("");
            let line = match self.user.line(&Prompt::Question { item, refused }).await {
                Typed::Line(line) => line,
                ended => return Ok(Step::End(ended.into())),
            };
            match line.as_str() {
                "<" => return Ok(Step::Back),
                "?" => screen::why(item),
                "" if item.value.is_some() => return Ok(Step::On),
                "" | "--" => {
                    leave_open(item, form)?;
                    return Ok(Step::On);
                }
                text => match Self::answer(item, text, form) {
                    Ok((value, change)) => {
                        screen::taken(item, &value);
                        screen::changed(&change, all);
                        return Ok(Step::On);
                    }
                    Err(refusal) => {
                        refused += 1;
                        screen::refused(&refusal);
                    }
                },
            }
        }
    }

    /// Answers the question if the text is valid; otherwise leaves the form unchanged.
    fn answer(item: &Item, text: &str, form: &mut Form) -> Result<(String, Change), String> {
        let value = value::read(item, text)?;
        let mut tried = form.clone();
        let question = &item.question;
        let change = tried.answer(question, value.as_str());
        let change = change.map_err(|error| error.to_string())?;
        let advice = tried.report().advice().iter();
        if let Some(wrong) = advice
            .chain(&change.mistakes)
            .find(|finding| finding.question.as_ref() == Some(question))
        {
            return Err(wrong.sentence());
        }
        *form = tried;
        Ok((value, change))
    }

    async fn rows(&mut self, place: &Place<'_>, form: &mut Form) -> Result<Step, Failure> {
        let item = place.item;
        screen::section(place, form);
        let (prompt, text) = if item.rows.is_empty() {
            (Prompt::FirstRow(item), "Add a row? ")
        } else {
            (Prompt::NextRow, "Add another row? ")
        };
        loop {
            screen::prompt(if item.can_add { text } else { "" });
            let line = match self.user.line(&prompt).await {
                Typed::Line(line) => line.to_lowercase(),
                ended => return Ok(Step::End(ended.into())),
            };
            match line.as_str() {
                "<" => return Ok(Step::Back),
                "?" => screen::why(item),
                "y" | "yes" => match form.add_row(item.question.clone()) {
                    Ok(_) => return Ok(Step::On),
                    Err(refusal) => screen::refused(&refusal.to_string()),
                },
                "" | "n" | "no" => {
                    if item.rows.is_empty() {
                        form.skip(item.question.clone())?;
                    }
                    if self.section.as_ref() == Some(&item.question) {
                        self.section = None;
                    }
                    return Ok(Step::On);
                }
                text => match removed(item, text, form) {
                    Some(Ok(_)) => return Ok(Step::On),
                    Some(Err(refusal)) => screen::refused(&refusal.to_string()),
                    None => screen::refused("Type y for yes or n for no."),
                },
            }
        }
    }

    async fn finish(&mut self) -> Step {
        eprintln!();
        screen::note("That was the last question. Enter ends, < goes back.");
        loop {
            screen::prompt("");
            match self.user.line(&Prompt::Done).await {
                Typed::Line(line) if line == "<" => return Step::Back,
                Typed::Line(line) if !line.is_empty() => {
                    screen::refused("Type < to go back, or nothing to end.");
                }
                Typed::Interrupted => return Step::End(Ended::Interrupted),
                Typed::Line(_) | Typed::End => return Step::End(Ended::Complete),
            }
        }
    }
}

fn leave_open(item: &Item, form: &mut Form) -> Result<(), EditError> {
    if item.value.is_some() {
        form.answer(&item.question, None)?;
    }
    form.skip(item.question.clone())
}

/// Removes the row in `remove N`. `None` if the text is not such a command.
fn removed(item: &Item, text: &str, form: &mut Form) -> Option<Result<Change, EditError>> {
    let number: usize = text.strip_prefix("remove")?.trim().parse().ok()?;
    let row = item.rows.get(number.checked_sub(1)?)?;
    Some(form.remove_row(&item.question.id, row.index))
}

impl From<Typed> for Ended {
    fn from(typed: Typed) -> Self {
        match typed {
            Typed::Interrupted => Self::Interrupted,
            _ => Self::NoInput,
        }
    }
}
