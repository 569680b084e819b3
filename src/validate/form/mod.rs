//! A form that is filled in: what a screen shows, what an edit changes, what is still missing.
//!
//! A [`Form`] has a consignment, and the questions and findings that follow from it. An [`Item`] is what a screen shows of a
//! question, a [`Change`] what an edit changed, a [`Blocker`] what keeps the consignment from being submitted, and a [`SavedForm`] a
//! form that is opened later. Each edit changes the state, judges all of it again, and returns the difference.

mod adopted;
mod blocker;
mod change;
mod edit;
mod item;
mod saved;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use self::item::Builder;
use super::answers::Instance;
use super::applicability::{Applicability, OpenedRows};
use super::question_tree::ItemKind;
use super::{Context, Progress, QuestionRef, Questionnaire, Report, applied_question, prune};
use crate::model::ConsignmentInput;

pub use self::blocker::Blocker;
pub use self::change::{Change, EditError};
pub use self::item::{Item, ItemRow, Items};
pub use self::saved::{QuestionsChanged, SavedForm};

/// A consignment while it is filled in, for a screen to show.
///
/// [`items`](Self::items) is what there is to show. An edit is judged as a whole at once and returns what it changed; what
/// cannot be, such as an answer to a heading, is refused and nothing is stored. [`report`](Self::report) is always what
/// [`Questionnaire::validate`] says of [`to_input`](Self::to_input), but that the numbers of rows count empty rows as well.
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
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let context = Context::on(Day::parse("2026-11-20")?);
/// let mut form = Questionnaire::prepare(&questions).form(&input, &context);
///
/// // The loop of every screen.
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
    /// The states before the edits, the last one last.
    before: Vec<FormState>,
    judged: Judged,
}

/// What edits change.
#[derive(Clone, PartialEq)]
struct FormState {
    input: ConsignmentInput,
    opened: OpenedRows,
    /// Questions and sections that the user leaves open.
    skipped: HashSet<QuestionRef>,
}

/// What follows from a state.
#[derive(Clone)]
struct Judged {
    /// The questions that apply and their rows, in display order.
    applied: Vec<Instance>,
    report: Report,
    is_too_large: bool,
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

    /// What the server would be sent: without the answers that count for nothing.
    fn to_input(&self, state: &FormState) -> ConsignmentInput {
        let mut input = state.input.clone();
        let _ = self.prune(&mut input);
        input
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

    /// What there is to show, as a tree in display order: the questions that apply, headings, and sections with rows.
    pub fn items(&self) -> Items {
        Builder::new(&self.questions(), &self.judged.report).tree()
    }

    /// The first question that waits for an answer, or section that waits for its first row, in display order.
    ///
    /// What is answered, in whatever way, and what the user [skips](Self::skip) is not returned again. An item comes
    /// without what stands under it.
    pub fn next(&self) -> Option<Item> {
        self.first_open(|_| true)
    }

    /// As [`next`](Self::next), with what is required first.
    pub fn next_required_first(&self) -> Option<Item> {
        self.first_open(|item| item.required)
            .or_else(|| self.next())
    }

    /// What is wrong with the consignment as it is now.
    pub fn report(&self) -> &Report {
        &self.judged.report
    }

    /// How far the answers have come, rows that are still empty included.
    pub fn progress(&self) -> Progress {
        applied_question::progress(&self.questions())
    }

    /// The consignment, to be sent: without answers to questions that do not apply. They stay in the form, in case that
    /// the questions apply again.
    pub fn to_input(&self) -> ConsignmentInput {
        self.questionnaire.to_input(&self.state)
    }

    fn questions(&self) -> Applicability<'_> {
        self.state.questions(&self.questionnaire)
    }

    fn first_open(&self, wanted: impl Fn(&Item) -> bool) -> Option<Item> {
        let questions = self.questions();
        let builder = Builder::new(&questions, &self.judged.report);
        questions
            .applied
            .iter()
            .copied()
            .filter(|instance| self.is_open(&questions, *instance))
            .map(|instance| builder.item(instance))
            .find(wanted)
    }

    fn is_open(&self, questions: &Applicability<'_>, instance: Instance) -> bool {
        let question = &questions.tree[instance.question];
        let is_open = match question.kind {
            ItemKind::Display => false,
            ItemKind::Rows => !questions.has_rows(instance),
            _ => !questions.is_filled(instance),
        };
        is_open
            && !question.read_only
            && !question.id.as_str().is_empty()
            && !self.state.skipped.contains(&questions.reference(instance))
    }
}

impl FormState {
    /// What applies, with the rows that are opened.
    fn questions<'a>(&'a self, questionnaire: &'a Questionnaire) -> Applicability<'a> {
        Applicability::with_rows(&questionnaire.tree, &self.input, &self.opened)
    }
}

impl Judged {
    fn new(questionnaire: &Questionnaire, state: &FormState, context: &Context) -> Self {
        let answered = Applicability::new(&questionnaire.tree, &state.input);
        let kept = prune::kept(&answered);
        let mut report = if kept.contains(&false) {
            let mut input = state.input.clone();
            let _ = prune::remove(&mut input, &kept);
            questionnaire.validate(&input, context)
        } else {
            questionnaire.judge(&answered, &state.input, context)
        };
        let questions = if state.opened.is_empty() {
            answered
        } else {
            state.questions(questionnaire)
        };
        report.number_rows(&questions);
        Self {
            is_too_large: questions.is_too_large,
            applied: questions.applied,
            report,
        }
    }
}

debug_shows!(Form, |it| questionnaire: it.questionnaire, progress: it.progress());
