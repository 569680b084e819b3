//! What an edit of a form changed, or why it was refused.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde::Serialize;

use super::super::{Explanation, Finding, QuestionRef};
use crate::model::QuestionId;

/// What an edit of a [`Form`](super::Form) changed.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, Questionnaire};
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
/// #           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]}]"#,
/// # )?;
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let mut form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
/// let change = form.answer("17", "No")?;
/// // Only what changed is drawn again.
/// assert_eq!(change.appeared[0].id, "20");
/// assert!(change.vanished.is_empty() && change.added.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Questions that apply now and did not before.
    pub appeared: Vec<QuestionRef>,
    /// Questions that no longer apply.
    pub vanished: Vec<QuestionRef>,
    /// Findings that were not there before.
    pub added: Vec<Arc<Finding>>,
    /// Findings that are no longer there.
    pub removed: Vec<Arc<Finding>>,
}

/// Why an edit was refused. Nothing was stored.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day};
/// # use envd_sdk::validate::{Context, EditError, Questionnaire};
/// # let context = Context::on(Day::parse("2026-11-20")?);
/// let mut form = Questionnaire::prepare(&[]).form(&ConsignmentInput::default(), &context);
/// let error = form.answer("17", "Yes").unwrap_err();
/// assert!(matches!(error, EditError::UnknownQuestion(_)));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// No question has this id.
    #[error("no question has the id {0}")]
    UnknownQuestion(QuestionId),
    /// A heading takes no answer.
    #[error("question {0} is a heading and takes no answer")]
    Heading(QuestionId),
    /// A section takes no answer; the questions in its rows do.
    #[error("question {0} is answered in its rows: add a row")]
    Section(QuestionId),
    /// Only a section has rows.
    #[error("question {0} has no rows")]
    NotASection(QuestionId),
    /// The question is only shown.
    #[error("question {0} is read-only")]
    ReadOnly(QuestionId),
    /// The row is not there, or the question stands outside rows.
    #[error("question {0}: no such row")]
    NoSuchRow(QuestionRef),
    /// A section inside a row has at most one row, which is there already.
    #[error("question {0}: the row is there already")]
    RowExists(QuestionRef),
    /// The question does not apply now.
    #[error("question {question} does not apply: {because}")]
    DoesNotApply {
        /// The question.
        question: QuestionRef,
        /// What keeps it from applying.
        because: Explanation,
    },
    /// There would be too much to judge: see [`Rule::Size`](super::super::Rule::Size).
    #[error("there would be too many rows and answers to judge")]
    TooLarge,
    /// The consignment has no such field, or the value does not fit it: all that is wrong with it.
    #[error("the value does not fit the field {path}: {}", .findings.first().map_or("", |f| f.message.as_str()))]
    Field {
        /// The path.
        path: String,
        /// What is wrong, each at its place.
        findings: Vec<Finding>,
    },
}

/// What only the first of two lists has, and what only the second has; equals count one by one.
pub(super) fn differences<T: Clone + Eq + Hash>(before: &[T], after: &[T]) -> (Vec<T>, Vec<T>) {
    // Mostly only a part in the middle differs.
    let same = before
        .iter()
        .zip(after)
        .take_while(|(one, other)| one == other);
    let start = same.count();
    let ((_, before), (_, after)) = (before.split_at(start), after.split_at(start));
    let same = before.iter().rev().zip(after.iter().rev());
    let end = same.take_while(|(one, other)| one == other).count();
    let (before, _) = before.split_at(before.len() - end);
    let (after, _) = after.split_at(after.len() - end);
    let only = |all: &[T], others: &[T]| {
        let mut counts: HashMap<&T, usize> = HashMap::new();
        for other in others {
            *counts.entry(other).or_default() += 1;
        }
        all.iter()
            .filter(|one| match counts.get_mut(one) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            })
            .cloned()
            .collect()
    };
    (only(before, after), only(after, before))
}
