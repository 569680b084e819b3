//! `Debug` of the public types shows no user data. `tests/architecture/shown.txt` lists all of them.

use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
use envd_sdk::validate::Context;
use envd_sync::bank::{Bank, Banks, LocalDraft};
use envd_sync::outbox::{
    Conflict, Declaration, DeclarationEvents, FieldDifference, NewDeclaration, OutboxEvent,
};
use envd_sync::replica::{Changes, LocalQuery, LocalRecord};
use envd_sync::store::rows::{Batch, ChangeRow, Document, RecordRow, RowKeys};
use envd_sync::store::{MemorySync, SqliteSync, SyncStore};
use envd_sync::{Loop, Outbox, Replica};
use serde_json::json;
use test_support::{PLANTED, TestFolder, hides};

use crate::start_fake;

/// A declaration with a person's name in it.
fn input() -> ConsignmentInput {
    let mut origin = PartyInput::new("QAZZ7777");
    origin.name = PLANTED.into();
    ConsignmentInput::new([FormType::Lpac1], origin, PartyInput::new("QDZZ3333"))
        .movement("2026-11-23", "05:15")
}

#[test]
fn debug_of_rows_shows_ids_versions_and_lengths() {
    let payload = json!({"declaration": {"fullName": PLANTED, "signature": PLANTED}}).to_string();
    let keys = RowKeys {
        origin_pic: Some(PLANTED.to_owned()),
        destination_pic: Some(PLANTED.to_owned()),
        ..RowKeys::default()
    };
    let record = RecordRow {
        id: "C-1".to_owned(),
        sequence: 7,
        keys: keys.clone(),
        payload: payload.clone(),
        ..RecordRow::default()
    };
    let change = ChangeRow {
        sequence: 8,
        previous: 7,
        id: "C-1".to_owned(),
        payload: payload.clone(),
    };
    let document = Document {
        name: "outbox/live/1".to_owned(),
        version: 9,
        text: payload.clone(),
    };
    let batch = Batch {
        expected: vec![("outbox/live/1".to_owned(), 9)],
        documents: vec![("outbox/live/1".to_owned(), Some(payload.clone()))],
        rows: vec![record.clone()],
        changes: vec![change.clone()],
        ..Batch::default()
    };
    hides::<RowKeys>(&keys);
    hides::<RecordRow>(&record);
    hides::<ChangeRow>(&change);
    hides::<Document>(&document);
    hides::<Batch>(&batch);
    let shown = format!("{record:?} {change:?} {document:?}");
    for kept in [
        "C-1",
        "sequence: 8",
        "version: 9",
        &format!("length: {}", payload.len()),
    ] {
        assert!(shown.contains(kept), "{kept} in {shown}");
        assert!(
            format!("{batch:?}").contains(kept) || kept.starts_with("version"),
            "{kept}"
        );
    }
}

#[tokio::test]
async fn debug_of_a_copy_shows_no_record() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let saved = account.save_consignment(input()).await.unwrap().value;
    let store = MemorySync::new();
    let replica = Replica::new(&account, store.clone());
    replica.sync().await.unwrap();
    hides::<Replica>(&replica);
    hides::<MemorySync>(&store);
    hides::<LocalQuery>(&replica.consignments());
    let record = replica
        .consignment(saved.id.unwrap())
        .await
        .unwrap()
        .unwrap();
    let origin = record.summary().unwrap().origin.unwrap();
    assert_eq!(origin.name.as_deref(), Some(PLANTED));
    hides::<LocalRecord>(&record);
    let mut changes = replica.changes("app");
    while let Some(change) = changes.next().await.unwrap() {
        hides::<Changes>(&changes);
        hides::<envd_sync::replica::Change>(&change);
        changes.acknowledge(&change).await.unwrap();
    }
    let folder = TestFolder::new();
    let file = SqliteSync::open(folder.path().join(PLANTED)).unwrap();
    hides::<SqliteSync>(&file);
    let _ = file.documents(fake.account_id(), "").await.unwrap();

    let banks = Banks::new(&account, store);
    hides::<Banks>(&banks);
    let bank = banks.refresh().await.unwrap().bank;
    hides::<Bank>(&bank);
    let context = Context::on(Day::parse("2026-11-20").unwrap());
    let form = bank.questionnaire().form(&input(), &context);
    let draft = banks.create_draft("cattle", &form.save()).await.unwrap();
    hides::<LocalDraft>(&draft);
}

#[tokio::test]
async fn debug_of_an_outbox_shows_no_declaration() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let outbox = Outbox::new(&Replica::new(&account, MemorySync::new()));
    hides::<Outbox>(&outbox);
    let events: DeclarationEvents = outbox.events();
    hides::<DeclarationEvents>(&events);
    let new: NewDeclaration<'_> = outbox.save(input()).key(PLANTED);
    hides::<NewDeclaration<'_>>(&new);
    drop(new);
    let run: Loop<OutboxEvent> = outbox.run();
    hides::<Loop<OutboxEvent>>(&run);
    drop(run);

    // The website and the outbox change the same field.
    let id = "00000000-0000-4000-8000-000000000101";
    let base = account.consignment(id).await.unwrap().value;
    let named = |name: &str| {
        let mut input = ConsignmentInput::from(&base).id(id);
        input.origin.name = name.into();
        input
    };
    let _ = account
        .save_consignment(named(&format!("not {PLANTED}")))
        .await
        .unwrap();
    let mine = outbox.update(&base, named(PLANTED)).await.unwrap();
    outbox.send().await.unwrap();
    let mine = outbox.declaration(mine.id).await.unwrap().unwrap();
    hides::<Declaration>(&mine);
    let conflict = mine.conflict.unwrap();
    hides::<Conflict>(&conflict);
    assert!(conflict.fields.iter().any(|field| field.mine == PLANTED));
    for field in &conflict.fields {
        hides::<FieldDifference>(field);
    }
}
