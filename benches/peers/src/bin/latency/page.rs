//! Canned pages of 100 records. Those of a page differ from those of another by their ids alone, so the server stores one.

use serde_json::{Value, json};

pub const PAGE_SIZE: usize = 100;

/// The size of a record; clients request all of its fields.
#[derive(Clone, Copy)]
pub struct Records {
    pub forms: usize,
    /// The length of the serial number of a form.
    pub serial: usize,
}

pub struct Pages {
    count: usize,
    /// The part of the body from the records to the end, of the first page.
    rest: Vec<u8>,
    /// Where the ids have the number of their page.
    ids: Vec<usize>,
}

/// The beginning of an id, before the number of its page.
const ID: &str = "00000000-0000-4000-8000-";

impl Pages {
    pub fn new(count: usize, records: Records) -> Self {
        let edges: Vec<Value> = (0..PAGE_SIZE)
            .map(|row| json!({"cursor": format!("c-{row}"), "node": consignment(row, records)}))
            .collect();
        let rest = format!("{}}}}}}}", Value::from(edges));
        let ids = rest.match_indices(ID).map(|(at, id)| at + id.len());
        Self {
            count,
            ids: ids.collect(),
            rest: rest.into_bytes(),
        }
    }

    pub fn page_bytes(&self) -> usize {
        self.rest.len()
    }

    /// A reply in two parts: the head with the beginning of the body, and the rest.
    pub fn reply(&self, page: usize) -> (Vec<u8>, Vec<u8>) {
        // Formatted by hand: a server replies in the order of the selection.
        let beginning = format!(
            r#"{{"data":{{"consignments":{{"totalCount":{},"pageInfo":{{"hasNextPage":{},"endCursor":"{}"}},"edges":"#,
            self.count * PAGE_SIZE,
            page + 1 < self.count,
            page + 1,
        );
        let length = beginning.len() + self.rest.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        let mut rest = self.rest.clone();
        let number = format!("{page:06}");
        for at in &self.ids {
            rest[*at..*at + number.len()].copy_from_slice(number.as_bytes());
        }
        ([head, beginning].concat().into_bytes(), rest)
    }
}

fn consignment(number: usize, records: Records) -> Value {
    let party = |name: &str, pic: &str| {
        json!({
            "name": name,
            "pic": pic,
            "address": {"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"},
        })
    };
    let Records { forms, serial } = records;
    let forms: Vec<Value> = (0..forms)
        .map(|form| json!({"type": "LPAC1", "serialNumber": format!("{:0serial$}", number * forms + form)}))
        .collect();
    json!({
        "id": format!("{ID}{number:012}"),
        "number": format!("C-{number:09}"),
        "status": if number.is_multiple_of(3) { "DRAFT" } else { "SUBMITTED" },
        "species": "CATTLE",
        "movementDate": "2026-11-23",
        "movementTime": "05:15",
        "heads": number % 400,
        "createdBy": "Sam Sample",
        "updatedAt": "2026-11-20T09:26:00Z",
        "owner": party("Sample Pastoral", "QAZZ7777"),
        "origin": party("Sample Station", "QAZZ7777"),
        "destination": party("Testbrook Meats", "ND000003"),
        "consignee": party("Sample Livestock Buyers", "QDZZ3333"),
        "forms": forms,
    })
}
