//! The TypeScript type of answers, and answers from an object of that type.

use serde_json::json;

use super::bodies::questions;
use super::questions::{ask, prepare};
use crate::model::FormType;
use crate::validate::{Questionnaire, answers_from_json};

#[test]
fn a_typescript_interface_has_a_property_for_each_question() {
    let mut choice = ask("1", "SINGLE_CHOICE", &[], &[]);
    choice["text"] = json!("Bred\nhere? */");
    choice["acceptableAnswers"] = json!([{"value": "Yes"}, {"value": "\"No\""}]);
    let mut several = ask("2", "MULTIPLE_CHOICE", &[("1", "Yes")], &[]);
    several["acceptableAnswers"] = json!([{"value": "A"}, {"value": "B"}]);
    let rows = ask("3", "REPEATABLE", &[], &[ask("4", "NUMBER", &[], &[])]);
    let tree = prepare(&json!([
        choice,
        several,
        rows,
        ask("9", "DISPLAY", &[], &[])
    ]));
    let expected = r#"/** Answers of LPAC1 */
export interface Answers {
  /** Bred here? * / */
  "1": "Yes" | "\"No\"";
  /**  */
  "2"?: Array<"A" | "B">;
  /**  */
  "3"?: Array<{
    /**  */
    "4": string;
  }>;
}
"#;
    assert_eq!(tree.typescript(&[FormType::Lpac1]), expected);
    let real = Questionnaire::prepare(&questions()).typescript(&[FormType::Lpac1]);
    for brackets in [['{', '}'], ['<', '>'], ['(', ')']] {
        let [open, close] = brackets.map(|bracket| real.matches(bracket).count());
        assert_eq!(open, close);
    }
    assert!(
        real.contains("  \"17\"") && real.contains("/** Dentition */")
            || real.contains("/** Breed */")
    );
}

#[test]
fn an_object_becomes_answers() {
    let answers = answers_from_json(
        &json!({"1": "a", "2": ["b", "c"], "3": [{"4": 7}, {}, {"4": null, "5": true}], "6": []}),
    );
    let mut shown: Vec<_> = answers
        .iter()
        .map(|a| {
            format!(
                "{} {:?} {}",
                a.question_id.value().unwrap(),
                a.index.value(),
                a.value.value().unwrap()
            )
        })
        .collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "1 None a",
            "2 None b",
            "2 None c",
            "4 Some(0) 7",
            "5 Some(2) true"
        ]
    );
    assert!(answers_from_json(&json!("x")).is_empty());
}
