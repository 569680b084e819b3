//! Random lists of questions, with answers to them.

use std::collections::BTreeSet;

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop, prop_oneof};
use serde_json::{Value, json};

use super::edits::{self, value};

/// A small number, so that triggers and answers refer to existing questions, and questions to each other.
const IDS: u8 = 9;

fn id() -> impl Strategy<Value = String> {
    prop_oneof![8 => (0..IDS).prop_map(|id| id.to_string()), 1 => Just("185".to_owned()), 1 => Just("23".to_owned())]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![3 => prop::sample::select(vec!["Yes", "No"]), 1 => edits::word()]
        .prop_map(str::to_owned)
}

fn validator() -> impl Strategy<Value = Value> {
    let of = |kind: &'static str, parameter: BoxedStrategy<String>| {
        parameter.prop_map(
            move |parameter| json!({"type": kind, "parameter": parameter, "errorMessage": "no"}),
        )
    };
    let year = || {
        prop_oneof![4 => "(19|20)[0-9]{2}", 2 => Just("now".to_owned()), 1 => "[a-z0-9]{0,3}"]
            .boxed()
    };
    prop_oneof![
        4 => of("required", Just(String::new()).boxed()),
        2 => of("minYear", year()),
        2 => of("maxYear", year()),
        1 => of("colour", "[a-z]{0,3}".boxed()),
    ]
}

/// A question with these children.
fn question(children: Vec<Value>) -> impl Strategy<Value = Value> {
    let kinds = "STRING STRING SINGLE_CHOICE MULTIPLE_CHOICE REPEATABLE DISPLAY COLOUR";
    let kinds: Vec<&str> = kinds.split(' ').collect();
    let trigger = (id(), word()).prop_map(|(id, value)| json!({"questionId": id, "value": value}));
    let forms = vec!["LPAC1", "EUC1", "LPAG3", "LPAHRG0"];
    (
        id(),
        prop::sample::select(kinds),
        prop::sample::subsequence(forms, 1..4),
        prop::collection::vec(trigger, 0..3),
        prop::collection::vec(validator(), 0..3),
        prop::collection::vec(word(), 0..4),
        prop::option::of(any::<i8>()),
        prop::bool::weighted(0.1),
    )
        .prop_map(move |(id, kind, forms, triggers, validators, accepted, order, read_only)| {
            let accepted: Vec<_> = accepted.iter().map(|value| json!({"displayName": value, "value": value})).collect();
            json!({"id": id, "type": kind, "text": "?", "forms": forms, "order": order, "readOnly": read_only,
                "triggers": triggers, "validators": validators, "acceptableAnswers": accepted, "childQuestions": children})
        })
}

/// Trees of questions, at most four levels deep. Each id occurs once, as the specification presupposes (2.6).
pub(super) fn list() -> impl Strategy<Value = Vec<Value>> {
    let leaf = question(Vec::new());
    let tree = leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::vec(inner, 0..4).prop_flat_map(question)
    });
    prop::collection::vec(tree, 1..6).prop_map(|mut trees| {
        rename_twins(&mut trees, &mut BTreeSet::new());
        trees
    })
}

fn rename_twins(questions: &mut [Value], seen: &mut BTreeSet<String>) {
    for question in questions {
        let id = question["id"].as_str().unwrap().to_owned();
        let free = (0..).map(|id: u32| id.to_string());
        let mut ids = std::iter::once(id).chain(free);
        let id = ids.find(|id| !seen.contains(id)).unwrap();
        seen.insert(id.clone());
        question["id"] = id.into();
        rename_twins(question["childQuestions"].as_array_mut().unwrap(), seen);
    }
}

/// Answers to questions that may be in such a list, inside and outside rows.
pub(super) fn answers() -> impl Strategy<Value = Vec<Value>> {
    let row = prop_oneof![2 => Just(None), 1 => (0..3_i64).prop_map(Some)];
    let value = prop_oneof![2 => word(), 1 => value()];
    let answer = (id(), row, value)
        .prop_map(|(id, row, value)| json!({"questionId": id, "index": row, "value": value}));
    prop::collection::vec(answer, 0..14)
}
