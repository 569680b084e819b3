//! The question tree as far as some forms reach.

use serde_json::Value;

/// Whether a question appears in one of the forms.
pub(super) fn on_forms(question: &Value, forms: &Value) -> bool {
    let wanted = forms.as_array().map_or(&[][..], Vec::as_slice);
    let has = question["forms"].as_array().map_or(&[][..], Vec::as_slice);
    has.iter().any(|form| wanted.contains(form))
}

/// The questions under a question.
pub(super) fn children(question: &Value) -> &[Value] {
    question["childQuestions"]
        .as_array()
        .map_or(&[], Vec::as_slice)
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
