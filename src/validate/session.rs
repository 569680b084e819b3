//! A consignment that is filled in answer by answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    AppliedQuestion, Context, Finding, Progress, QuestionRef, Questionnaire, Report, answers,
};
use crate::model::{AnswerInput, ConsignmentInput, Maybe};

/// Follows a consignment while it is filled in.
///
/// [`report`](Self::report) is always what [`Questionnaire::validate`] says of [`input`](Self::input).
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Context, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}],
///            "validators": [{"type": "required", "parameter": ""}]}]}]"#,
/// )?;
/// let questionnaire = Questionnaire::prepare(&questions);
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let context = Context::on(Day::parse("2026-11-20")?);
/// let mut session = questionnaire.session(&input, &context);
///
/// let change = session.answer("17", None, Some("No"));
/// assert_eq!(change.appeared[0].id, "20");
/// assert_eq!(change.added[0].message, "Required");
/// assert_eq!(session.report(), questionnaire.validate(session.input(), &context));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    questionnaire: Questionnaire,
    input: ConsignmentInput,
    context: Context,
}

/// What an answer changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Questions that apply now.
    pub appeared: Vec<QuestionRef>,
    /// Questions that no longer apply.
    pub vanished: Vec<QuestionRef>,
    /// Findings that were not there before.
    pub added: Vec<Arc<Finding>>,
    /// Findings that are no longer there.
    pub removed: Vec<Arc<Finding>>,
}

impl Session {
    pub(super) fn new(
        questionnaire: Questionnaire,
        input: ConsignmentInput,
        context: Context,
    ) -> Self {
        Self {
            questionnaire,
            input,
            context,
        }
    }

    /// The consignment as it is now.
    pub fn input(&self) -> &ConsignmentInput {
        &self.input
    }

    /// The consignment, to be sent.
    pub fn into_input(self) -> ConsignmentInput {
        self.input
    }

    /// What is wrong with the consignment as it is now.
    #[must_use]
    pub fn report(&self) -> Report {
        self.questionnaire.validate(&self.input, &self.context)
    }

    /// The questions that apply now: see [`Questionnaire::applicable`].
    #[must_use]
    pub fn applicable(&self) -> Vec<AppliedQuestion> {
        self.questionnaire.applicable(&self.input)
    }

    /// The questions that wait for an answer: see [`Questionnaire::next_questions`].
    #[must_use]
    pub fn next_questions(&self) -> Vec<AppliedQuestion> {
        self.questionnaire.next_questions(&self.input)
    }

    /// How far the answers have come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.questionnaire.progress(&self.input)
    }

    /// Answers a question in a row (`None` outside rows), or takes its answer away; all answers in its place give way.
    pub fn answer(
        &mut self,
        question: impl AsRef<str>,
        row: Option<i64>,
        value: Option<&str>,
    ) -> Change {
        let id = question.as_ref();
        let outside = self.questionnaire.is_outside_rows(id);
        self.edit(|input| put(input, id, row, outside, value))
    }

    /// Changes anything else of the consignment.
    pub fn edit(&mut self, edit: impl FnOnce(&mut ConsignmentInput)) -> Change {
        let (asked, found) = (self.cells(), self.report().findings);
        edit(&mut self.input);
        let (asks, finds) = (self.cells(), self.report().findings);
        let only = |all: &BTreeSet<_>, others: &BTreeSet<_>| {
            let only = all.difference(others);
            only.map(|(position, row)| self.questionnaire.question_ref(*position, *row))
                .collect()
        };
        Change {
            appeared: only(&asks, &asked),
            vanished: only(&asked, &asks),
            added: without(&finds, &found),
            removed: without(&found, &finds),
        }
    }

    fn cells(&self) -> BTreeSet<(usize, Option<i64>)> {
        self.questionnaire.cells(&self.input)
    }
}

/// Puts an answer in the place of the first that is there, or takes all of them away.
fn put(
    input: &mut ConsignmentInput,
    id: &str,
    row: Option<i64>,
    outside: bool,
    value: Option<&str>,
) {
    let mut answer = value.map(|value| {
        let answer = AnswerInput::new(id, value);
        match row {
            Some(row) => answer.row(row),
            None => answer,
        }
    });
    if answer.is_some() && input.answers.value().is_none() {
        input.answers = Maybe::Value(Vec::new());
    }
    let Some(answers) = input.answers.value_mut() else {
        return;
    };
    answers.retain_mut(|given| {
        let is_here = given.question_id.value().is_some_and(|given| *given == id)
            && (outside || answers::row(given) == row);
        if is_here && let Some(answer) = answer.take() {
            *given = answer;
            return true;
        }
        !is_here
    });
    answers.extend(answer);
}

/// The findings of a list that another does not have.
fn without(all: &[Arc<Finding>], others: &[Arc<Finding>]) -> Vec<Arc<Finding>> {
    let mut counts = std::collections::HashMap::new();
    for finding in others {
        *counts.entry(finding).or_insert(0_usize) += 1;
    }
    let only = all.iter().filter(|finding| match counts.get_mut(finding) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    only.cloned().collect()
}
