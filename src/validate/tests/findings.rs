//! Details of findings: the texts of their question, and problems that the server does not get to.

use serde_json::{Value, json};
use test_support::script::rows;

use super::questions::{ask, prepare, today};
use super::sentences::{answer, report, sentences};
use crate::validate::{Finding, Rule};

#[test]
fn a_finding_has_the_words_of_its_question() {
    let both = report(&[answer("3", ""), answer("5", "1999")]);
    let [head, born] = both.findings() else {
        panic!("{both}")
    };
    let text = head.question_text.as_deref().unwrap();
    assert_eq!(text.text, "Number of head");
    assert_eq!(text.help.as_deref(), Some("Count all of them."));
    assert_eq!(text.tip.as_deref(), Some("Calves count too."));
    assert_eq!(text.error_message.as_deref(), Some("Please count."));
    assert_eq!(head.message, "Required");
    let message = |finding: &Finding| finding.question_text.clone().unwrap().error_message;
    assert_eq!(message(born).as_deref(), Some("Too old."));
    let first = |id, value| message(&report(&[answer(id, value)]).findings()[0]);
    assert_eq!(first("5", "2026-11-21").unwrap(), "Not born yet.");
    assert_eq!(first("4", "3"), None);
}

#[test]
fn question_185_has_its_text_where_questions_are_loaded() {
    let mut list = ask("185", "SINGLE_CHOICE", &[], &[]);
    list["forms"] = json!(["LPAHRG0"]);
    list["text"] = json!("Do the goats have devices?");
    let input = json!({"forms": ["LPAHRG0"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}});
    let report = prepare(&json!([list])).validate_json(&input, &today());
    let said = report.findings()[0].sentence();
    let expected = "“Do the goats have devices?” is not answered. Enter an answer.";
    assert_eq!(said, expected);
}

#[test]
fn problems_that_the_server_does_not_reach_are_listed_separately() {
    let report = report(&[
        ("/status", json!("SENT")),
        ("/movementTime", json!("25:00")),
        answer("3", ""),
    ]);
    assert_eq!(report.findings().len(), 1);
    let others = report.not_judged().iter();
    let others: Vec<_> = others.map(|f| f.code.as_str()).collect();
    assert_eq!(others, ["movementTime", "answers.3.1"]);
    assert!(!report.is_valid());
    assert!(report.to_string().contains("not checked by the server"));
}

#[test]
fn unreadable_values_are_not_reported_as_missing() {
    let rules = |edits: &[(&str, Value)]| -> Vec<Rule> {
        let report = report(edits);
        assert!(report.findings().iter().all(|f| f.rule == Rule::WireType));
        report.not_judged().iter().map(|f| f.rule).collect()
    };
    let value = (
        "/answers",
        json!([{"questionId": "3", "index": 0, "value": 12}]),
    );
    let time = ("/movementTime", json!("x"));
    let missing = || answer("3", "");
    let wrong = json!({"questionId": "5", "value": 7});
    for (edits, others) in [
        (vec![("/origin/pic", json!(7))], &[][..]),
        (vec![("/origin", json!(7))], &[]),
        (vec![("/forms", json!([7]))], &[]),
        (vec![value, time], &[Rule::Time]),
        // The question of this answer is unknown, so it may be any of the missing ones.
        (vec![missing(), ("/answers/-", json!(7))], &[]),
        (vec![missing(), ("/answers/-", wrong)], &[Rule::Required]),
    ] {
        assert_eq!(rules(&edits), others, "{edits:?}");
    }
}

#[test]
fn findings_about_forms_name_their_field() {
    for forms in [&["LPAC1", "HSSL1"][..], &["LPAG2"], &["NFASC0"], &[]] {
        let report = report(&[("/forms", json!(forms))]);
        let finding = &report.findings()[0];
        assert_eq!(finding.input_path(), ["forms"], "{finding}");
        assert_eq!(finding.label(), "Forms");
    }
}

#[test]
fn a_date_or_time_is_corrected_where_its_meaning_is_clear() {
    for row in rows(
        "
        /movementDate     | 2026-2-3             | as 2026-02-03
        /movementDate     | 3.2.2026             | as 2026-02-03
        /movementDate     | 31/4/2026            | as 2026-04-30
        /movementDate     | 29/02/2026           | as 2026-02-28
        /movementDate     | 2026-13-01           | like 2026-11-20
        /movementDate     | 2026-01-32           | like 2026-11-20
        /movementDate     | 1/2/26               | like 2026-11-20
        /movementDate     |                      | like 2026-11-20
        /movementTime     | 05:15:00             | as 05:15
        /movementTime     | 5.15                 | as 05:15
        /movementTime     | 24:00                | like 14:30
        /movementTime     | 5 pm                 | like 14:30
        /declaration/date | 2026-11-20T09:45     | as 2026-11-20T09:45:00
        /declaration/date | 2026-11-20           | like 2026-11-20T14:30:00
        /declaration/date | 2026-11-20T09:45:00Z | like 2026-11-20T14:30:00
        ",
    ) {
        let said = sentences(&[(row[0], json!(row[1]))]);
        let end = format!(" Write it {}.", row[2]);
        assert!(said.iter().any(|s| s.ends_with(&end)), "{row:?}: {said:?}");
    }
}
