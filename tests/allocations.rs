//! Judging a consignment with nothing wrong makes no allocation, once the first has brought the working memory.

use std::path::Path;

use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire, validate_fields};
use serde_json::Value;

#[path = "../benches/questions/mod.rs"]
mod questions;

fn fixture(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn allocations(questionnaire: &Questionnaire, input: &ConsignmentInput) -> u64 {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let look = || assert!(questionnaire.validate(input, &context).ready_to_submit());
    look();
    allocation_counter::measure(look).count_total
}

#[test]
fn a_clean_consignment_of_300_questions_is_judged_without_allocating() {
    let list: Vec<Question> = serde_json::from_value(questions::nested(300)).unwrap();
    let mut input = fixture("consignments/lpac1.json")["input"].take();
    input["answers"] = questions::all_yes(300);
    let input = serde_json::from_value(input).unwrap();
    assert_eq!(allocations(&Questionnaire::prepare(&list), &input), 0);
}

#[test]
fn the_real_list_is_judged_without_allocating_rows_and_all() {
    let list = fixture("questions.json")["data"]["questions"]["items"].take();
    let list: Vec<Question> = serde_json::from_value(list).unwrap();
    let questionnaire = Questionnaire::prepare(&list);
    for file in ["lpac1-hsc2", "lpasl1-hssl1", "lpahrg0"] {
        let input = fixture(&format!("consignments/{file}.json"))["input"].take();
        let input = serde_json::from_value(input).unwrap();
        assert_eq!(allocations(&questionnaire, &input), 0, "{file}");
    }
}

#[test]
fn the_counter_counts() {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let empty = ConsignmentInput::default();
    let counted = allocation_counter::measure(|| drop(validate_fields(&empty, &context)));
    assert!(counted.count_total > 0);
}
