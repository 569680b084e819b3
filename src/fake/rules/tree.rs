//! The question tree as far as some forms reach.

use serde_json::Value;

/// A list of the wire, where null and absent are empty.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether a question appears in one of the forms.
pub(super) fn on_forms(question: &Value, forms: &Value) -> bool {
    let wanted = list(forms);
    list(&question["forms"])
        .iter()
        .any(|form| wanted.contains(form))
}

/// Whether the questions below are answered row by row.
pub(super) fn is_rows(question: &Value) -> bool {
    question["type"] == "REPEATABLE"
}

/// The questions under a question.
pub(super) fn children(question: &Value) -> &[Value] {
    list(&question["childQuestions"])
}

/// The tree without the questions of other forms.
pub(in crate::fake) fn questions_of(questions: &[Value], forms: &Value) -> Vec<Value> {
    questions
        .iter()
        .filter(|question| on_forms(question, forms))
        .map(|question| {
            let mut question = question.clone();
            let under = questions_of(children(&question), forms);
            question["childQuestions"] = Value::Array(under);
            question
        })
        .collect()
}
