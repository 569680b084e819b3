//! The question tree as far as some forms reach.

use serde_json::Value;

/// The questions that LPAG3 no longer has (2.6, 9.4).
const NOT_OF_LPAG3: [&str; 3] = ["23", "24", "87"];

/// The tree with the forms that count: a child that names none has those of the question above (assumed), and some
/// questions are no part of LPAG3 whatever the list says.
pub(in crate::fake) fn with_forms(questions: &[Value], above: &[Value]) -> Vec<Value> {
    let with_forms = questions.iter().map(|question| {
        let mut question = question.clone();
        let mut forms = list(&question["forms"]).to_vec();
        if forms.is_empty() {
            forms = above.to_vec();
        }
        let id = question["id"].as_str().unwrap_or_default();
        forms.retain(|form| form != "LPAG3" || !NOT_OF_LPAG3.contains(&id));
        let below = with_forms(children(&question), &forms);
        question["childQuestions"] = below.into();
        question["forms"] = forms.into();
        question
    });
    with_forms.collect()
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Ids of a tree, of a list of questions for some forms.
    fn ids(questions: &[Value], forms: &[&str]) -> Vec<String> {
        let mut ids = Vec::new();
        let of_forms = questions_of(&with_forms(questions, &[]), &json!(forms));
        let mut open: Vec<&Value> = of_forms.iter().collect();
        while let Some(question) = open.pop() {
            ids.push(question["id"].as_str().unwrap().to_owned());
            open.extend(children(question));
        }
        ids.sort();
        ids
    }

    #[test]
    fn a_child_that_names_no_forms_has_those_of_the_question_above() {
        let deep = json!({"id": "3", "forms": []});
        let child = json!({"id": "2", "childQuestions": [deep]});
        let other = json!({"id": "4", "forms": ["G"]});
        let questions = [
            json!({"id": "1", "forms": ["F"], "childQuestions": [child, other]}),
            json!({"id": "5", "forms": []}),
        ];
        assert_eq!(ids(&questions, &["F"]), ["1", "2", "3"]);
        assert_eq!(ids(&questions, &["G"]), [""; 0]);
    }

    #[test]
    fn questions_23_24_and_87_are_no_part_of_lpag3_whatever_the_list_says() {
        let goats = ["LPAG2", "LPAG3", "HSG0"];
        let questions = [
            json!({"id": "23", "forms": goats, "childQuestions": [{"id": "24", "forms": goats}]}),
            json!({"id": "87", "forms": goats}),
            json!({"id": "88", "forms": goats, "childQuestions": [{"id": "24"}]}),
        ];
        assert_eq!(ids(&questions, &["LPAG3"]), ["88"]);
        let all = ["23", "24", "24", "87", "88"];
        assert_eq!(ids(&questions, &["LPAG2"]), all);
        assert_eq!(ids(&questions, &["LPAG3", "HSG0"]), all);
    }
}
