//! Drafts: written over what was read alone, and never without their list.

use envd_sdk::ErrorKind;
use std::error::Error as _;
use std::sync::Arc;

use super::sample::{TODAY, answer, banks, cattle, input, newer, now, on};
use crate::bank::{Banks, DraftError, LocalDraft};
use crate::error::Error;
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use envd_sdk::model::{ConsignmentStatus, DeclarationInput, FormType, Timestamp};
use envd_sdk::validate::{Form, SavedForm};

fn reason(error: &Error) -> Option<DraftError> {
    assert!(error.kind() == ErrorKind::Config);
    error.source()?.downcast_ref().copied()
}

/// A form with the latest list, with one answer.
async fn form(banks: &Banks) -> Form {
    let bank = banks.receive(&cattle(|_| ())).await.bank;
    let input = input(FormType::Lpac1).answer(answer("3", Some(0), "24"));
    bank.questionnaire().form(&input, &on(TODAY))
}

pub(super) async fn is_kept_until_the_next_day(open: impl Fn() -> Arc<dyn SyncStore>) {
    let (ours, _) = banks(open());
    let mut form = form(&ours).await;
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    let draft = ours.create_draft("paddock 7", &form.save()).await.unwrap();
    form.answer(("4", Some(0)), "Angus").unwrap();
    ours.update_draft(&draft, &form.save()).await.unwrap();
    drop(ours);

    let (ours, _) = banks(open());
    let draft = ours.draft("paddock 7").await.unwrap().unwrap();
    assert_eq!(draft.form(), &form.save());
    assert_eq!(draft.saved_at(), &Timestamp::from(now()));
    let opened = ours.open(draft.form().clone(), &on("2026-11-21")).await;
    let opened = opened.unwrap();
    assert_eq!(opened.save(), form.save());
    assert_eq!(opened.report(), form.report());
    assert_eq!(ours.drafts().await.unwrap(), [draft]);
}

#[tokio::test]
async fn a_form_is_opened_unchanged_the_next_day() {
    let store = MemorySync::new();
    is_kept_until_the_next_day(|| Arc::new(store.clone())).await;
}

#[tokio::test]
async fn two_writers_of_a_draft_never_overwrite_each_other() {
    let (banks, _) = banks(MemorySync::new());
    let mut form = form(&banks).await;
    let read = banks.create_draft("1", &form.save()).await.unwrap();
    let taken = banks.create_draft("1", &form.save()).await.unwrap_err();
    assert_eq!(reason(&taken), Some(DraftError::NameTaken));

    form.answer("17", "Yes").unwrap();
    let theirs = banks.update_draft(&read, &form.save()).await.unwrap();
    let late = banks.update_draft(&read, read.form()).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    let late = banks.remove_draft(&read).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    assert_eq!(banks.draft("1").await.unwrap().unwrap(), theirs);

    banks.remove_draft(&theirs).await.unwrap();
    let late = banks.update_draft(&theirs, read.form()).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    // Made anew: the version of its document is the one that `read` had.
    let anew = banks.create_draft("1", theirs.form()).await.unwrap();
    let late = banks.update_draft(&read, read.form()).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    assert_eq!(banks.draft("1").await.unwrap().unwrap(), anew);
}

#[tokio::test]
async fn a_draft_that_is_made_anew_between_read_and_commit_is_not_overwritten() {
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let (ours, _) = banks(store.clone());
    let mut form = form(&ours).await;
    let read = ours.create_draft("1", &form.save()).await.unwrap();
    let (theirs, _) = banks(store.clone());
    let (old, new) = (read.clone(), {
        form.answer("17", "No").unwrap();
        form.save()
    });
    let written = new.clone();
    store.at(Moment::BeforeCommit(1), async move {
        theirs.remove_draft(&old).await.unwrap();
        theirs.create_draft("1", &written).await.unwrap();
    });
    let late = ours.update_draft(&read, read.form()).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    assert_eq!(ours.draft("1").await.unwrap().unwrap().form(), &new);
}

#[tokio::test]
async fn a_list_is_not_removed_while_a_draft_of_it_is_written() {
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let (ours, _) = banks(store.clone());
    let form = form(&ours).await;
    ours.receive(&newer()).await;
    let saved = form.save();

    // First the list goes, then the draft cannot be written.
    let (theirs, _) = banks(store.clone());
    let removed = saved.content_hash();
    store.at(Moment::BeforeCommit(1), async move {
        assert_eq!(theirs.prune([]).await.unwrap(), [removed]);
    });
    let refused = ours.create_draft("1", &saved).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::Config && ours.drafts().await.unwrap().is_empty());

    // First the draft, then the list stays.
    ours.receive(&cattle(|_| ())).await;
    ours.receive(&newer()).await;
    let (theirs, _) = banks(store.clone());
    let written = saved.clone();
    store.at(Moment::BeforeCommit(1), async move {
        theirs.create_draft("1", &written).await.unwrap();
    });
    assert_eq!(ours.prune([]).await.unwrap(), []);
    let opened = ours.open(saved.clone(), &on(TODAY)).await.unwrap();
    assert_eq!(opened.save(), saved);
}

#[tokio::test]
async fn an_edit_writes_the_draft_alone_and_a_full_store_loses_nothing() {
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let (banks, _) = banks(store.clone());
    let mut form = form(&banks).await;
    let draft = banks.create_draft("1", &form.save()).await.unwrap();
    let index = async || {
        let documents = store.documents("envd-100201", "bank/index").await.unwrap();
        documents[0].version
    };
    let before = index().await;
    form.answer("17", "Yes").unwrap();
    let draft = banks.update_draft(&draft, &form.save()).await.unwrap();
    assert_eq!(index().await, before);

    store.allow(0);
    form.answer("17", "No").unwrap();
    let full = banks.update_draft(&draft, &form.save()).await;
    assert!(full.unwrap_err().kind() == ErrorKind::Store);
    assert_eq!(banks.draft("1").await.unwrap().unwrap(), draft);
}

#[tokio::test]
async fn a_moved_form_is_accepted_over_the_draft_that_it_was_opened_from() {
    let (banks, _) = banks(MemorySync::new());
    let mut form = form(&banks).await;
    let draft = banks.create_draft("1", &form.save()).await.unwrap();
    let newer = banks.receive(&newer()).await.bank;
    let open = async |draft: &LocalDraft| {
        let (saved, context) = (draft.form().clone(), on(TODAY));
        let opened = banks.open_with(saved, &newer, &context).await;
        opened.unwrap().form.save()
    };
    let stale = open(&draft).await;
    form.answer("17", "Yes").unwrap();
    let edited = banks.update_draft(&draft, &form.save()).await.unwrap();
    let late = banks.update_draft(&draft, &stale).await.unwrap_err();
    assert_eq!(reason(&late), Some(DraftError::Changed));
    assert_eq!(banks.draft("1").await.unwrap().unwrap(), edited);

    let moved = open(&edited).await;
    assert_eq!(moved.content_hash(), newer.content_hash());
    let draft = banks.update_draft(&edited, &moved).await.unwrap();
    assert_eq!(draft.form(), &moved);
    assert_eq!(banks.draft("1").await.unwrap().unwrap(), draft);
    // Nothing pins the old list any more.
    let older = form.save().content_hash();
    assert_eq!(banks.prune([]).await.unwrap(), [older]);
    assert!(banks.open(moved, &on(TODAY)).await.is_ok());
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

        // Nor is a form that somebody has moved otherwise.
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
    // One name is the beginning of the other.
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
