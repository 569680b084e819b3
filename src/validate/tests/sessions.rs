//! Sessions: what an answer changes.

use serde_json::json;

use super::questions::{ask, input, prepare, today};
use crate::model::{ConsignmentInput, FormType, Maybe};
use crate::validate::{Questionnaire, Session};

fn yard() -> Questionnaire {
    prepare(&json!([
        ask(
            "1",
            "STRING",
            &[],
            &[ask("2", "STRING", &[("1", "Yes")], &[])]
        ),
        ask(
            "3",
            "REPEATABLE",
            &[],
            &[
                ask("4", "STRING", &[], &[]),
                ask("5", "STRING", &[("1", "Yes")], &[])
            ]
        ),
    ]))
}

fn ids(questions: &[crate::validate::QuestionRef]) -> Vec<String> {
    questions.iter().map(ToString::to_string).collect()
}

fn check(questionnaire: &Questionnaire, session: &Session) {
    assert_eq!(
        session.report(),
        questionnaire.validate(session.input(), &today())
    );
}

#[test]
fn an_answer_brings_and_takes_questions_with_their_findings() {
    let tree = yard();
    let mut session = tree.session(&input(&[("4", Some(0), "x")]), &today());
    let change = session.answer("1", None, Some("Yes"));
    assert_eq!(ids(&change.appeared), ["2", "5 in row 1"]);
    assert_eq!(change.added.len(), 2);
    assert_eq!(change.removed[0].code, "answers.1");
    check(&tree, &session);
    let change = session.answer("1", None, Some("No"));
    assert_eq!(ids(&change.vanished), ["2", "5 in row 1"]);
    assert_eq!((change.added.len(), change.removed.len()), (0, 2));
    check(&tree, &session);
    let change = session.answer("1", None, None);
    assert_eq!(change.added[0].code, "answers.1");
    check(&tree, &session);
}

#[test]
fn rows_come_and_go_with_their_answers() {
    let tree = yard();
    let mut session = tree.session(
        &ConsignmentInput::new([FormType::Lpac1], "a".into_party(), "b".into_party()),
        &today(),
    );
    let change = session.answer("4", Some(1), Some("x"));
    assert_eq!(ids(&change.appeared), ["4 in row 2"]);
    check(&tree, &session);
    let change = session.answer("4", Some(1), None);
    assert_eq!(ids(&change.vanished), ["4 in row 2"]);
    assert!(session.input().answers().is_empty());
    check(&tree, &session);
}

trait IntoParty {
    fn into_party(self) -> crate::model::PartyInput;
}

impl IntoParty for &str {
    fn into_party(self) -> crate::model::PartyInput {
        crate::model::PartyInput::new(self)
    }
}

#[test]
fn several_answers_in_one_place_give_way_to_the_new_one() {
    let tree = yard();
    let mut session = tree.session(&input(&[("1", None, "a"), ("1", Some(7), "b")]), &today());
    session.answer("1", None, Some("Yes"));
    assert_eq!(session.input().answers().len(), 1);
    check(&tree, &session);
    session.answer("unknown", None, Some("x"));
    session.answer("unknown", None, Some("y"));
    assert_eq!(session.input().answers().len(), 2);
    check(&tree, &session);
}

#[test]
fn other_edits_are_followed_too() {
    let tree = yard();
    let mut session = tree.session(&input(&[]), &today());
    let change = session.edit(|input| input.movement_time = Maybe::from("25:00"));
    assert_eq!(change.added[0].code, "movementTime");
    let change = session.edit(|input| input.forms = vec!["LPAC9".into()]);
    assert!(change.added.iter().any(|f| f.message.contains("EFormType")));
    check(&tree, &session);
    // Nothing else is reported now, as the server stops here.
    let change = session.answer("1", None, Some("Yes"));
    assert_eq!(change, crate::validate::Change::default());
    check(&tree, &session);
    let change = session.edit(|input| input.forms = vec![FormType::Lpac1]);
    assert_eq!(ids(&change.appeared), ["1", "2", "3"]);
    check(&tree, &session);
    assert_eq!(session.into_input().answers().len(), 1);
}

#[test]
fn the_rule_about_185_is_followed() {
    let tree = prepare(&json!([{"id": "185", "type": "STRING", "forms": ["LPAHRG0"]}]));
    let mut goats = input(&[("185", None, "Yes")]);
    goats.forms = vec![FormType::Lpahrg0];
    let mut session = tree.session(&goats, &today());
    let change = session.answer("185", None, Some("No"));
    assert_eq!(change.added[0].code, "");
    assert!(!session.report().is_valid());
}
