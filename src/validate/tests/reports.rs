//! Reports: comparison with the server, expectations, rules of server errors, excerpts of values.

use serde_json::json;

use super::questions::{input, list, today};
use super::server_errors;
use crate::model::{Day, FormType, Maybe};
use crate::validate::{
    Context, Finding, Report, Rule, compare, validate_fields, validate_fields_json,
};

#[test]
fn a_comparison_names_each_side_and_the_code_where_there_is_one() {
    let mut wrong = input("");
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
    let server = Report::from_server_errors(&server_errors(&mirror));
    assert_eq!(server.findings().len(), 19);
    for (ours, theirs) in mirror.findings().iter().zip(server.findings()) {
        assert_eq!(ours.rule, theirs.rule, "{}", ours.code);
    }
}

#[test]
fn a_finding_has_the_correct_value() {
    let list = list("1 optional >=2000 <=2040 <=now; 2 SINGLE_CHOICE optional [Yes|No]");
    let mut wrong = input("1=1999; 2=Perhaps");
    let address = json!({"line1": "x".repeat(301), "state": "XX", "postcode": "0"});
    wrong.origin.address = serde_json::from_value(address).unwrap();
    let report = list.validate(&wrong, &today());
    let expected = |report: &Report| {
        let findings = report.findings().iter();
        json!(findings.map(|f| &f.expected).collect::<Vec<_>>())
    };
    let wanted = json!([
        {"characters": {"atMost": 300}},
        {"oneOf": {"values": ["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"]}},
        null,
        {"years": {"from": 2000, "to": 2040, "until": "2026-11-20"}},
        {"oneOf": {"values": ["Yes", "No"]}},
    ]);
    assert_eq!(expected(&report), wanted);

    let mut early = input("");
    early.forms = vec![FormType::Lpag3];
    let report = validate_fields(&early, &Context::on(Day::new(2024, 11, 18).unwrap()));
    let wanted = json!([{"created": {"from": "2024-11-19", "before": null}}]);
    assert_eq!(expected(&report), wanted);
}

#[test]
fn a_report_comes_back_from_its_json_and_debug_shows_no_text_of_it() {
    let mut wrong = input("1=1999; 9=Jo's");
    wrong.movement_time = Maybe::from("13:70 Jo's");
    let report = list("1 >=2000; 2 COLOUR").validate(&wrong, &today().advice(true));
    assert!(!report.advice().is_empty() && !report.unchecked().is_empty());
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);

    let finding = &report.findings()[0];
    assert!(finding.to_string().contains("Jo"));
    wrong.movement_time = Maybe::from("\u{1b}[2J\n\u{202e}");
    let shown = list("1").validate(&wrong, &today()).findings()[0].to_string();
    assert!(shown.contains(r"\u{1b}[2J\n"), "{shown}");
    let logged = format!("{finding:?}");
    assert!(logged.contains("Time") && logged.contains("movementTime"));
    assert!(!format!("{logged}{report:?}").contains("Jo"));
}

/// A consignment with more than 60 characters in each text, and that text.
fn long() -> (serde_json::Value, String) {
    // Three bytes each, so that counting bytes instead of characters fails.
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
    let list = list("1 optional >=2000; 2 SINGLE_CHOICE optional [Yes|No…]");
    let report = list.validate_json(&input, &today());
    assert_eq!(report.findings().len(), 4 * 6 + 2 + 5 + 4 + 2);
    let head: String = long.chars().take(60).collect();
    let mut whole = server_errors(&report);
    let assert_cut = |finding: &Finding| {
        assert!(finding.message.contains(&format!("{head}…")), "{finding}");
        assert!(!finding.message.contains(&format!("{head}水")), "{finding}");
    };
    for (finding, error) in report.findings().iter().zip(&mut whole) {
        assert_cut(finding);
        // The server's message has the full value.
        let message = finding.message.replace(&format!("{head}…"), &long);
        let mut value = serde_json::to_value(&*error).unwrap();
        value["message"] = json!(message);
        value["extensions"]["data"]["Message"] = json!(message);
        *error = serde_json::from_value(value).unwrap();
    }
    let server = Report::from_server_errors(&whole);
    let comparison = compare(&report, &server);
    assert!(comparison.is_equal(), "{comparison}");
    // Each finding matches only once.
    let again = [&whole[..], &whole[..1]].concat();
    let comparison = compare(&report, &Report::from_server_errors(&again));
    let differing = (comparison.only_mirror.len(), comparison.only_server.len());
    assert_eq!(differing, (0, 1));

    let input = json!({"forms": [long], "status": long, long.clone(): 1});
    let report = validate_fields_json(&input, &today().advice(true));
    assert_eq!(report.findings().len(), 2);
    let advice = report.advice().iter().filter(|f| f.rule == Rule::FormKnown);
    report
        .findings()
        .iter()
        .chain(advice)
        .for_each(|finding| assert_cut(finding));
}

#[test]
fn a_message_has_no_part_of_a_signature() {
    for signature in ["not base64!".to_owned(), "?".repeat(210_000)] {
        let mut wrong = input("");
        let declaration = json!({"signature": signature});
        wrong.declaration = serde_json::from_value(declaration).unwrap();
        let report = validate_fields(&wrong, &today());
        let finding = report.at("declaration.signature").next().unwrap();
        let said = "String '…' does not validate against format 'base64'.";
        assert_eq!(finding.message, said);
        assert_eq!(finding.value, None);
        let mut whole = serde_json::to_value(server_errors(&report)).unwrap();
        whole[0]["message"] = json!(said.replace('…', &signature));
        let server = serde_json::from_value::<Vec<_>>(whole).unwrap();
        assert!(compare(&report, &Report::from_server_errors(&server)).is_equal());
    }
}
