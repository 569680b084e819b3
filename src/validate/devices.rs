//! Question 185, whether rangeland goats have devices (spec 2.6): the only question that is checked without a list of questions.

use std::sync::Arc;

use super::question_tree::QuestionTree;
use super::{Expected, Finding, QuestionRef, Report, Rule, Severity, answers};
use crate::model::{AnswerInput, ConsignmentInput, ConsignmentStatus, FormType, QuestionId};

/// The id of the question, on the form LPAHRG0.
const ID: &str = "185";

/// Whether this is the question.
pub(super) fn is_devices(id: &QuestionId) -> bool {
    *id == ID
}

/// Only Yes to question 185 lets a consignment of rangeland goats be created (spec 2.6), with or without a list of
/// questions. assumed: the wordings, and that a draft without an answer is saved with a warning.
pub(super) fn check<'a>(
    input: &ConsignmentInput,
    answers: impl Iterator<Item = &'a AnswerInput>,
    report: &mut Report,
) {
    if !input.forms.contains(&FormType::Lpahrg0) {
        return;
    }
    let question = QuestionRef::new(ID, None);
    let about_devices = answers.filter(|answer| answer.question_id.value().is_some_and(is_devices));
    let values = about_devices.map(answers::text);
    let mut values = values.filter(|value| !value.is_empty()).peekable();
    let status = input.status.value();
    let is_draft = status.is_none_or(|status| *status == ConsignmentStatus::Draft);
    let description = if values.peek().is_some() {
        if values.all(|value| value == "Yes") {
            return;
        }
        "The goats are not eligible to be moved without devices. The accreditation is at risk."
    } else if is_draft {
        let rule = Rule::Required;
        let message = "Required".to_owned();
        return report.push(Finding::answer(Severity::Warning, rule, question, message));
    } else {
        "Question 185 must be answered Yes."
    };
    report.push(Finding {
        path: vec!["answers".to_owned(), ID.to_owned()],
        question: Some(question),
        expected: Some(Expected::one_of(["Yes"])),
        ..Finding::whole(Rule::GoatsWithDevices, "Bad request").described(description)
    });
}

/// Names the question in its finding as the list of questions does. Returns whether there is such a finding, which stands for the rule
/// that an answer is required.
pub(super) fn name_question(tree: &QuestionTree, report: &mut Report) -> bool {
    let mut is_reported = false;
    for finding in &mut report.findings {
        if let Some(question) = &finding.question {
            is_reported = true;
            if let Some(position) = tree.with(Some(&question.id)).first() {
                let question = &tree[*position];
                let text = question.for_finding(question.required_message.as_ref());
                Arc::make_mut(finding).question_text = Some(text.into());
            }
        }
    }
    is_reported
}
