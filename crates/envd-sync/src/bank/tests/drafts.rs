//! Drafts: written only over the version that was read, and never without their list.

use envd_sdk::ErrorKind;
use std::error::Error as _;

use super::sample::{TODAY, answer, banks, cattle, input, newer, now, on};
use crate::bank::{Banks, DraftError, LocalDraft};
use crate::error::Error;
use crate::store::MemorySync;
use envd_sdk::model::{ConsignmentStatus, DeclarationInput, FormType, Timestamp};
use envd_sdk::validate::{Form, SavedForm};

fn reason(error: &Error) -> Option<DraftError> {
    assert!(error.kind() == ErrorKind::Config);
    error.source()?.downcast_ref().copied()
}

/// A form with the latest list and one answer.
async fn form(banks: &Banks) -> Form {
    let bank = banks.receive(&cattle(|_| ())).await.bank;
    let input = input(FormType::Lpac1).answer(answer("3", Some(0), "24"));
    bank.questionnaire().form(&input, &on(TODAY))
}

/// Rows and skipped questions are kept as well, and the report is that of the day.
#[tokio::test]
async fn a_form_is_opened_with_its_rows_and_skipped_questions() {
    let (banks, _) = banks(MemorySync::new());
    let mut form = form(&banks).await;
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    form.answer(("4", Some(0)), "Angus").unwrap();
    banks.create_draft("paddock 7", &form.save()).await.unwrap();
    let draft = banks.draft("paddock 7").await.unwrap().unwrap();
    assert_eq!(draft.form(), &form.save());
    assert_eq!(draft.saved_at(), &Timestamp::from(now()));
    let opened = banks.open(draft.form().clone(), &on("2026-11-21")).await;
    let opened = opened.unwrap();
    assert_eq!(
        (opened.save(), opened.report()),
        (form.save(), form.report())
    );
}

#[tokio::test]
async fn a_signed_declaration_keeps_its_list_and_its_forms() {
    let (banks, _) = banks(MemorySync::new());
    let bank = banks.receive(&cattle(|_| ())).await.bank;
    let newer = banks.receive(&newer()).await.bank;
    let declared = |declaration| input(FormType::Lpac1).declaration(declaration);
    let status = |status| input(FormType::Lpac1).status(status);
    let accepted = declared(DeclarationInput::default().accept(true));
    let signed = declared(DeclarationInput::default().signature("iVBORw0KGgo="));
    let unsigned = declared(DeclarationInput::default().accept(false).signature(""));
    for (n, (input, is_moved)) in [
        (accepted, false),
        (signed, false),
        (status(ConsignmentStatus::Submitted), false),
        (status(ConsignmentStatus::Locked), false),
        (status(ConsignmentStatus::Draft), true),
        (unsigned, true),
    ]
    .into_iter()
    .enumerate()
    {
        let context = on(TODAY);
        let form = bank.questionnaire().form(&input, &context);
        let draft = banks.create_draft(&n.to_string(), &form.save()).await;
        let draft = draft.unwrap();
        let expected = (!is_moved).then_some(DraftError::Signed);
        let opened = banks.open_with(form.save(), &newer, &context).await;
        let refused = opened.err();
        assert_eq!(refused.as_ref().and_then(reason), expected, "{input:?}");

        // The same holds for a form that was moved in another way.
        let mut others = form.clone();
        others.field("forms", ["EUC1"]).unwrap();
        let moved = newer.questionnaire().adopt(&form, input.clone());
        for form in [others.save(), moved.save()] {
            let refused = banks.update_draft(&draft, &form).await.err();
            assert_eq!(refused.as_ref().and_then(reason), expected, "{input:?}");
            if is_moved {
                break;
            }
        }
    }
}

#[tokio::test]
async fn names_and_lists_that_cannot_be_are_refused() {
    let (ours, _) = banks(MemorySync::new());
    let form = form(&ours).await;
    for name in ["", "a\nb", &"x".repeat(101)] {
        let refused = ours.create_draft(name, &form.save()).await;
        assert!(refused.unwrap_err().kind() == ErrorKind::Config);
        assert!(ours.draft(name).await.unwrap_err().kind() == ErrorKind::Config);
    }
    // One name is a prefix of another.
    for name in ["pat", "p", "p/q"] {
        ours.create_draft(name, &form.save()).await.unwrap();
    }
    assert_eq!(ours.draft("p").await.unwrap().unwrap().name(), "p");
    let drafts = ours.drafts().await.unwrap();
    let names: Vec<&str> = drafts.iter().map(LocalDraft::name).collect();
    assert_eq!(names, ["p", "p/q", "pat"]);

    let (elsewhere, _) = banks(MemorySync::new());
    let refused = elsewhere.create_draft("1", &form.save()).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::Config && refused.to_string().contains("does not hold"));
}

#[tokio::test]
async fn debug_hides_what_was_entered() {
    let (banks, _) = banks(MemorySync::new());
    let mut form = form(&banks).await;
    form.field("owner.name", "Pat Private").unwrap();
    let saved: SavedForm = form.save();
    let draft = banks.create_draft("1", &saved).await.unwrap();
    let shown = format!("{draft:?} {banks:?} {:?}", banks.latest().await.unwrap());
    assert!(
        !shown.contains("Private") && !shown.contains("QAZZ7777"),
        "{shown}"
    );
}
