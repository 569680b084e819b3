//! The items of a form, the next question, and the blockers.

use serde_json::{Value, json};

use crate::tests::reading;
use crate::validate::tests::questions::{input, list, prepare, today};
use crate::validate::{Form, ItemKind, QuestionRef};

use super::stories::outline;

fn texts() -> Value {
    let mut questions = reading::questions(
        "9 DISPLAY; 1 REPEATABLE { 3 NUMBER; 4 optional }; 17 SINGLE_CHOICE { 20 SINGLE_CHOICE ?17=N; 21 }; 30 BOOLEAN; 31 COLOUR",
    );
    questions[1]["text"] = json!("Animals");
    let bred = &mut questions[2];
    bred["childQuestions"][0]["text"] = json!("Held since");
    bred["text"] = json!("Bred here?");
    bred["help"] = json!("All of them.");
    bred["tip"] = json!("Ask the vendor.");
    bred["acceptableAnswers"] =
        json!([{"value": "Y", "displayName": "Yes"}, {"value": "N", "displayName": "No"}]);
    questions
}

fn form(answers: &str) -> Form {
    prepare(&texts()).form(&input(answers), &today())
}

#[test]
fn an_item_has_what_a_screen_shows() {
    use ItemKind::{Choice, Display, Rows, Unknown, YesNo};

    let form = form("17=N; 20=x");
    let items = form.items();
    let kinds: Vec<_> = items.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [Display, Rows, Choice, YesNo, Unknown]);
    let bred = &items[2];
    assert_eq!(
        (&*bred.text, bred.help.as_deref()),
        ("Bred here?", Some("All of them."))
    );
    assert_eq!(bred.tip.as_deref(), Some("Ask the vendor."));
    assert_eq!(
        (bred.value.as_deref(), bred.why.as_deref()),
        (Some("N"), None)
    );
    assert_eq!(bred.choices[1].name, "No");
    assert!(bred.required && !bred.read_only && bred.findings.is_empty());
    let whys = ["“Bred here?” is answered No", "it belongs to “Bred here?”"];
    let found = [0, 1].map(|child| bred.children[child].why.clone().unwrap());
    assert_eq!(found, whys);
    assert!(items[1].can_add && items[1].rows.is_empty());
    let yes_no = items[3].choices.iter().map(|choice| &*choice.value);
    assert_eq!(yes_no.collect::<Vec<_>>(), ["True", "False"]);
    assert_eq!(items[3].findings[0].message, "Required");
    let json = serde_json::to_value(&items).unwrap();
    assert_eq!(json[2]["children"][0]["question"]["id"], "20");
    assert!(!format!("{items:?}{:?}{form:?}", items[2]).contains("\"N\""));
}

#[test]
fn blockers_explain_in_words_what_is_missing() {
    let mut form = form("17=maybe; 30=True; 31=x; 21=x");
    let said = |form: &Form| {
        let said: Vec<_> = form.blockers().iter().map(ToString::to_string).collect();
        said.join(" ")
    };
    let first = &form.blockers()[0];
    assert!(first.blocks_creating());
    form.answer("17", "Y").unwrap();
    let add = "Add a row to “Animals”, or skip the section.";
    assert_eq!(said(&form), add);
    assert!(!form.blockers()[0].blocks_creating());
    form.add_row("1").unwrap();
    let empty = "Row 1 of “Animals” is empty. Fill it in or remove it.";
    assert_eq!(said(&form), empty);
    assert!(form.report().ready_to_submit());
    form.answer(("3", 0), "24").unwrap();
    assert!(form.blockers().is_empty());
    form.remove_row("1", 0).unwrap();
    form.skip("1").unwrap();
    assert!(form.blockers().is_empty());
}

#[test]
fn a_form_is_opened_with_the_questions_that_it_was_saved_with() {
    let mut form = form("");
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    let saved = form.save();
    assert!(!format!("{saved:?}").contains("QAZZ"));
    let mut newer = texts();
    newer[2]["text"] = json!("Bred at home?");
    let newer = prepare(&newer);
    let error = newer.open(saved.clone(), &today()).unwrap_err();
    let hashes = (saved.content_hash(), newer.content_hash());
    assert_eq!((error.saved, error.current), hashes);
    assert!(error.to_string().contains(&hashes.0.to_string()));
    let form = newer.form(&saved.into_input(), &today());
    assert!(form.items()[1].rows.is_empty());
}

#[test]
fn rows_and_skipped_questions_stay_with_another_list() {
    let older = list("1 REPEATABLE { 3; 4 }; 17; 5 REPEATABLE { 6 }");
    let newer = list("1 REPEATABLE { 4 }; 17; 18");
    // Row 2 was opened; the other rows have answers.
    let mut form = older.form(&input("3.0=x; 4.1=x; 6.0=x"), &today());
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    let adopted = newer.adopt(&form, input("4.1=x"));
    assert_eq!(outline(&adopted.items()), "1[0: 4][1: 4][2: 4] 17 18");
    assert_eq!(adopted.next().unwrap().question.id, "4");
    let change = adopted.changes_since(&form);
    let named = |questions: &[QuestionRef]| {
        let names: Vec<String> = questions.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    assert_eq!(named(&change.appeared), "18");
    let vanished = "3 in row 1, 3 in row 2, 3 in row 3, 5, 6 in row 1";
    assert_eq!(named(&change.vanished), vanished);
    let saved = newer.open(adopted.save(), &today()).unwrap();
    assert_eq!(outline(&saved.items()), outline(&adopted.items()));
    // The newer list has no section 5, so it has not kept its row.
    let back = older.adopt(&adopted, input("4.1=x"));
    assert_eq!(outline(&back.items()), "1[0: 3 4][1: 3 4][2: 3 4] 17 5");
    let mut adopted = adopted;
    adopted.remove_row("1", 0).unwrap();
    assert_eq!(outline(&adopted.items()), "1[1: 4][2: 4] 17 18");
    assert_eq!(adopted.to_input(), input("4.1=x"));
    // Adopting with the same list and input changes nothing.
    let same = older.adopt(&form, form.save().into_input());
    assert_eq!(same.save(), form.save());
}
