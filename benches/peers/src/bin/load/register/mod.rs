//! 2,000 pages of the register, 16 at a time: 16 searches of 125 pages.

mod by_hand;
pub mod by_sdk;
mod property;

use serde_json::{Value, json};

use crate::measure::{Peer, Request, Server, Table, goal, header};
use crate::{HAND, LANES, SDK};

/// The pages of each search.
const PAGES: usize = 125;
const PAGE_SIZE: usize = 100;

pub fn compare(rounds: usize) {
    let pages: Vec<String> = (0..PAGES).map(page).collect();
    header(&format!(
        "{} register pages of {PAGE_SIZE} properties, {} KB a page, {LANES} at a time",
        LANES * PAGES,
        pages[0].len() / 1000,
    ));
    let server = Server::start(move |request: &Request<'_>, reply| {
        let index = request.target.split_once("pageindex=");
        let index = index.map_or(0, |(_, rest)| {
            rest.split('&').next().unwrap().parse().unwrap()
        });
        let page: &String = &pages[index];
        reply.extend_from_slice(page.as_bytes());
    });
    let peers = vec![
        Peer::new(HAND, by_hand::hyper),
        Peer::new(SDK, by_sdk::pages),
        Peer::new("reqwest by hand", by_hand::reqwest),
        Peer::new("reqwest + serde", by_hand::json),
    ];
    if let Some(table) = Table::of(&server, rounds, LANES * PAGES * PAGE_SIZE, &peers) {
        let ratio = table.ratio(SDK, HAND);
        goal("the SDK at most 1.10 times by hand", ratio, ratio <= 1.10);
    }
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
