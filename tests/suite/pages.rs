//! Lists page by page (spec 4.1) against the fake and against servers that break the rules.

mod look_ahead;
mod own_documents;
mod unreadable;
mod walks;

use envd_sdk::graphql::generated::{FullConsignments, Templates};
use envd_sdk::model::{FormType, TemplateInput};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::{Account, Error, Items};
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::fixed_date::start_fake;
use crate::scripted::{body, client, ok};

fn account(server: &Server) -> Account {
    client(server).build().unwrap().account("envd-1")
}

/// A page as the server would send it.
fn page(info: Value, numbers: &[&str]) -> Value {
    let edges: Vec<_> = numbers
        .iter()
        .map(|number| json!({"cursor": number, "node": {"number": number}}))
        .collect();
    let list = json!({"totalCount": 9, "pageInfo": info, "edges": edges});
    json!({"data": {"consignments": list}})
}

fn more(cursor: &str) -> Value {
    json!({"hasNextPage": true, "endCursor": cursor})
}

fn end() -> Value {
    json!({"hasNextPage": false, "endCursor": "z"})
}

/// A server that replies by cursor (empty at the start).
fn serve(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| {
        let body = body(&request);
        let reply = answer(body["variables"]["after"].as_str().unwrap_or_default());
        async { reply }
    })
}

fn filter() -> ConsignmentFilter {
    ConsignmentFilter::default()
}

/// Adds records until there are `limit`, and says whether the list has more.
pub(crate) async fn collect_up_to<T: Send + 'static>(
    items: &mut Items<T>,
    limit: usize,
    records: &mut Vec<T>,
) -> Result<bool, Error> {
    while records.len() < limit {
        match items.next().await {
            Some(record) => records.push(record?),
            None => return Ok(false),
        }
    }
    Ok(true)
}

#[tokio::test]
async fn each_consignment_is_returned_once_for_any_page_size_and_look_ahead() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let total = account
        .consignments_page(&filter(), None)
        .await
        .unwrap()
        .value
        .total_count;
    let total = usize::try_from(total.unwrap()).unwrap();
    assert!(total > 5);
    for (size, ahead) in [(1, 0), (1, 1), (3, 4), (5, 1), (16, 1), (50, 2)] {
        let pager = account
            .consignments(&filter().page_size(size))
            .look_ahead(ahead);
        let mut items = pager.items();
        let mut numbers = Vec::new();
        while let Some(item) = items.next().await {
            numbers.push(item.unwrap().number.unwrap());
        }
        assert_eq!(numbers.len(), total, "{size} {ahead}");
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), total, "{size} {ahead}");
    }
}

#[tokio::test]
async fn a_page_has_its_position_and_the_next_one() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let mut pager = account.consignments(&filter().page_size(6));
    let first = pager.next_page().await.unwrap().unwrap();
    let total = first.total.unwrap();
    assert_eq!((first.number, first.total_drift), (1, Some(0)));
    assert_eq!(first.position.cursor(), None);
    assert_eq!(first.next.as_ref(), Some(pager.position()));
    assert_eq!(first.next, first.position_after(5));
    let second = pager.next_page().await.unwrap().unwrap();
    assert_eq!(
        (second.number, &second.position),
        (2, first.next.as_ref().unwrap())
    );
    let mut seen = first.records.len() + second.records.len();
    while let Some(page) = pager.next_page().await.unwrap() {
        seen += page.records.len();
    }
    assert_eq!(i64::try_from(seen).unwrap(), total);
    assert!(pager.next_page().await.unwrap().is_none());

    // A program that ended after the first page resumes from the stored position.
    let position = first.next.unwrap();
    let mut pager = account
        .consignments(&filter().page_size(6))
        .start_at(position);
    let again = pager.next_page().await.unwrap().unwrap();
    assert_eq!(again.records, second.records);
}

#[tokio::test]
async fn templates_are_listed_page_by_page() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    for name in ["To the yards", "To the works"] {
        let input = TemplateInput::new(name, [FormType::Lpac1]);
        let _ = account.save_template(input).await.unwrap();
    }
    let filter = TemplateFilter::default().page_size(2);
    let page = account.templates_page(&filter, None).await.unwrap().value;
    assert_eq!(page.edges.len(), 2);
    let mut all = Vec::new();
    let mut items = account.templates(&filter).items();
    let more = collect_up_to(&mut items, 100, &mut all).await.unwrap();
    assert!(!more);
    // Three templates: one of the sample world, and the two above.
    assert_eq!((all.len(), fake.requests_of::<Templates>().len()), (3, 3));
    assert!(
        all.iter()
            .any(|template| template.name.as_deref() == Some("To the works"))
    );
}

#[tokio::test]
async fn a_stream_ends_with_a_failure_and_has_the_position_to_resume_from() {
    let server = serve(|after| match after {
        "" => ok(page(more("2"), &["1", "2"])),
        _ => Reply::json(500, r#"{"Message": "no"}"#),
    });
    let mut items = account(&server).consignments(&filter()).items();
    let mut records = Vec::new();
    let error = collect_up_to(&mut items, 9, &mut records)
        .await
        .unwrap_err();
    assert_eq!(records.len(), 2);
    assert_eq!(error.resume_from(), Some(items.position()));
    assert!(items.next().await.is_none());
    assert_eq!(server.count(), 2);

    let mut items = account(&server).consignments(&filter()).items();
    items.next().await.unwrap().unwrap();
    assert_eq!(items.position().cursor(), Some("1"));
}

#[tokio::test]
async fn full_records_take_one_request_for_each_page() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    let filter = filter().page_size(7);
    let mut pager = account.full_consignments(&filter);
    let (mut requests, mut records) = (0, Vec::new());
    while let Some(page) = pager.next_page().await.unwrap() {
        requests += 1;
        assert_eq!((page.missing, page.unreadable.len()), (0, 0));
        records.extend(page.records);
    }
    assert_eq!(fake.requests().len(), requests);
    assert_eq!(fake.requests_of::<FullConsignments>().len(), requests);
    // The records of the list, each equal to the record that is read by id.
    let mut listed = account.consignments(&filter).items();
    for record in &records {
        let id = listed.next().await.unwrap().unwrap().id.unwrap();
        let alone = account.consignment(id).await.unwrap().value;
        assert_eq!(record, &alone);
        assert!(!record.questions.is_empty());
    }
    assert!(listed.next().await.is_none() && records.len() > 7);
    // From a stored position.
    let mut items = account.full_consignments(&filter).items();
    items.next().await.unwrap().unwrap();
    let stored = items.position().clone();
    let mut rest = account.full_consignments(&filter).start_at(stored).items();
    assert_eq!(rest.next().await.unwrap().unwrap(), records[1]);
}
