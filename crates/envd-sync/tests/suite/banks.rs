//! Question lists over HTTP: the requests and stored lists of a refresh, and a declaration that is filled in without reception.

use std::sync::Arc;

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::graphql::generated::Questions;
use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, Day, FormType, PartyInput};
use envd_sdk::validate::{Context, ItemKind};
use envd_sdk::{AccountClient, ErrorKind, RetryPolicy};
use envd_sync::Replica;
use envd_sync::bank::Banks;
use envd_sync::store::{MemorySync, SqliteSync, SyncStore};
use serde_json::{Value, json};
use test_support::TestFolder;

use crate::start_fake;

fn account(fake: &Fake) -> AccountClient {
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    client.account(fake.account_id())
}

/// The questions of the sample with another text for question 17.
fn reworded(text: &str) -> Value {
    let fixture = include_str!("../../../../tests/fixtures/questions.json");
    let mut reply: Value = serde_json::from_str(fixture).unwrap();
    let items = reply["data"]["questions"]["items"].as_array_mut().unwrap();
    for item in items {
        let below = item["childQuestions"].as_array_mut().into_iter().flatten();
        for question in below.filter(|question| question["id"] == "17") {
            question["text"] = json!(text);
        }
        if item["id"] == "17" {
            item["text"] = json!(text);
        }
    }
    reply["data"].clone()
}

async fn stored(store: &impl SyncStore, fake: &Fake) -> Vec<(String, u64)> {
    let documents = store.documents(fake.account_id(), "").await.unwrap();
    let names = documents.into_iter();
    names
        .map(|document| (document.name, document.version))
        .collect()
}

#[tokio::test]
async fn a_refresh_is_one_request_and_the_same_list_is_written_once() {
    let fake = start_fake().await;
    let store = MemorySync::new();
    let banks = Banks::new(&account(&fake), store.clone());
    assert!(banks.refresh().await.unwrap().changed);
    assert_eq!(fake.request_count("questions"), 1);
    let before = stored(&store, &fake).await;
    assert_eq!(before.len(), 2);
    let again = banks.refresh().await.unwrap();
    assert!(!again.changed);
    assert_eq!(fake.request_count("questions"), 2);
    assert_eq!(stored(&store, &fake).await, before);

    // The hash is that of the questions as the client reads them.
    let client = account(&fake).client().clone();
    let questions = client.questions().await.unwrap().value;
    let prepared = envd_sdk::validate::Questionnaire::prepare(&questions.items);
    assert_eq!(again.bank.content_hash(), prepared.content_hash());
}

#[tokio::test]
async fn fields_that_this_crate_does_not_know_are_kept() {
    let fake = start_fake().await;
    let mut data = reworded("Bred here?");
    data["questions"]["items"][0]["later"] = json!({"unknown": [1.50, null]});
    data["questions"]["revision"] = json!(7);
    let fault = Fault::replaced("/data", &data);
    fake.on::<Questions>().fault(fault);
    let banks = Banks::new(&account(&fake), MemorySync::new());
    banks.refresh().await.unwrap();
    let kept = banks.latest().await.unwrap().unwrap();
    let json: Value = serde_json::from_str(kept.json()).unwrap();
    assert_eq!(json, data["questions"]);
}

#[tokio::test]
async fn a_list_that_may_lack_questions_is_not_kept() {
    let fake = start_fake().await;
    let store = MemorySync::new();
    let banks = Banks::new(&account(&fake), store.clone());
    banks.refresh().await.unwrap();
    let before = stored(&store, &fake).await;
    let empty = [json!({"items": []}), json!({"items": null}), json!({})];
    for questions in empty {
        let data = Fault::replaced("/data/questions", questions);
        fake.on::<Questions>().fault(data);
        let error = banks.refresh().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
    }
    let part = json!({"data": {"questions": {"items": [{"id": "17", "type": "STRING"}]}},
        "errors": [{"message": "Question 20 cannot be read", "path": ["questions", "items", 1]}]});
    fake.on::<Questions>().fault(Fault::status(200).json(part));
    let error = banks.refresh().await.unwrap_err();
    assert_eq!(error.client().unwrap().server_errors().len(), 1);
    let odd = Fault::replaced("/data/questions/items/0/order", "first");
    fake.on::<Questions>().fault(odd);
    let error = banks.refresh().await.unwrap_err();
    assert!(error.client().unwrap().kind() == ErrorKind::Decode);
    let null = Fault::replaced("/data/questions", Value::Null);
    fake.on::<Questions>().fault(null);
    assert!(banks.refresh().await.is_err());
    assert_eq!(stored(&store, &fake).await, before);
}

#[tokio::test]
async fn a_copy_of_the_account_and_its_question_lists_share_a_store() {
    let fake = start_fake().await;
    let store = Arc::new(MemorySync::new());
    let replica = Replica::new(&account(&fake), Arc::clone(&store));
    let banks = Banks::new(&account(&fake), store);
    replica.sync().await.unwrap();
    let mut feed = replica.changes("screen");
    let first = feed.next().await.unwrap().unwrap();
    let bank = banks.refresh().await.unwrap().bank;
    let form = bank
        .questionnaire()
        .form(&input(FormType::Lpac1), &on("2026-11-20"));
    banks.create_draft("replica", &form.save()).await.unwrap();
    feed.acknowledge(&first).await.unwrap();
    let report = replica.sync_full().await.unwrap();
    assert_eq!((report.appeared, report.changed), (0, 0));
    assert_eq!(replica.consumers().await.unwrap().len(), 1);
    assert!(!banks.refresh().await.unwrap().changed);
    assert_eq!(banks.drafts().await.unwrap().len(), 1);
}

fn input(form: FormType) -> ConsignmentInput {
    let origin = PartyInput::new("QAZZ7777");
    let destination = PartyInput::new("QDZZ3333");
    ConsignmentInput::new([form], origin, destination)
}

fn on(day: &str) -> Context {
    Context::on(Day::parse(day).unwrap())
}

/// Answers all open questions.
fn fill_in(form: &mut envd_sdk::validate::Form) {
    while let Some(item) = form.next() {
        let choice = item.choices.first().map(|choice| choice.value.clone());
        let value = match item.kind {
            ItemKind::Rows => {
                form.add_row(item.question).unwrap();
                continue;
            }
            // A number of head, and a year of birth.
            ItemKind::Number => "2024".to_owned(),
            ItemKind::Date => "2024-11-17".to_owned(),
            _ => choice.unwrap_or_else(|| "2024-11".to_owned()),
        };
        form.answer(item.question, value.as_str()).unwrap();
    }
}

/// Fills in a declaration without reception, closes the program, and continues the next day, when the form has been replaced.
async fn story(fake: &Fake, open: impl Fn() -> Arc<dyn SyncStore>) {
    let banks = Banks::new(&account(fake), open());
    let bank = banks.refresh().await.unwrap().bank;
    let offline = Fault::dropped_before();
    fake.on::<Questions>().fault(offline).forever();
    let goats = input(FormType::Lpag2);
    let mut form = bank.questionnaire().form(&goats, &on("2024-11-18"));
    let draft = banks.create_draft("goats", &form.save()).await.unwrap();
    fill_in(&mut form);
    let sent = form.to_input();
    let mut ids = sent.answers().iter().map(|one| one.question_id.value());
    assert!(ids.any(|id| id.unwrap().as_str() == "23"));
    banks.update_draft(&draft, &form.save()).await.unwrap();
    drop((banks, bank, draft));

    // The next day, still without reception.
    let banks = Banks::new(&account(fake), open());
    let error = banks.refresh().await.unwrap_err();
    assert!(
        error.client().unwrap().kind() == ErrorKind::Transport,
        "{error}"
    );
    let latest = banks.latest().await.unwrap().unwrap();
    let draft = banks.draft("goats").await.unwrap().unwrap();
    assert_eq!(latest.content_hash(), draft.form().content_hash());
    let today = on("2024-11-19");
    let opened = banks.open(draft.form().clone(), &today).await.unwrap();
    assert_eq!(opened.save(), form.save());
    assert!(!opened.report().is_valid(), "LPAG2 is closed");

    // With reception: the list has changed as well.
    fake.on::<Questions>().times(0);
    let newer = reworded("Did the owner breed all of them?");
    let newer = Fault::replaced("/data", newer);
    fake.on::<Questions>().fault(newer);
    let refreshed = banks.refresh().await.unwrap();
    assert!(refreshed.changed);
    let older = draft.form().content_hash();
    assert!(banks.bank(older).await.unwrap().is_some());

    let saved = draft.form().clone();
    let moved = banks.open_with(saved, &refreshed.bank, &today).await;
    let moved = moved.unwrap();
    let dropped = moved.dropped.iter().map(|one| one.question.to_string());
    assert_eq!(dropped.collect::<Vec<_>>(), ["23", "87"]);
    assert_eq!(moved.reworded[0].id, "17");
    let draft = banks
        .update_draft(&draft, &moved.form.save())
        .await
        .unwrap();
    let form = banks.open(draft.form().clone(), &today).await.unwrap();
    let report = form.report();
    assert!(report.is_valid() && form.blockers().is_empty(), "{report}");
    let input = form.to_input().status(ConsignmentStatus::Draft);
    let account = account(fake);
    let saved = account.save_consignment(input).await.unwrap();
    let id = saved.id().unwrap();
    let record = account.consignment(id).await.unwrap();
    assert_eq!(record.value.forms[0].form_type, Some(FormType::Lpag3));
    banks.remove_draft(&draft).await.unwrap();
    assert_eq!(banks.prune([]).await.unwrap(), [older]);
}

#[tokio::test]
async fn a_declaration_is_filled_in_without_reception_and_sent_with_the_newer_form() {
    let memory = MemorySync::new();
    let folder = TestFolder::new();
    let file = folder.path().join("farm.db");
    let in_memory = || Arc::new(memory.clone()) as Arc<dyn SyncStore>;
    Box::pin(story(&start_fake().await, in_memory)).await;
    let in_file = || Arc::new(SqliteSync::open(&file).unwrap()) as Arc<dyn SyncStore>;
    Box::pin(story(&start_fake().await, in_file)).await;
}
