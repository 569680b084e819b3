//! Which questions apply, and whether their answers are right (spec 2.4, 2.6).

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::script::rows;

use crate::model::{AnswerInput, ConsignmentInput, Day, Question};
use crate::tests::reading::{self, APPLICABLE, JUDGED, check, check_years};
use crate::validate::{
    Context, Finding, Item, ItemKind, Policy, QuestionRef, Questionnaire, Rule, Severity,
};

pub(in crate::validate) fn prepare(questions: &Value) -> Questionnaire {
    prepare_with(questions, false)
}

pub(in crate::validate) fn prepare_with(
    questions: &Value,
    stale_answers_count: bool,
) -> Questionnaire {
    let questions: Vec<Question> = serde_json::from_value(questions.clone()).unwrap();
    let policy = Policy::default().stale_answers_count(stale_answers_count);
    Questionnaire::prepare_with(&questions, policy)
}

/// A list in the notation of [`reading`].
pub(in crate::validate) fn list(text: &str) -> Questionnaire {
    prepare(&reading::questions(text))
}

/// A consignment in that notation.
pub(in crate::validate) fn input(text: &str) -> ConsignmentInput {
    serde_json::from_value(reading::input(text)).unwrap()
}

/// A required question of LPAC1.
pub(in crate::validate) fn ask(
    id: &str,
    kind: &str,
    triggers: &[(&str, &str)],
    children: &[Value],
) -> Value {
    let trigger = |(id, value): &(&str, &str)| json!({"questionId": id, "value": value});
    let triggers: Vec<Value> = triggers.iter().map(trigger).collect();
    json!({"id": id, "type": kind, "forms": ["LPAC1"], "triggers": triggers, "childQuestions": children,
        "validators": [{"type": "required", "parameter": ""}]})
}

pub(in crate::validate) fn today() -> Context {
    Context::on(Day::new(2026, 11, 20).unwrap())
}

pub(in crate::validate) fn shown(question: &QuestionRef) -> String {
    match question.row {
        Some(row) => format!("{}.{row}", question.id),
        None => question.id.to_string(),
    }
}

/// The applicable questions in display order.
pub(in crate::validate) fn applicable(
    list: &Questionnaire,
    input: &ConsignmentInput,
) -> Vec<QuestionRef> {
    let walk = list.walk(input);
    let instances = walk.found.instances.iter();
    instances.map(|it| walk.reference(*it)).collect()
}

/// The items without an answer, and the sections without a row.
pub(in crate::validate) fn open(items: &[Item]) -> Vec<&Item> {
    let all = items.iter().flat_map(Item::descendants);
    all.filter(|item| match item.kind {
        ItemKind::Display => false,
        ItemKind::Rows => item.rows.is_empty() && !item.read_only,
        _ => item.value.is_none() && !item.read_only,
    })
    .collect()
}

/// The questions of all findings, errors with an exclamation mark.
fn found(questionnaire: &Questionnaire, input: &ConsignmentInput) -> Vec<String> {
    let report = questionnaire.validate(input, &today());
    let line = |finding: &Arc<Finding>| {
        let mark = if finding.severity == Severity::Error {
            "!"
        } else {
            ""
        };
        let question = finding.question.as_ref().unwrap();
        assert_eq!(finding.code, format!("answers.{}", shown(question)));
        shown(question) + mark
    };
    report.findings().iter().map(line).collect()
}

#[test]
fn questions_apply_and_are_judged_as_the_specification_says() {
    let read = |json: &Value| serde_json::from_value::<ConsignmentInput>(json.clone()).unwrap();
    check(APPLICABLE, |list, input| {
        let applied = applicable(&prepare(list), &read(input));
        applied.iter().map(shown).collect()
    });
    check(JUDGED, |list, input| found(&prepare(list), &read(input)));
    check_years(|list, input| found(&prepare(list), &read(input)));
}

#[test]
fn stale_answers_trigger_others_only_if_the_policy_says_so() {
    let questions = reading::questions("1 { 2 ?1=Yes }; 3 ?2=Yes; 5 @MSAC1; 6 ?5=Yes");
    let all = input("1=No; 2=Yes; 3=x; 5=Yes");
    let counting = prepare_with(&questions, true);
    assert_eq!(found(&prepare(&questions), &all), [""; 0]);
    assert_eq!(found(&counting, &all), [""; 0]);
    assert_eq!(found(&counting, &input("1=No; 2=Yes")), ["3"]);
    assert_eq!(applicable(&counting, &all).len(), 2);
    // A stale answer is pruned only if it triggers nothing.
    assert_eq!(counting.prune(&mut input("1=No; 2=Yes; 3=x")), []);
    let pruned = counting.prune(&mut all.clone());
    assert_eq!(pruned, [AnswerInput::new("5", "Yes")]);
}

#[test]
fn pruning_keeps_applicable_and_unknown_answers_and_the_last_answer_of_a_row() {
    let list = list("1 { 2 ?1=Yes }; 3 REPEATABLE { 4 { 5 ?4=Yes } }");
    let mut draft =
        input("1=No; 2=stale; 99=newer than the list; 4.0=No; 5.0=stale; 5.1=makes row 1");
    let gone = list.prune(&mut draft);
    let gone = gone.iter().map(|answer| answer.value.value().unwrap());
    assert_eq!(gone.collect::<Vec<_>>(), ["stale", "stale"]);
    assert_eq!(draft.answers().len(), 4);
}

#[test]
fn unknown_types_and_validators_are_listed_as_unchecked() {
    let mut questions = reading::questions("1 optional >=soon; 2 COLOUR");
    let unknown = json!({"type": "maxLength", "parameter": "1"});
    questions[0]["validators"]
        .as_array_mut()
        .unwrap()
        .insert(0, unknown);
    let report = prepare(&questions).validate(&input("1=long; 2=red"), &today());
    assert!(report.findings().is_empty());
    let reasons: Vec<_> = report.unchecked().iter().map(|u| &*u.reason).collect();
    let unknown = [
        "a validator is unknown: maxLength",
        "a year cannot be read: soon",
        "its type is unknown: COLOUR",
    ];
    assert_eq!(reasons, unknown);
    let known = list("1 DISPLAY; 2 REPEATABLE").validate(&input(""), &today());
    assert!(known.unchecked().is_empty());
}

#[test]
fn progress_counts_rows_and_leaves_out_headings() {
    let list = list("1 DISPLAY; 2; 3 REPEATABLE { 4 }; 6 readonly; 7 optional; 8 COLOUR");
    for (answers, all, required) in [("", (3, 0), (2, 0)), ("4.0=x; 4.3=; 7=x", (5, 2), (4, 1))] {
        let progress = list.form(&input(answers), &today()).progress();
        assert_eq!((progress.questions, progress.answered), all);
        let counted = (progress.required, progress.required_answered);
        assert_eq!(counted, required);
    }
}

#[test]
fn an_item_has_its_reason_and_the_names_of_its_choices() {
    let items = |list: &Questionnaire, answers: &str| list.form(&input(answers), &today()).items();
    let tree = list("1 { 2 ?1=A ?1=B; 3 }");
    let whys = |answers: &str| {
        let items = items(&tree, answers);
        let why = open(&items).into_iter().map(|item| item.why.clone());
        why.map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    let of_both = ["question 1 is answered B", "it belongs to question 1"];
    assert_eq!(whys("1=B"), of_both);
    assert_eq!(whys(""), [""]);

    let mut questions = reading::questions("1 SINGLE_CHOICE");
    questions[0]["text"] = json!("Bred here?");
    questions[0]["acceptableAnswers"] =
        json!([{"value": "Y", "displayName": "Yes"}, {"value": "N"}, {"displayName": "no value"}]);
    let asked = &items(&prepare(&questions), "")[0];
    assert_eq!(asked.text, "Bred here?");
    let choices = asked.choices.iter().map(|c| (&*c.value, &*c.name));
    assert_eq!(choices.collect::<Vec<_>>(), [("Y", "Yes"), ("N", "N")]);
}

#[test]
fn a_day_more_than_half_a_year_away_is_advice() {
    let list = list("1");
    // Exactly 183 days before and after 2026-11-20, and one day further.
    for (day, is_far) in [
        ("2026-05-21", false),
        ("2026-05-20", true),
        ("2027-05-22", false),
        ("2027-05-23", true),
    ] {
        let input = input("").movement(day, "05:15");
        let report = list.validate(&input, &today().advice(true));
        let mut advice = report.advice().iter();
        assert_eq!(advice.any(|it| it.rule == Rule::DayNear), is_far, "{day}");
    }
}

#[test]
fn advice_about_answers_is_given_on_request_only() {
    let list = list("1; 2 ?1=Yes; 3 MULTIPLE_CHOICE");
    let input = input("1=No; 1=No; 2=x; 99=x; 3=a; 3=b");
    assert!(list.validate(&input, &today()).advice().is_empty());
    let report = list.validate(&input, &today().advice(true));
    let advice = report.advice().iter().filter(|f| f.question.is_some());
    let advice: Vec<_> = advice.map(|f| format!("{} {:?}", f.code, f.rule)).collect();
    let wanted = "answers.1 AnsweredOnce, answers.2 AnswerApplies, answers.99 QuestionKnown";
    assert_eq!(advice.join(", "), wanted);
    assert!(report.is_valid());
}

#[test]
fn an_answer_in_the_wrong_notation_is_advice() {
    let list = list("1 NUMBER; 2 DATE; 3 DATE_TIME; 4 DATE_MONTH; 5 STRING");
    let cases = [
        ("1", "24 0 1.5", "two,dozen -2 24.x .5 1e3"),
        ("2", "2028-02-29", "2026-02-30 20/11/2026"),
        ("3", "05:15 23:59", "5:15 24:00 noon"),
        ("4", "2026-11", "2026-13 11/2026 2026-1"),
        ("5", "two,dozen", ""),
    ];
    for (id, right, wrong) in cases {
        for (texts, advised) in [(right, 0), (wrong, 1)] {
            for text in texts.split_whitespace() {
                let input = input("").answer(AnswerInput::new(id, text));
                let report = list.validate(&input, &today().advice(true));
                let advice = report.advice().iter();
                let advice = advice.filter(|finding| finding.rule == Rule::AnswerForm);
                assert_eq!(advice.count(), advised, "{id} {text}");
                assert!(report.question(id).next().is_none(), "{id} {text}");
            }
        }
    }
}

#[test]
fn an_odd_number_of_animals_is_advice() {
    let list = list("1 REPEATABLE { 3 NUMBER; 15 NUMBER; 16 NUMBER; 4 NUMBER }");
    for (answers, odd) in [
        ("3.0=24; 15.0=24; 16.0=0; 4.0=3.5", ""),
        ("3.0=9999; 3.1=1", ""),
        ("3.0=3.5", "3"),
        ("3.0=0", "3"),
        ("3.0=99999999; 3.1=24", "3"),
        ("3.0=99999999999999999999", "3"),
        ("3.0=24; 3.1=30; 15.0=30", "15"),
        ("3.0=24; 3.1=30; 16.1=30", ""),
        ("3.0=24; 16.0=25", "16"),
        ("15.0=30", ""),
    ] {
        let report = list.validate(&input(answers), &today().advice(true));
        let found = report.advice().iter();
        let found = found.filter(|finding| finding.rule == Rule::HeadCount);
        let found: Vec<_> = found
            .map(|it| it.question.as_ref().unwrap().id.as_str())
            .collect();
        assert_eq!(found.join(" "), odd, "{answers}");
    }
}

#[test]
fn it_is_explained_why_a_question_does_not_apply() {
    let tree = list(
        "1 { 2 ?1=Yes { 3 } }; 4 @EUC1; 5 ?5=x; 6 REPEATABLE { 7 }; 8 ?5=A; 10 ?11=A; 11 ?10=A",
    );
    for row in rows(
        "
        1  |             | it applies
        2  | 1=No        | question 1 is not answered Yes
        3  |             | question 2 above it does not apply
        3  | 1=Yes       | question 2 above it has no answer
        4  |             | it belongs to other forms
        7  |             | the row does not exist
        99 |             | no question has this id
        5  | 5=x         | it depends on itself
        10 | 10=A; 11=A  | it depends on itself
        11 | 10=A; 11=A  | it depends on itself
        # A question that depends on a cycle is not part of it.
        8  | 5=A         | question 5 is not answered A
        ",
    ) {
        let why = tree.explain(row[0], None, &input(row[1]));
        assert_eq!(why.to_string(), row[2], "{row:?}");
    }

    // The explanation names a hidden parent with its row, if it has one.
    let tree = list("1; 3 REPEATABLE ?1=No { 5 ?1=Yes { 6 } }");
    let why = |id: &str, answers: &str| tree.explain(id, Some(2), &input(answers)).to_string();
    let in_row = "question 5 in row 3 above it does not apply";
    assert_eq!(why("6", "1=No; 6.2=x"), in_row);
    let outside = "question 3 above it does not apply";
    assert_eq!(why("5", "1=Perhaps; 6.2=x"), outside);
}
