//! Properties that hold for every list of questions and every sequence of edits.

use std::sync::Arc;

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use crate::model::ConsignmentInput;
use crate::validate::tests::questions::{applicable, prepare, prepare_with, today};
use crate::validate::tests::shapes::{answers, input_of, text, trees};
use crate::validate::{Blocker, Change, Finding, Form, Item, ItemKind, QuestionRef, Report, Rule};
use test_support::seeded::cases;

fn row() -> impl Strategy<Value = Option<i64>> {
    prop::option::of(0..3_i64)
}

fn input() -> impl Strategy<Value = ConsignmentInput> {
    answers(8).prop_map(|answers| input_of(&answers))
}

#[derive(Clone, Debug)]
enum Edit {
    Answer(u8, Option<i64>, Option<String>),
    AddRow(u8, Option<i64>),
    RemoveRow(u8, Option<i64>),
    Skip(u8),
    Field(&'static str, String),
    Undo,
}

fn edit() -> impl Strategy<Value = Edit> {
    let fields = "origin.pic movementDate owner.name forms x.y".split(' ');
    let field = prop::sample::select(fields.collect::<Vec<_>>());
    prop_oneof![
        6 => (0..8_u8, row(), prop::option::of(text())).prop_map(|(id, row, value)| Edit::Answer(id, row, value)),
        3 => (0..7_u8, row()).prop_map(|(id, row)| Edit::AddRow(id, row)),
        2 => (0..7_u8, row()).prop_map(|(id, row)| Edit::RemoveRow(id, row)),
        1 => (0..7_u8).prop_map(Edit::Skip),
        1 => (field, text()).prop_map(|(path, value)| Edit::Field(path, value)),
        1 => any::<()>().prop_map(|()| Edit::Undo),
    ]
}

/// The change, or `None` if the edit was refused.
fn apply(form: &mut Form, edit: &Edit) -> Option<Change> {
    match edit {
        Edit::Answer(id, row, value) => form.answer((id.to_string(), *row), value.as_deref()).ok(),
        Edit::AddRow(id, row) => form.add_row(QuestionRef::new(id.to_string(), *row)).ok(),
        Edit::RemoveRow(id, row) => form.remove_row(id.to_string(), *row).ok(),
        Edit::Skip(id) => {
            let skipped = form.skip(id.to_string().as_str());
            skipped.ok().map(|()| Change::default())
        }
        Edit::Field(path, value) => form.field(path, value).ok(),
        Edit::Undo => form.undo(),
    }
}

/// Everything a form shows.
fn seen(form: &Form) -> Value {
    let items = form.items();
    let blockers = form.blockers();
    json!([form.save(), items, form.report(), form.progress(), blockers])
}

fn questions(items: &[Item]) -> Vec<QuestionRef> {
    let all = items.iter().flat_map(Item::descendants);
    let mut questions: Vec<QuestionRef> = all.map(|item| item.question.clone()).collect();
    questions.sort_by(|one, other| (&one.id, one.row).cmp(&(&other.id, other.row)));
    questions
}

/// Applies a change to the previous list.
fn changed<T: Clone + PartialEq>(before: Vec<T>, gone: &[T], new: &[T]) -> Vec<T> {
    let mut now = before;
    for one in gone {
        let at = now.iter().position(|other| other == one);
        now.remove(at.expect("it was not there before"));
    }
    now.extend_from_slice(new);
    now
}

fn lines(findings: &[Arc<Finding>]) -> Vec<String> {
    let mut lines: Vec<String> = findings.iter().map(|f| format!("{f:?}{f}")).collect();
    lines.sort();
    lines
}

/// A report without row numbers: a form counts empty rows as well.
fn unnumbered(report: &Report) -> Report {
    let mut report = report.clone();
    let all = report.findings.iter_mut().chain(&mut report.advice);
    for finding in all.chain(&mut report.not_judged) {
        Arc::make_mut(finding).row_number = None;
    }
    report
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_obvious_loop_reaches_ready_or_a_finding_about_an_answer(
        trees in trees(),
        start in input(),
        stale in any::<bool>(),
        // For each step: whether a section gets a row, and the text for a question.
        choices in prop::collection::vec((any::<bool>(), text()), 1..20),
    ) {
        let list = prepare_with(&json!(trees), stale);
        let mut form = list.form(&start, &today());
        let most = 8 * (list.tree.len() + 1) * (list.tree.len() + 4);
        let mut steps = 0;
        let mut skipped = Vec::new();
        while let Some(item) = form.next() {
            let (adds, text) = &choices[steps % choices.len()];
            steps += 1;
            prop_assert!(steps <= most, "{item:?} after {steps} steps");
            if item.kind == ItemKind::Rows {
                prop_assert!(item.can_add);
                if *adds {
                    form.add_row(item.question).unwrap();
                } else {
                    skipped.push(item.question.clone());
                    form.skip(item.question).unwrap();
                }
                continue;
            }
            let value = item.choices.iter().map(|choice| choice.value.as_str());
            let value = value.chain([text.as_str(), "x"]).find(|value| !value.is_empty());
            let QuestionRef { id, row, .. } = item.question;
            form.answer((id, row), value).unwrap();
        }
        // A skipped section may share its id with a question, which is then skipped too.
        let is_question = |question: &usize| list.tree[*question].kind != ItemKind::Rows;
        skipped.retain(|skipped| list.tree.with(Some(&skipped.id)).iter().any(is_question));
        let mut is_ready = true;
        for blocker in form.blockers() {
            prop_assert!(!blocker.to_string().is_empty());
            match &blocker {
                Blocker::Finding(finding) => {
                    let is_skipped = skipped.iter().any(|skipped| Some(skipped) == finding.question.as_ref());
                    prop_assert!(finding.rule != Rule::Required || is_skipped, "{}", blocker);
                    is_ready = false;
                }
                Blocker::EmptyRow { row, .. } => {
                    prop_assert!(skipped.iter().any(|skipped| skipped.row == *row), "{}", blocker);
                }
                Blocker::NoRow { .. } => prop_assert!(false, "{}", blocker),
            }
        }
        prop_assert_eq!(is_ready, form.report().ready_to_submit());
    }

    #[test]
    fn edits_match_a_full_check_and_undo_restores_the_previous_state(
        trees in trees(),
        stale in any::<bool>(),
        start in input(),
        edits in prop::collection::vec(edit(), 0..16),
    ) {
        let list = prepare_with(&json!(trees), stale);
        let context = today().advice(true);
        let mut form = list.form(&start, &context);
        let mut states = vec![form.clone()];
        for edit in &edits {
            let before = form.clone();
            let Some(change) = apply(&mut form, edit) else {
                prop_assert_eq!(seen(&form), seen(&before), "{:?} stored something", edit);
                continue;
            };
            let sent = list.validate(&form.to_input(), &context);
            prop_assert_eq!(unnumbered(form.report()), unnumbered(&sent), "{:?}", edit);
            let found = changed(before.report().findings().to_vec(), &change.removed, &change.added);
            prop_assert_eq!(lines(&found), lines(form.report().findings()));
            let mut asked = changed(questions(&before.items()), &change.vanished, &change.appeared);
            asked.sort_by(|one, other| (&one.id, one.row).cmp(&(&other.id, other.row)));
            prop_assert_eq!(asked, questions(&form.items()));
            if matches!(edit, Edit::Undo) {
                states.pop();
                prop_assert_eq!(seen(&form), seen(states.last().unwrap()));
            } else if seen(&form) != seen(&before) {
                states.push(form.clone());
            }
        }
        let saved = serde_json::to_string(&form.save()).unwrap();
        let opened = list.open(serde_json::from_str(&saved).unwrap(), &context).unwrap();
        prop_assert_eq!(seen(&opened), seen(&form));
        while states.pop().is_some() && form.undo().is_some() {
            prop_assert_eq!(seen(&form), seen(states.last().unwrap()));
        }
    }

    #[test]
    fn items_are_the_questions_that_apply(trees in trees(), start in input()) {
        let list = prepare(&json!(trees));
        let form = list.form(&start, &today());
        let mut applied = applicable(&list, &start);
        applied.sort_by(|one, other| (&one.id, one.row).cmp(&(&other.id, other.row)));
        prop_assert_eq!(applied, questions(&form.items()));
    }
}
