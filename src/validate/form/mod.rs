//! A form that is being filled in: the items to show, the edits, and what is still missing.
//!
//! A [`Form`] has a consignment, with its questions and findings. An [`Item`] is a question as a screen shows it, a [`Change`]
//! the effect of an edit, a [`Blocker`] a reason why the consignment cannot be submitted yet, and a [`SavedForm`] a form stored
//! for later. Each edit changes the state, walks the questions once, checks them all, and returns the difference.

mod blocker;
mod edit;
mod item;
mod saved;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use self::item::Builder;
use super::question_tree::ItemKind;
use super::walk::{Applied, Instance, OpenedRows, Walk};
use super::{Context, QuestionRef, Questionnaire, Report, prune};
use crate::model::ConsignmentInput;

pub use self::blocker::Blocker;
pub use self::edit::{Change, EditError};
pub use self::item::{Item, ItemRow};
pub use self::saved::{QuestionsChanged, SavedForm};

/// A consignment that is being filled in, for a screen to show.
///
/// [`items`](Self::items) lists what to show. An edit is checked at once and returns its effect. An impossible edit, such as an
/// answer to a heading, is refused and changes nothing. [`report`](Self::report) always equals the result of
/// [`Questionnaire::validate`] for [`to_input`](Self::to_input), except that its row numbers also count empty rows.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Context, ItemKind, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "1", "forms": ["LPAC1"], "type": "REPEATABLE", "text": "Animals", "childQuestions": [
///           {"id": "3", "type": "NUMBER", "text": "Number of head",
///            "validators": [{"type": "required"}]}]},
///         {"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "text": "Bred here?",
///          "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}], "childQuestions": [
///           {"id": "20", "type": "STRING", "text": "Held since",
///            "triggers": [{"questionId": "17", "value": "No"}],
///            "validators": [{"type": "required"}]}]}]"#,
/// )?;
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let context = Context::on(Day::parse("2026-11-20")?);
/// let mut form = Questionnaire::prepare(&questions).form(&input, &context);
///
/// // The main loop of any screen.
/// while let Some(item) = form.next() {
///     match item.kind {
///         ItemKind::Rows => form.add_row(item.question)?,
///         ItemKind::Number => form.answer(item.question, "24")?,
///         _ => form.answer(item.question, "Yes")?,
///     };
/// }
/// assert!(form.blockers().is_empty());
///
/// let change = form.answer("17", "No")?;
/// assert_eq!(change.appeared[0].id, "20");
/// assert_eq!(form.next().unwrap().why.unwrap(), "“Bred here?” is answered No");
/// assert_eq!(form.blockers().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Form {
    questionnaire: Questionnaire,
    context: Context,
    state: FormState,
    /// The states before each edit, the most recent last.
    before: Vec<FormState>,
    judged: Judged,
}

/// The part of a form that edits change.
#[derive(Clone, PartialEq)]
struct FormState {
    input: ConsignmentInput,
    opened: OpenedRows,
    /// Questions and sections that the user chose to leave open.
    skipped: HashSet<QuestionRef>,
}

/// The results of checking a state.
#[derive(Clone)]
struct Judged {
    applied: Applied,
    report: Report,
}

/// How much of the form is answered, in questions that apply and take answers, counted in each row.
///
/// A REPEATABLE question is not counted itself; the questions in its rows are.
///
/// From [`Form::progress`].
///
/// ```
/// # use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, Questionnaire};
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}, {"id": "18", "forms": ["LPAC1"], "type": "STRING"}]"#,
/// # )?;
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"))
/// #     .answer(AnswerInput::new("17", "Yes"));
/// # let form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
/// let progress = form.progress();
/// assert_eq!(format!("{} of {}", progress.answered, progress.questions), "1 of 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Questions that can be answered.
    pub questions: usize,
    /// How many of `questions` are answered.
    pub answered: usize,
    /// Questions that must be answered.
    pub required: usize,
    /// How many of `required` are answered.
    pub required_answered: usize,
}

impl Questionnaire {
    /// A form to fill in: see [`Form`].
    pub fn form(&self, input: &ConsignmentInput, context: &Context) -> Form {
        let state = FormState {
            input: input.clone(),
            opened: OpenedRows::new(),
            skipped: HashSet::new(),
        };
        Form::new(self.clone(), state, context.clone())
    }
}

impl Form {
    fn new(questionnaire: Questionnaire, state: FormState, context: Context) -> Self {
        Self {
            judged: Judged::new(&questionnaire, &state, &context),
            questionnaire,
            context,
            state,
            before: Vec::new(),
        }
    }

    /// The items to show, as a tree in display order: the questions that apply, headings, and sections with rows.
    /// [`Item::descendants`] iterates over all levels.
    pub fn items(&self) -> Vec<Item> {
        Builder::new(&self.walk(), &self.judged.report).tree()
    }

    /// The next question to answer, or section without rows, in display order.
    ///
    /// Questions with an answer, valid or not, and those that the user [skips](Self::skip) are passed over. The item comes without
    /// its children and rows.
    pub fn next(&self) -> Option<Item> {
        let walk = self.walk();
        let mut instances = walk.found.instances.iter().copied();
        let open = instances.find(|instance| self.is_open(&walk, *instance))?;
        Some(Builder::new(&walk, &self.judged.report).item(open))
    }

    /// The findings about the current consignment.
    pub fn report(&self) -> &Report {
        &self.judged.report
    }

    /// How much of the form is answered; empty rows are included.
    pub fn progress(&self) -> Progress {
        let walk = self.walk();
        let mut progress = Progress::default();
        for instance in walk.found.instances.iter().copied() {
            let question = &walk.tree[instance.question];
            if question.takes_answers() && !question.read_only {
                let answered = usize::from(walk.is_filled(instance));
                progress.questions += 1;
                progress.answered += answered;
                progress.required += usize::from(question.required);
                progress.required_answered += answered * usize::from(question.required);
            }
        }
        progress
    }

    /// The consignment to send, without the answers to questions that do not apply. The form keeps those answers, in case the
    /// questions apply again.
    pub fn to_input(&self) -> ConsignmentInput {
        let mut input = self.state.input.clone();
        let _ = prune::remove(&mut input, &self.judged.applied.superfluous);
        input
    }

    /// The walk of the last edit.
    fn walk(&self) -> Walk<'_> {
        Walk {
            tree: &self.questionnaire.tree,
            answers: self.state.input.answers(),
            found: Cow::Borrowed(&self.judged.applied),
        }
    }

    fn is_open(&self, walk: &Walk<'_>, instance: Instance) -> bool {
        let question = &walk.tree[instance.question];
        let is_open = match question.kind {
            ItemKind::Display => false,
            ItemKind::Rows => walk.rows_of(instance).is_empty(),
            _ => !walk.is_filled(instance),
        };
        is_open
            && !question.read_only
            && !question.id.as_str().is_empty()
            && !self.state.skipped.contains(&walk.reference(instance))
    }
}

impl Judged {
    fn new(questionnaire: &Questionnaire, state: &FormState, context: &Context) -> Self {
        let mut walk = Walk::new(&questionnaire.tree, &state.input, &state.opened);
        let superfluous = prune::superfluous(&walk);
        walk.leave_out(superfluous);
        let report = questionnaire.judge(&walk, &state.input, context);
        Self {
            applied: walk.found.into_owned(),
            report,
        }
    }
}

debug_shows!(Form, |it| questionnaire: it.questionnaire, progress: it.progress());
