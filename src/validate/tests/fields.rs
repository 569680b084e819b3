//! Fields of the consignment, its parties and the declaration (spec 2.1 to 2.3).

use serde_json::{Value, json};

use super::questions::{input, today};
use crate::model::ConsignmentInput;
use crate::tests::reading::check_fields;
use crate::validate::{Report, Rule, Severity, validate_fields};

fn report(input: &Value) -> Report {
    let input: ConsignmentInput = serde_json::from_value(input.clone()).unwrap();
    validate_fields(&input, &today())
}

/// The codes of the findings, which are all errors.
fn codes(input: &Value) -> Vec<String> {
    let report = report(input);
    let all = report.findings();
    assert!(all.iter().all(|f| f.severity == Severity::Error));
    all.iter().map(|finding| finding.code.clone()).collect()
}

#[test]
fn fields_are_judged_as_the_specification_says() {
    check_fields(codes);
}

#[test]
fn a_pic_is_required_of_origin_and_destination_and_any_other_field_may_be_null() {
    let parties = |origin: Value, destination: Value| json!({"forms": ["LPAC1"], "origin": origin, "destination": destination});
    let pic = || json!({"pic": "QAZZ7777"});
    for missing in [json!({}), json!({"pic": null}), json!(null)] {
        assert_eq!(codes(&parties(missing.clone(), pic())), ["origin.pic"]);
        let found = report(&parties(pic(), missing));
        assert_eq!(found.findings()[0].code, "destination.pic");
        assert_eq!(found.findings()[0].rule, Rule::PicPresent);
    }
    let address = json!({"line1": null, "postcode": null, "state": null, "town": null});
    let party = json!({"pic": "QAZZ7777", "name": null, "address": address});
    let mut nulls = parties(party.clone(), party);
    nulls["owner"] = json!({"pic": null});
    nulls["declaration"] = json!({"accept": null, "certificateNumber": null, "date": null, "email": null, "fullName": null,
        "phone": null, "signature": null, "address": address});
    for name in "consignee movementDate movementTime status answers".split(' ') {
        nulls[name] = Value::Null;
    }
    assert_eq!(codes(&nulls), [""; 0]);
}

/// Cases on which the specification is silent; the fake is less strict.
#[test]
fn an_address_of_email_has_a_local_part_and_a_domain() {
    for (email, is_valid) in [
        ("\"a@b\"@example.com", true),
        ("a@b@example.com", false),
        ("Sam <sam@example.com>", false),
        ("sam@[127.0.0.1]", false),
    ] {
        let mut input = serde_json::to_value(input("")).unwrap();
        input["declaration"] = json!({"email": email});
        assert_eq!(report(&input).is_valid(), is_valid, "{email}");
    }
}

#[test]
fn the_origin_pic_is_compared_only_with_a_known_account() {
    let mut input = input("");
    input.origin.pic = "qazz7777".to_owned().into();
    for (pic, valid) in [
        (None, true),
        (Some("QAZZ7777"), true),
        (Some("QDZZ3333"), false),
    ] {
        let context = pic.map_or(today(), |pic| today().account_pic(pic));
        let report = validate_fields(&input, &context);
        assert_eq!(report.is_valid(), valid, "{pic:?}");
        assert_eq!(report.at("consignorPic").count(), usize::from(!valid));
    }
}
