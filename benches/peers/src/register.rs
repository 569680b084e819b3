//! 2,000 pages of the register with 100 properties each, 16 at a time: 16 searches of 125 pages.

use std::time::Duration;

use envd_sdk::register::{PropertySearch, Register};
use serde_json::{Value, json};

use crate::LANES;
use crate::canned::{Request, Server};
use crate::compare::{Peer, compare};
use crate::cpu::{Run, side_by_side};
use crate::hand::{Hand, Hyper, Reqwest};
use crate::records::wire;

/// The pages of each search.
const PAGES: usize = 125;
const PAGE_SIZE: usize = 100;

pub fn show(rounds: usize) {
    let pages: Vec<String> = (0..PAGES).map(page).collect();
    let kilobytes = pages[0].len() / 1_000;
    let work =
        format!("record of the register, {kilobytes} KB a page of {PAGE_SIZE}, {LANES} at a time");
    let server = Server::start(move |request: &Request<'_>, reply| {
        let (_, rest) = request.target.split_once("pageindex=").unwrap_or(("", "0"));
        let index: usize = rest.split('&').next().unwrap().parse().unwrap();
        reply.extend_from_slice(pages[index].as_bytes());
    });
    let peers = [
        Peer::new("hyper by hand", by_hand::<Hyper>),
        Peer::new("reqwest by hand", by_hand::<Reqwest>),
        Peer::new("envd-sdk", by_sdk).at_most(1.10, None),
    ];
    compare(&work, LANES * PAGES * PAGE_SIZE, rounds, &server, &peers);
}

fn by_sdk(run: &Run<'_>) -> (Duration, usize) {
    let base = run.base();
    run.timed(async move {
        let register = Register::builder(base).build().unwrap();
        side_by_side((0..LANES).map(|_| {
            let search = PropertySearch::text("yards").page_size(100);
            let mut pager = register.search(&search);
            async move {
                let mut records = 0;
                while let Some(page) = pager.next_page().await.unwrap() {
                    records += page.records.len();
                }
                records
            }
        }))
        .await
    })
}

fn by_hand<H: Hand>(run: &Run<'_>) -> (Duration, usize) {
    let url = format!("{}/api/v2/PICRegister", run.base());
    run.timed(async move {
        let client = std::sync::Arc::new(H::to(&url));
        side_by_side((0..LANES).map(|_| {
            let client = client.clone();
            async move {
                let mut records = 0;
                for page in 0..PAGES {
                    let query = format!("SearchText=yards&pageindex={page}&pagesize=100");
                    let bytes = client.get(&query).await;
                    let text = std::str::from_utf8(&bytes).unwrap();
                    let reply: Reply = serde_json::from_str(text).unwrap();
                    records += reply.value.sub_set.len();
                }
                records
            }
        }))
        .await
    })
}

fn page(page: usize) -> String {
    let first = page * PAGE_SIZE;
    let records: Vec<Value> = (first..first + PAGE_SIZE).map(property).collect();
    json!({"Value": {"Offset": first, "Limit": PAGE_SIZE, "Total": PAGES * PAGE_SIZE, "SubSet": records}})
        .to_string()
}

fn property(number: usize) -> Value {
    json!({
        "PIC": format!("QA{number:06}"), "PICName": "Sample Station", "PICRegisterId": 900_000 + number,
        "BusinessName": "Sample Pastoral", "FirstName": "Sam", "LastName": "Sample", "Town": "Sampleton",
        "Species": [{"ShortCode": "C"}, {"ShortCode": "S"}], "PropertyTypes": [{"ShortCode": "PR"}],
        "Brands": [{"ShortCode": "ZS1"}], "RegisteredState": "QLD",
        "AdminStatus": {"ShortCode": "A", "Description": "Active"}, "ShireCode": "Z02",
        "ContactDetails": [{"FirstName": "Sam", "LastName": "Sample", "ContactTypeShortCode": "PICMANAGERCONTACT"}],
    })
}

wire! { "PascalCase":
    Reply { value: Found }
    Found { offset: Option<u64>, limit: Option<u64>, total: Option<u64>, sub_set: Vec<Property> }
    Property {
        #[serde(rename = "PIC")] pic: Option<String>,
        #[serde(rename = "PICName")] name: Option<String>,
        #[serde(rename = "PICRegisterId")] register_id: Option<i64>,
        business_name: Option<String>, first_name: Option<String>, last_name: Option<String>, town: Option<String>,
        species: Vec<Code>, property_types: Vec<Code>, brands: Vec<Code>, registered_state: Option<String>,
        admin_status: Option<Status>, shire_code: Option<String>, contact_details: Vec<Contact>,
    }
    Code { short_code: Option<String> }
    Status { short_code: Option<String>, description: Option<String> }
    Contact { first_name: Option<String>, last_name: Option<String>, contact_type_short_code: Option<String> }
}
