//! Lists page by page (spec 4.1) against the fake and against servers that break the rules.

mod look_ahead;
mod own_documents;
mod walks;

use envd_sdk::graphql::generated::{FullConsignments, Templates};
use envd_sdk::model::{ConsignmentSummary, FormType, Property, TemplateInput};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::register::PagePosition;
use envd_sdk::{AccountClient, Error, ErrorKind, Items};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use test_support::{Reply, Server};

use crate::fixed_date::start_fake;
use crate::profiles::moved;
use crate::scripted::{body, client, ok};

fn account(server: &Server) -> AccountClient {
    client(server).build().unwrap().account("envd-1")
}

/// A page in the server's format.
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

/// A server that replies according to the cursor, which is empty at the start.
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

/// Collects records up to `limit`, and returns whether the list has more.
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

/// A list that is read record by record: the name of the next record (`!` if it is unreadable), and the stored position after it.
pub(crate) trait Records {
    fn record(&mut self) -> impl Future<Output = Option<String>>;

    fn place(&self) -> String;
}

impl Records for Items<ConsignmentSummary> {
    async fn record(&mut self) -> Option<String> {
        let record = self.next().await?;
        Some(record.map_or("!".to_owned(), |it| it.number.unwrap().to_string()))
    }

    fn place(&self) -> String {
        serde_json::to_string(self.position()).unwrap()
    }
}

impl Records for Items<Property, PagePosition> {
    async fn record(&mut self) -> Option<String> {
        let record = self.next().await?;
        Some(record.map_or("!".to_owned(), |it| it.pic.unwrap()))
    }

    fn place(&self) -> String {
        serde_json::to_string(self.position()).unwrap()
    }
}

/// Parses a stored position; null is the start.
pub(crate) fn placed<P: DeserializeOwned + Default>(place: &str) -> P {
    serde_json::from_str::<Option<P>>(place)
        .unwrap()
        .unwrap_or_default()
}

/// Checks that a reader that starts at any stored position reads the records after it. Returns the names of all records.
pub(crate) async fn assert_resumes<R: Records>(start: impl Fn(&str) -> R) -> Vec<String> {
    let mut all = Vec::new();
    let mut places = Vec::new();
    let mut reader = start("null");
    places.push(reader.place());
    while let Some(record) = reader.record().await {
        all.push(record);
        places.push(reader.place());
    }
    for (taken, place) in places.iter().enumerate() {
        let mut rest = start(place);
        let mut seen = Vec::new();
        while let Some(record) = rest.record().await {
            seen.push(record);
        }
        assert_eq!(seen, all[taken..], "after {taken}: {place}");
    }
    all
}

#[tokio::test]
async fn each_consignment_is_returned_once_for_any_page_size_and_look_ahead() {
    let fake = start_fake().await;
    let account = fake.client().build().unwrap().account(fake.account_id());
    for (size, ahead) in [(1, 0), (1, 1), (3, 4), (5, 1), (16, 1), (50, 2)] {
        let start = |place: &str| {
            let pager = account.consignments(&filter().page_size(size));
            pager.start_at(placed(place)).look_ahead(ahead).items()
        };
        let mut numbers = assert_resumes(start).await;
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), 8, "{size} {ahead}");
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
    // Three templates: one from the sample world, and the two above.
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
    let mut requests = 0;
    let mut records = Vec::new();
    while let Some(page) = pager.next_page().await.unwrap() {
        requests += 1;
        assert_eq!((page.missing, page.unreadable.len()), (0, 0));
        records.extend(page.records);
    }
    assert_eq!(fake.requests().len(), requests);
    assert_eq!(fake.requests_of::<FullConsignments>().len(), requests);
    // Each record of the list equals the record read by its id.
    let mut listed = account.consignments(&filter).items();
    for record in &records {
        let id = listed.next().await.unwrap().unwrap().id.unwrap();
        let alone = account.consignment(id).await.unwrap().value;
        assert_eq!(record, &alone);
        assert!(!record.questions.is_empty());
    }
    assert!(listed.next().await.is_none() && records.len() > 7);
    let mut items = account.full_consignments(&filter).items();
    items.next().await.unwrap().unwrap();
    let stored = items.position().clone();
    let mut rest = account.full_consignments(&filter).start_at(stored).items();
    assert_eq!(rest.next().await.unwrap().unwrap(), records[1]);
}

#[tokio::test]
async fn unpaged_lists_return_their_readable_records() {
    let comments = json!({"data": {"comments": [{"commentText": "a"}, {"commentText": 5}]}});
    let server = serve(move |_| ok(comments.clone()));
    let outcome = account(&server).comments("C-1").await.unwrap();
    assert_eq!((outcome.value.len(), outcome.nulls()), (1, 0));
    let error = outcome.unreadable().next().unwrap();
    assert_eq!(error.json_path(), Some("data.comments[1].commentText"));
    assert_eq!(error.raw_data(), Some(&json!({"commentText": 5})));
    assert!(outcome.strict().unwrap_err().kind() == ErrorKind::UnreadableRecord);
}

#[tokio::test]
async fn an_override_that_moves_the_list_returns_the_readable_records() {
    let mut list = page(end(), &["1", "2"])["data"]["consignments"].take();
    list["edges"][1]["node"]["heads"] = "hidden".into();
    let server = serve(move |_| ok(json!({"data": {"all": {"of": list}}})));
    let document = "query All($envdAccountId: String!) { all(a: $envdAccountId) { of } }";
    let client = client(&server).profile(&moved("consignments", document, "/all/of"));
    let account = client.build().unwrap().account("envd-1");
    let mut pager = account.consignments(&filter());
    let page = pager.next_page().await.unwrap().unwrap();
    let error = &page.unreadable[0];
    assert_eq!(page.records.len(), 1);
    assert_eq!(error.json_path(), Some("data.all.of.edges[1].node.heads"));
    assert!(!format!("{error} {error:?} {page:?}").contains("hidden"));
    assert_eq!(error.operation(), Some("consignments"));
}
