//! 2,000 pages of the register, 16 at a time: 16 searches of 125 pages.

mod by_hand;
pub mod by_sdk;
mod property;

use serde_json::{Value, json};

use self::property::read;
use crate::LANES;
use crate::measure::{Peer, Request, Server, Table};

/// The pages of each search.
const PAGES: usize = 125;
const PAGE_SIZE: usize = 100;

pub fn compare(rounds: usize) {
    let pages: Vec<String> = (0..PAGES).map(page).collect();
    let kilobytes = pages[0].len() / 1000;
    let work =
        format!("record of the register, {kilobytes} KB a page of {PAGE_SIZE}, {LANES} at a time");
    let server = Server::start(move |request: &Request<'_>, reply| {
        let index = request.target.split_once("pageindex=");
        let index = index.map_or(0, |(_, rest)| {
            rest.split('&').next().unwrap().parse().unwrap()
        });
        let page: &String = &pages[index];
        reply.extend_from_slice(page.as_bytes());
    });
    let peers = [
        Peer::new("hyper by hand, owned records", |run| {
            by_hand::hyper(run, |text| read::<String>(text))
        }),
        Peer::new("hyper by hand, borrowed records", |run| {
            by_hand::hyper(run, |text| read::<&str>(text))
        }),
        Peer::new("reqwest by hand", by_hand::reqwest),
        Peer::new("envd-sdk", by_sdk::pages).at_most(1.10, None),
    ];
    let items = LANES * PAGES * PAGE_SIZE;
    let table = Table {
        work: &work,
        items,
        rounds,
    };
    table.show(&server, &peers);
}

/// A server that returns a property for any PIC.
pub fn look_up_server() -> Server {
    Server::start(|request: &Request<'_>, reply| {
        let pic = request.target.split_once("(PIC=").unwrap().1;
        let found = json!({"Value": {"Offset": 0, "Limit": 10, "Total": 1, "SubSet": [property(&pic[..8], 1)]}});
        reply.extend_from_slice(found.to_string().as_bytes());
    })
}

pub fn pic(number: usize) -> String {
    format!("QA{number:06}")
}

fn page(page: usize) -> String {
    let first = page * PAGE_SIZE;
    let rows = first..first + PAGE_SIZE;
    let records: Vec<Value> = rows.map(|row| property(&pic(row), row)).collect();
    json!({"Value": {"Offset": first, "Limit": PAGE_SIZE, "Total": PAGES * PAGE_SIZE, "SubSet": records}})
        .to_string()
}

fn property(pic: &str, number: usize) -> Value {
    json!({
        "PIC": pic, "PICName": "Sample Station", "PICRegisterId": 900_000 + number,
        "BusinessName": "Sample Pastoral", "FirstName": "Sam", "LastName": "Sample", "Town": "Sampleton",
        "Species": [{"ShortCode": "C"}, {"ShortCode": "S"}], "PropertyTypes": [{"ShortCode": "PR"}],
        "Brands": [{"ShortCode": "ZS1"}], "RegisteredState": "QLD",
        "AdminStatus": {"ShortCode": "A", "Description": "Active"}, "ShireCode": "Z02",
        "ContactDetails": [{"FirstName": "Sam", "LastName": "Sample", "ContactTypeShortCode": "PICMANAGERCONTACT"}],
    })
}
