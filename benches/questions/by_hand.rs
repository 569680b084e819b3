//! A checker of such lists as one writes it by hand, without rows, stale answers and rings.

use std::collections::HashMap;

use envd_sdk::model::{AnswerInput, FormType, Question, ValidatorType};

/// How many findings there are.
pub(crate) fn check(questions: &[Question], forms: &[FormType], answers: &[AnswerInput]) -> usize {
    let answers = answers.iter().filter_map(|answer| {
        let id = answer.question_id.value()?.as_str();
        Some((id, answer.value.value()?.as_str()))
    });
    let answers = answers.collect::<HashMap<_, _>>();
    questions
        .iter()
        .map(|question| check_one(question, forms, &answers))
        .sum()
}

fn check_one(question: &Question, forms: &[FormType], answers: &HashMap<&str, &str>) -> usize {
    let is_on_forms = question.forms.iter().any(|form| forms.contains(form));
    let is_met = question.triggers.iter().all(|trigger| {
        let source = trigger
            .question_id
            .as_ref()
            .and_then(|id| answers.get(id.as_str()));
        source.copied() == trigger.value.as_deref()
    });
    if !is_on_forms || !is_met {
        return 0;
    }
    let id = question.id.as_ref().map_or("", |id| id.as_str());
    let mut choices = question.acceptable_answers.iter();
    let mut validators = question.validators.iter();
    let is_wrong = if let Some(answer) = answers.get(id) {
        !question.acceptable_answers.is_empty()
            && !choices.any(|choice| choice.value.as_deref() == Some(answer))
    } else {
        validators.any(|validator| validator.validator_type == Some(ValidatorType::Required))
    };
    let children = question.child_questions.iter();
    usize::from(is_wrong)
        + children
            .map(|child| check_one(child, forms, answers))
            .sum::<usize>()
}
