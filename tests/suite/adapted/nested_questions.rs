//! Nested questions.

use envd_sdk::fake::World;
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

#[tokio::test]
async fn questions_are_requested_until_a_level_is_empty() {
    for (last, requests) in [(5, 1), (6, 2), (9, 2), (12, 3)] {
        let fake = fake_builder().world(World::sample().questions([nested(1, last)]));
        let fake = fake.start().await.unwrap();
        let client = fake.client().build().unwrap();
        let items = client.questions().await.unwrap().value.items;
        let record = client
            .account(fake.account_id())
            .consignment(NUMBER)
            .await
            .unwrap()
            .value;
        for questions in [&items, &record.questions] {
            let (mut below, mut level) = (questions, 0);
            while let Some(question) = below.first() {
                level += 1;
                assert_eq!(
                    question.text.as_deref(),
                    Some(format!("Level {level}").as_str())
                );
                below = &question.child_questions;
            }
            assert_eq!(level, last);
        }
        assert_eq!(fake.requests().len(), 2 * requests, "{last} levels");
        client.questions().await.unwrap();
        assert_eq!(
            fake.requests().len(),
            2 * requests + 1,
            "the document with more levels is reused"
        );
    }
}

#[tokio::test]
async fn full_records_have_all_levels_of_questions() {
    let fake = fake_builder().world(World::sample().questions([nested(1, 9)]));
    let fake = fake.start().await.unwrap();
    let account = fake.client().build().unwrap().account(fake.account_id());
    let mut pager = account.full_consignments(&ConsignmentFilter::default());
    let page = pager.next_page().await.unwrap().unwrap();
    let mut deepest = 0;
    for record in page.records {
        let (mut below, mut level) = (&record.questions, 0);
        while let Some(question) = below.first() {
            level += 1;
            assert!(question.text.is_some());
            below = &question.child_questions;
        }
        // Some records have other forms, which have no questions.
        assert!([0, 9].contains(&level));
        deepest = deepest.max(level);
    }
    assert_eq!((deepest, fake.requests().len()), (9, 2));
}

#[tokio::test]
async fn endless_levels_of_questions_are_refused_at_the_limit() {
    let fake = fake_builder().world(World::sample().questions([nested(1, 40)]));
    let fake = fake.start().await.unwrap();
    let error = fake
        .client()
        .build()
        .unwrap()
        .questions()
        .await
        .unwrap_err();
    assert!(
        error.is_protocol() && error.to_string().contains("33"),
        "{error}"
    );
}
