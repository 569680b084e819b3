//! Nested questions.

use envd_sdk::ErrorKind;
use envd_sdk::fake::World;
use envd_sdk::model::Question;
use envd_sdk::ops::ConsignmentFilter;
use serde_json::{Value, json};

use super::NUMBER;
use crate::fixed_date::fake_builder;

fn nested(level: usize, last: usize) -> Value {
    let below = if level < last {
        vec![nested(level + 1, last)]
    } else {
        Vec::new()
    };
    json!({
        "id": format!("q{level}"), "order": level, "text": format!("Level {level}"), "readOnly": false,
        "forms": ["LPAC1"], "type": "STRING", "triggers": null, "validators": [], "acceptableAnswers": [],
        "childQuestions": below,
    })
}

/// The depth of the first branch. Checks that each of its questions is complete.
fn depth(mut questions: &[Question]) -> usize {
    let mut level = 0;
    while let Some(question) = questions.first() {
        level += 1;
        let text = format!("Level {level}");
        assert_eq!(question.text.as_deref(), Some(text.as_str()));
        questions = &question.child_questions;
    }
    level
}

#[tokio::test]
async fn eight_levels_of_questions_are_read_by_one_request() {
    for last in [5, 8] {
        let fake = fake_builder().world(World::sample().questions([nested(1, last)]));
        let fake = fake.start().await.unwrap();
        let client = fake.client().build().unwrap();
        let account = client.account(fake.account_id());
        assert_eq!(depth(&client.questions().await.unwrap().value.items), last);
        let record = account.consignment(NUMBER).await.unwrap().value;
        assert_eq!(depth(&record.questions), last);
        let mut pager = account.full_consignments(&ConsignmentFilter::default());
        let records = pager.next_page().await.unwrap().unwrap().records;
        let depths = records.iter().map(|record| depth(&record.questions));
        // Some records have other forms, which have no questions.
        assert_eq!(depths.max(), Some(last));
        assert_eq!(fake.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_ninth_level_is_an_error_unless_the_document_is_the_callers() {
    let fake = fake_builder().world(World::sample().questions([nested(1, 9)]));
    let fake = fake.start().await.unwrap();
    let client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let mut pager = account.full_consignments(&ConsignmentFilter::default());
    for error in [
        client.questions().await.unwrap_err(),
        account.consignment(NUMBER).await.unwrap_err(),
        pager.next_page().await.unwrap_err(),
    ] {
        assert!(error.kind() == ErrorKind::Protocol, "{error}");
        assert!(error.to_string().contains("more than 8 levels"), "{error}");
    }
    let levels = (0..9).fold("id text".to_owned(), |below, _| {
        format!("id text childQuestions {{ {below} }}")
    });
    let document = format!("{{ questions {{ items {{ {levels} }} }} }}");
    let client = fake
        .client()
        .override_operation("questions", document)
        .build()
        .unwrap();
    assert_eq!(depth(&client.questions().await.unwrap().value.items), 9);
}
