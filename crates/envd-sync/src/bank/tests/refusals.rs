//! What is not moved.

use super::sample::{TODAY, bank, cattle, draft, input, newer, on};
use crate::bank::DraftError;
use envd_sdk::model::{ConsignmentStatus, DeclarationInput, FormType, Maybe};

#[test]
fn a_signed_declaration_is_never_moved() {
    let (list, newer) = (bank(&cattle(|_| ())), bank(&newer()));
    let signed = [
        DeclarationInput::default().accept(true),
        DeclarationInput::default().signature("iVBORw0KGgo="),
    ];
    let open = draft(&list, &input(FormType::Lpac1));
    let plan = list.plan(&open, &newer, &on(TODAY)).unwrap();
    for declaration in signed {
        let signed = draft(&list, &input(FormType::Lpac1).declaration(declaration));
        for refused in [
            list.plan(&signed, &newer, &on(TODAY)).map(|_| ()),
            list.plan_with_forms(&signed, &newer, [FormType::Euc1], &on(TODAY))
                .map(|_| ()),
            // Signed after the plan was made.
            plan.accept(&signed).map(|_| ()),
        ] {
            assert_eq!(refused.unwrap_err(), DraftError::Signed);
        }
    }
    let mut unsigned = DeclarationInput::default()
        .accept(false)
        .full_name("Pat Private");
    unsigned.signature = Maybe::Value(String::new());
    let unsigned = draft(&list, &input(FormType::Lpac1).declaration(unsigned));
    assert!(list.plan(&unsigned, &newer, &on(TODAY)).is_ok());
    for status in [ConsignmentStatus::Submitted, ConsignmentStatus::Locked] {
        let sent = draft(&list, &input(FormType::Lpac1).status(status));
        let refused = list.plan(&sent, &newer, &on(TODAY));
        assert_eq!(refused.unwrap_err(), DraftError::NotADraft);
    }
    let saved = draft(
        &list,
        &input(FormType::Lpac1).status(ConsignmentStatus::Draft),
    );
    assert!(list.plan(&saved, &newer, &on(TODAY)).is_ok());
}

#[test]
fn a_plan_is_for_the_draft_that_it_was_made_from() {
    let (list, newer) = (bank(&cattle(|_| ())), bank(&newer()));
    let mut form = list
        .questionnaire()
        .form(&input(FormType::Lpac1), &on(TODAY));
    let draft = form.save();
    let plan = list.plan(&draft, &newer, &on(TODAY)).unwrap();
    form.answer("17", "Yes").unwrap();
    assert_eq!(plan.accept(&form.save()).unwrap_err(), DraftError::Changed);
    form.undo();
    // A draft that is the same again, also after it was stored.
    let stored = serde_json::to_string(&form.save()).unwrap();
    let moved = plan
        .accept(&serde_json::from_str(&stored).unwrap())
        .unwrap();
    // What is moved already does not pin the list of the plan.
    assert_eq!(plan.accept(&moved).unwrap_err(), DraftError::Changed);
    let other = DraftError::OtherList {
        pinned: newer.content_hash(),
        bank: list.content_hash(),
    };
    assert_eq!(list.plan(&moved, &newer, &on(TODAY)).unwrap_err(), other);
}
