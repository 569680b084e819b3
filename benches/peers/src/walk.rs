//! Reads 20,000 consignments in pages of 100: once with the selection of the SDK's typed list, and once with full records,
//! including answers and declaration.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::compare::{Measure, Peer, compare};
use crate::cpu::Run;
use crate::hand::{Hand, Hyper, Json, Reqwest};
use crate::records::{
    FULL, Full, PAGE_SIZE, Page, Pages, SUMMARIES, Summary, body, full, read, summary,
};
use crate::{by_cynic, by_derive, by_sdk};

const PAGES: usize = 200;

pub fn show(rounds: usize) {
    let peers: [Box<Measure>; 3] = [
        Box::new(|run| walk(run, Json::to, by_derive::page)),
        Box::new(|run| walk(run, Json::to, by_cynic::page::<by_cynic::Summary>)),
        Box::new(by_pager),
    ];
    let sample = |row| summary(row, 2);
    show_of::<Summary>("record of a list", SUMMARIES, rounds, sample, peers);
    let peers: [Box<Measure>; 3] = [
        Box::new(|run| walk(run, Json::to, by_derive::full_page)),
        Box::new(|run| walk(run, Json::to, by_cynic::page::<by_cynic::Full>)),
        Box::new(|run| walk(run, by_sdk::client, by_sdk::full_page)),
    ];
    show_of::<Full>("full record of a list", FULL, rounds, full, peers);
}

fn show_of<T: DeserializeOwned>(
    what: &str,
    document: &'static str,
    rounds: usize,
    sample: fn(usize) -> Value,
    [derive, cynic, sdk]: [Box<Measure>; 3],
) {
    let peers = [
        Peer::new("hyper by hand", move |run| {
            by_hand::<Hyper, T>(run, document)
        }),
        Peer::new("reqwest by hand", move |run| {
            by_hand::<Reqwest, T>(run, document)
        }),
        Peer::new("`graphql_client` and reqwest", derive),
        Peer::new("cynic and reqwest", cynic),
        Peer::new("envd-sdk", sdk).at_most(1.05, None),
    ];
    let pages = Pages::new(PAGES, sample);
    let work = format!("{what}, {} KB a page of {PAGE_SIZE}", pages.kilobytes());
    compare(&work, PAGES * PAGE_SIZE, rounds, &pages.serve(None), &peers);
}

fn by_pager(run: &Run<'_>) -> (Duration, usize) {
    let url = run.url();
    run.timed(async move { by_sdk::walk(by_sdk::client(&url), Duration::ZERO).await })
}

fn by_hand<H: Hand, T: DeserializeOwned>(
    run: &Run<'_>,
    document: &'static str,
) -> (Duration, usize) {
    walk(run, H::to, move |client, after| {
        page::<H, T>(client, document, after)
    })
}

/// A page by hand.
pub async fn page<H: Hand, T: DeserializeOwned>(
    client: Arc<H>,
    document: &str,
    after: Option<String>,
) -> Page {
    read::<T>(&client.post(body(document, after.as_deref())).await)
}

fn walk<C: Send + Sync + 'static, F: Future<Output = Page> + Send>(
    run: &Run<'_>,
    to: fn(&str) -> C,
    page: impl Fn(Arc<C>, Option<String>) -> F + Send + 'static,
) -> (Duration, usize) {
    let url = run.url();
    run.timed(async move { one_by_one(to(&url), page).await })
}

/// Reads a page after the other, by a function of the client and the cursor.
pub async fn one_by_one<C, F: Future<Output = Page>>(
    client: C,
    page: impl Fn(Arc<C>, Option<String>) -> F,
) -> usize {
    let client = Arc::new(client);
    let mut records = 0;
    let mut after = None;
    loop {
        let (count, next) = page(Arc::clone(&client), after).await;
        records += count;
        if next.is_none() {
            return records;
        }
        after = next;
    }
}
