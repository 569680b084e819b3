//! Reports: comparison with the server, advice, rules of the server's errors, excerpts of values.

use serde_json::json;

use super::questions::{ask, input, prepare, today};
use crate::model::{Accreditations, ConsignmentInput, Day, FormType, Maybe};
use crate::validate::{
    Change, Context, Report, Rule, Severity, Source, compare, validate_fields, validate_fields_json,
};

#[test]
fn a_comparison_names_each_side_and_the_code_where_there_is_one() {
    let mut wrong = input(&[]);
    wrong.movement_time = Maybe::from("25:00");
    let late = validate_fields(&wrong, &today());
    let nothing = Report::from_server_errors(&[]);
    let comparison = compare(&late, &nothing);
    assert!(!comparison.is_equal());
    let shown = comparison.to_string();
    assert!(shown.starts_with("only the mirror: error: ") && shown.ends_with(" (movementTime)"));
    assert!(!compare(&nothing, &late).is_equal());

    wrong.movement_time = Maybe::Absent;
    wrong.forms.push(FormType::Hssl1);
    let mixed = validate_fields(&wrong, &today());
    let shown = compare(&nothing, &mixed).to_string();
    assert_eq!(shown, "only the server: error: Bad request");
    assert_eq!(compare(&late, &mixed).to_string().lines().count(), 2);
    let same = compare(&late, &late);
    assert!(same.is_equal());
    assert_eq!(same.to_string(), "mirror and server say the same");
}

#[test]
fn an_error_of_the_server_has_the_rule_of_the_finding() {
    let address =
        json!({"line1": "x".repeat(301), "town": "x".repeat(101), "state": "XX", "postcode": "0"});
    let wrong = json!({
        "forms": ["LPAC1"], "origin": {"name": "x".repeat(301), "pic": "QAZZ777", "address": address},
        "destination": {}, "movementDate": "soon", "movementTime": "soon",
        "declaration": {"fullName": "x".repeat(301), "phone": "x", "email": "x", "date": "x", "signature": "-",
            "certificateNumber": "12345678", "address": address},
    });
    let mirror = validate_fields_json(&wrong, &today());
    assert_eq!(mirror.findings().len(), 19);
    let server = Report::from_server_errors(&mirror.to_server_errors("createOrSaveConsignment"));
    assert_eq!(server.findings().len(), 19);
    for (ours, theirs) in mirror.findings().iter().zip(server.findings()) {
        assert_eq!(ours.rule, theirs.rule, "{}", ours.code);
        assert_eq!(theirs.source, Source::Server);
    }
}

#[test]
fn a_finding_has_what_would_be_right() {
    let years = json!({"id": "1", "type": "STRING", "forms": ["LPAC1"], "validators": [
        {"type": "minYear", "parameter": "2000"}, {"type": "maxYear", "parameter": "2040"},
        {"type": "maxYear", "parameter": "now"}]});
    let choice = json!({"id": "2", "type": "SINGLE_CHOICE", "forms": ["LPAC1"],
        "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]});
    let tree = prepare(&json!([years, choice]));
    let mut wrong = input(&[("1", None, "1999"), ("2", None, "Perhaps")]);
    let address = json!({"line1": "x".repeat(301), "state": "XX", "postcode": "0"});
    wrong.origin.address = serde_json::from_value(address).unwrap();
    let report = tree.validate(&wrong, &today());
    let expected: Vec<_> = report
        .findings()
        .iter()
        .map(|f| json!(f.expected))
        .collect();
    assert_eq!(
        json!(expected),
        json!([
            {"characters": {"atMost": 300}},
            {"oneOf": {"values": ["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"]}},
            null,
            {"years": {"from": 2000, "to": 2040, "until": "2026-11-20"}},
            {"oneOf": {"values": ["Yes", "No"]}},
        ])
    );
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);

    let mut early = input(&[]);
    early.forms = vec![FormType::Lpag3];
    let report = validate_fields(&early, &Context::on(Day::new(2024, 11, 18).unwrap()));
    let expected = report.findings()[0].expected.as_ref();
    assert_eq!(
        json!(expected),
        json!({"created": {"from": "2024-11-19", "before": null}})
    );
}

#[test]
fn an_accreditation_that_is_not_known_is_advice() {
    let mut cattle = input(&[("unknown", None, "x")]);
    cattle.forms = ["LPAC1", "NFASC0", "MSAC1", "EUC1"]
        .map(FormType::from)
        .to_vec();
    let context = today()
        .accreditations(&Accreditations::default())
        .advice(true);
    let report = prepare(&json!([])).validate(&cattle, &context);
    let shown: Vec<String> = report.advice().iter().map(ToString::to_string).collect();
    for needs in [
        "LPAC1 needs the accreditation lPA",
        "NFASC0 needs the accreditation nFAS",
        "MSAC1 needs the accreditation mSA",
        "EUC1 needs the accreditation eU",
        "No question has this id",
    ] {
        assert!(
            shown.iter().any(|shown| shown == needs),
            "{needs}: {shown:?}"
        );
    }
    for advice in report.advice() {
        assert_eq!(
            (advice.severity, advice.source),
            (Severity::Advice, Source::Advice)
        );
    }
    assert!(
        report
            .advice()
            .iter()
            .any(|a| a.rule == Rule::QuestionKnown)
    );
}

#[test]
fn an_accreditation_that_is_held_or_not_needed_is_no_advice() {
    let mut cattle = input(&[]);
    cattle.forms = vec![FormType::Lpac1, FormType::Euc1];
    let mut known = Accreditations {
        lpa: Some(true),
        ..Accreditations::default()
    };
    let shown = |known: &Accreditations| -> Vec<String> {
        let context = today().accreditations(known).advice(true);
        let report = validate_fields(&cattle, &context);
        report.advice().iter().map(ToString::to_string).collect()
    };
    assert_eq!(shown(&known), ["EUC1 needs the accreditation eU"]);
    known.eu = Some(true);
    assert_eq!(shown(&known), [""; 0]);
    known.lpa = None;
    assert_eq!(shown(&known)[0], "LPAC1 needs the accreditation lPA");
}

#[test]
fn several_answers_are_advice_only_where_one_is_expected() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "MULTIPLE_CHOICE", &[], &[])
    ]));
    let twice = [
        ("1", None, "a"),
        ("1", None, "b"),
        ("2", None, "a"),
        ("2", None, "b"),
    ];
    let report = tree.validate(&input(&twice), &today().advice(true));
    let shown: Vec<_> = report.advice().iter().map(|f| f.code.as_str()).collect();
    assert_eq!(shown, ["answers.1"]);
    assert_eq!(report.advice()[0].rule, Rule::AnsweredOnce);
}

#[test]
fn headings_are_not_judged() {
    let heading = |kind: &str| {
        json!({"id": "1", "type": kind, "forms": ["LPAC1"], "acceptableAnswers": [{"value": "Yes"}],
            "validators": [{"type": "required"}, {"type": "minYear", "parameter": "2000"}]})
    };
    for kind in ["DISPLAY", "REPEATABLE"] {
        let tree = prepare(&json!([heading(kind)]));
        let report = tree.validate(&input(&[("1", None, "1999")]), &today());
        assert!(report.findings().is_empty(), "{report}");
        assert!(report.unchecked().is_empty());
    }
}

#[test]
fn findings_are_found_by_their_question() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[], &[])
    ]));
    let report = tree.validate(&input(&[]), &today());
    let codes: Vec<_> = report.question("2").map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["answers.2"]);
    assert_eq!(report.question("3").count(), 0);
}

#[test]
fn debug_of_a_finding_has_its_rule_and_code_but_no_text() {
    let mut wrong = input(&[]);
    wrong.movement_time = Maybe::from("13:70 Jo's");
    let report = validate_fields(&wrong, &today());
    let logged = format!("{:?}", report.findings()[0]);
    assert!(logged.contains("Time") && logged.contains("movementTime"));
    assert!(!logged.contains("Jo"));
}

#[test]
fn an_invalid_report_is_not_ready_and_its_finding_names_the_field() {
    let report = validate_fields(&ConsignmentInput::default(), &today());
    assert!(!report.is_valid() && !report.can_create() && !report.ready_to_submit());
    let empty = report.at("programs").next().unwrap();
    assert_eq!(empty.input_path(), ["forms"]);
    assert_eq!(empty.source, Source::Mirror);
}

#[test]
fn a_form_asks_for_what_is_open_and_reports_only_what_changed() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[], &[])
    ]));
    let mut form = tree.form(&input(&[]), &today());
    assert_eq!(form.report().findings()[0].source, Source::Mirror);
    assert!(form.report().can_create() && !form.report().ready_to_submit());
    assert_eq!(form.answer("1", None, None), Ok(Change::default()));
    form.answer("1", None, "x").unwrap();
    let open = tree.next_questions(&form.to_input());
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].question, form.next().unwrap().question);
}

/// A consignment with a value of more than 60 characters in each text, and the whole values.
fn long() -> (serde_json::Value, String) {
    // Three bytes each, so that no count of bytes will do.
    let long = "a…".to_owned() + &"水".repeat(400);
    let address = json!({"line1": long, "town": long, "state": long, "postcode": long});
    let party = json!({"name": long, "pic": long, "address": address});
    let input = json!({
        "forms": ["LPAC1"], "origin": party, "destination": party, "owner": party, "consignee": party,
        "movementDate": long, "movementTime": long,
        "declaration": {"fullName": long, "phone": long, "email": long, "date": long,
            "certificateNumber": long, "address": address},
        "answers": [{"questionId": "1", "index": 0, "value": long}, {"questionId": "2", "index": null, "value": long}],
    });
    (input, long)
}

#[test]
fn a_message_repeats_at_most_sixty_characters_of_a_value() {
    let (input, long) = long();
    let years = json!({"id": "1", "type": "STRING", "forms": ["LPAC1"],
        "validators": [{"type": "minYear", "parameter": "2000"}]});
    let choice = json!({"id": "2", "type": "SINGLE_CHOICE", "forms": ["LPAC1"],
        "acceptableAnswers": [{"value": "Yes"}, {"value": "No…"}]});
    let report = prepare(&json!([years, choice])).validate_json(&input, &today());
    assert_eq!(report.findings().len(), 4 * 6 + 2 + 5 + 4 + 2);
    let head: String = long.chars().take(60).collect();
    let mut whole = report.to_server_errors("createOrSaveConsignment");
    for (finding, error) in report.findings().iter().zip(&mut whole) {
        assert!(finding.message.contains(&format!("{head}…")), "{finding}");
        assert!(!finding.message.contains(&format!("{head}水")), "{finding}");
        // As the server sends it, with the whole value.
        let message = finding.message.replace(&format!("{head}…"), &long);
        let mut value = serde_json::to_value(&*error).unwrap();
        value["message"] = json!(message);
        value["extensions"]["data"]["Message"] = json!(message);
        *error = serde_json::from_value(value).unwrap();
    }
    let server = Report::from_server_errors(&whole);
    let comparison = compare(&report, &server);
    assert!(comparison.is_equal(), "{comparison}");
    // Each matches once.
    let again = [&whole[..], &whole[..1]].concat();
    let comparison = compare(&report, &Report::from_server_errors(&again));
    assert_eq!(
        (comparison.only_mirror.len(), comparison.only_server.len()),
        (0, 1)
    );

    let report = validate_fields_json(
        &json!({"forms": [long], "status": long, long.clone(): 1}),
        &today(),
    );
    assert_eq!(report.findings().len(), 3);
    for finding in report.findings() {
        assert!(finding.message.contains(&format!("{head}…")), "{finding}");
        assert!(!finding.message.contains(&format!("{head}水")), "{finding}");
    }
}

#[test]
fn a_message_repeats_nothing_of_a_signature() {
    for signature in ["not base64!".to_owned(), "?".repeat(210_000)] {
        let mut wrong = input(&[]);
        let declaration = json!({"signature": signature});
        wrong.declaration = serde_json::from_value(declaration).unwrap();
        let report = validate_fields(&wrong, &today());
        let finding = report.at("declaration.signature").next().unwrap();
        let said = "String '…' does not validate against format 'base64'.";
        assert_eq!(finding.message, said);
        assert_eq!(finding.value, None);
        let mut whole = serde_json::to_value(report.to_server_errors("save")).unwrap();
        whole[0]["message"] = json!(said.replace('…', &signature));
        let server = serde_json::from_value::<Vec<_>>(whole).unwrap();
        assert!(compare(&report, &Report::from_server_errors(&server)).is_equal());
    }
}
