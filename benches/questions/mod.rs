//! Lists of questions and answers to them, in the wire shapes; shared by several benches.

use serde_json::{Value, json};

/// `count` required choices of LPAC1, nested four deep, each but the first of four triggered by the one above it.
pub(crate) fn nested(count: usize) -> Value {
    nested_by(4, count)
}

/// As `nested`, so many deep.
pub(crate) fn nested_by(depth: usize, count: usize) -> Value {
    let question = |id: usize, children: Vec<Value>| {
        let above = match id % depth {
            0 => json!(null),
            _ => json!([{"questionId": (id - 1).to_string(), "value": "Yes"}]),
        };
        json!({
            "id": id.to_string(), "order": id, "text": format!("Is statement number {id} true of the livestock?"),
            "readOnly": false, "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "triggers": above,
            "validators": [{"type": "required", "parameter": "", "errorMessage": "This question must be answered."}],
            "acceptableAnswers": [{"displayName": "Yes", "value": "Yes"}, {"displayName": "No", "value": "No"}],
            "childQuestions": children,
        })
    };
    let chain = |first: usize| {
        let last = (first + depth - 1).min(count - 1);
        let mut below = Vec::new();
        for id in (first..=last).rev() {
            below = vec![question(id, below)];
        }
        below.remove(0)
    };
    (0..count).step_by(depth).map(chain).collect()
}

/// Yes to all of them.
pub(crate) fn all_yes(count: usize) -> Value {
    (0..count)
        .map(|id| json!({"questionId": id.to_string(), "index": null, "value": "Yes"}))
        .collect()
}
