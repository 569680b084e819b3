//! JSON that may not have the shape of a consignment.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::{Value, json};

use super::bodies::{cases as stored, fixture, questions};
use super::questions::{list, today};
use crate::model::{ConsignmentInput, Question};
use crate::validate::draft::ReadInput;
use crate::validate::{Context, Form, Questionnaire, Report, Rule, validate_fields_json};
use test_support::script::rows;
use test_support::seeded::cases;

fn good() -> Value {
    json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777", "address": {"town": "x"}}, "destination": {"pic": "QDZZ3333"},
        "declaration": {"accept": true}, "answers": [{"questionId": "1", "index": 0, "value": "x"}]})
}

#[test]
fn input_of_the_right_types_is_read_unchanged() {
    for case in [stored("valid"), stored("invalid")].concat() {
        let input = &fixture(case["file"].as_str().unwrap())["input"];
        let draft = ReadInput::read(input);
        assert!(draft.findings.is_empty());
        assert_eq!(draft.input, serde_json::from_value(input.clone()).unwrap());
        assert_eq!(serde_json::to_value(&draft.input).unwrap(), *input);
    }
}

#[test]
fn each_value_of_the_wrong_type_is_a_finding_at_its_path() {
    let wrong = |changes: &[(&str, Value)]| {
        let mut input = good();
        for (pointer, value) in changes {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match input.pointer_mut(parent).unwrap() {
                Value::Array(items) => items[0].clone_from(value),
                parent => parent[name].clone_from(value),
            }
        }
        validate_fields_json(&input, &today())
    };
    for row in rows(
        r#"
        /origin/pic           | 7       | Unable to convert '7' to 'String'
        /origin/address/town  | ["x"]   | Unable to convert '[..]' to 'String'
        /origin/address       | "x"     | 'AddressInput'
        /origin/colour        | 5       | 'colour'
        /destination          | true    | 'PartyInput'
        /forms/0              | 1       | Unable to convert '1' to 'EFormType'
        /forms/0              | null    | null
        /forms                | {}      | 'EFormType'
        /status               | "SENT"  | 'ConsignmentStatus'
        /status               | 1       | 'ConsignmentStatus'
        /declaration/accept   | "yes"   | 'Boolean'
        /declaration/date     | 2026    | 'String'
        /answers/0/index      | "0"     | 'Int'
        /answers/0/index      | 1.5     | 'Int'
        /answers/0/value      | 3       | 'String'
        /answers/0/questionId | 3       | 'String'
        /answers/0            | "x"     | 'AnswerInput'
        /answers              | 5       | 'AnswerInput'
        /movementTime         | 5       | 'String'
        "#,
    ) {
        let report = wrong(&[(row[0], serde_json::from_str(row[1]).unwrap())]);
        assert_eq!(report.findings().len(), 1, "{row:?} {report}");
        let finding = &report.findings()[0];
        assert_eq!(finding.path.join("/"), row[0][1..]);
        assert_eq!(finding.code, "INVALID_VALUE");
        assert!(finding.message.contains(row[2]), "{row:?} {finding}");
        assert!(!report.is_valid());
    }
    assert!(wrong(&[]).is_valid());
    let all = ["/forms/0", "/origin/pic", "/status", "/answers/0"].map(|at| (at, json!(1)));
    assert_eq!(wrong(&all).findings().len(), 4);
    assert_eq!(ReadInput::read(&json!([])).findings[0].rule, Rule::WireType);
}

#[test]
fn a_single_value_stands_for_a_list_of_one() {
    let draft = ReadInput::read(&json!({"forms": "LPAC1", "answers": {"questionId": "1"}}));
    assert!(draft.findings.is_empty());
    let input = draft.input;
    assert_eq!((input.forms.len(), input.answers().len()), (1, 1));
}

#[test]
fn an_unreadable_field_does_not_hide_a_missing_answer() {
    let mut input = good();
    input["answers"] = json!([]);
    input["origin"]["pic"] = json!(7);
    let report = list("1").validate_json(&input, &today());
    let mut others = report.not_judged().iter();
    assert!(others.any(|finding| finding.rule == Rule::Required));
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<(Questionnaire, Form, Report, Context)>();
}

/// Real field names in random places, so that the reader gets past the first level.
fn wire() -> impl Strategy<Value = Value> {
    let texts = "LPAC1 LPAHRG0 185 No 2026-11-20 QAZZ7777 1 REPEATABLE minYear now".split(' ');
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(texts.collect::<Vec<_>>()).prop_map(Value::from),
    ];
    let names = "forms origin destination declaration answers questionId index value pic address postcode status movementDate id \
        type childQuestions triggers validators parameter acceptableAnswers order x";
    let names = prop::sample::select(names.split_whitespace().collect::<Vec<_>>());
    leaf.prop_recursive(5, 48, 8, move |inner| {
        let field = (names.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            prop::collection::vec(field, 0..8).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_json_panics(input in wire(), list in wire()) {
        let list: Vec<Question> = serde_json::from_value(list).unwrap_or_default();
        let questionnaire = Questionnaire::prepare(&list);
        let context = today().advice(true);
        let _ = questionnaire.validate_json(&input, &context).to_string();
        if let Ok(input) = serde_json::from_value::<ConsignmentInput>(input) {
            let _ = questionnaire.validate(&input, &context).to_string();
            let _ = questionnaire.form(&input, &today()).items();
        }
    }
}

/// A bounded fuzz test: real consignments and the real list, with random bytes changed.
#[test]
fn damaged_bytes_do_not_panic() {
    let inputs = ["lpac1-hsc2", "lpahrg0", "invalid/several-layers"]
        .map(|name| fixture(&format!("consignments/{name}.json"))["input"].to_string());
    let list = fixture("questions.json")["data"]["questions"]["items"].to_string();
    let real = Questionnaire::prepare(&questions());
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        // xorshift64: the quality of the random numbers does not matter.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let mut damage = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes[at] = b"0129-\"[]{}:,nulA"[next(16)],
                1 => drop(bytes.remove(at)),
                2 => bytes.swap(at, next(text.len() - 8)),
                _ => bytes.insert(at, bytes[next(at + 1)]),
            }
        }
        bytes
    };
    let context = today().advice(true);
    let mut were_json = 0;
    for round in 0..600 {
        let input = damage(&inputs[round % inputs.len()]);
        if let Ok(input) = serde_json::from_slice::<Value>(&input) {
            were_json += 1;
            let _ = real.validate_json(&input, &context).to_string();
        }
        if round % 10 == 0
            && let Ok(list) = serde_json::from_slice::<Vec<Question>>(&damage(&list))
        {
            let input = ReadInput::read(&serde_json::from_str(&inputs[0]).unwrap()).input;
            let _ = Questionnaire::prepare(&list).validate(&input, &context);
        }
    }
    assert!(were_json > 100, "only {were_json} were JSON");
}
