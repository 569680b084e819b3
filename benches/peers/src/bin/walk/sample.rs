//! The sample records of the server.

#![allow(dead_code)] // Not every program uses all of it.

use serde_json::{Value, json};

use crate::record::{Consignment, Record, Summary};

impl Record for Summary {
    const DOCUMENT: &'static str = include_str!("summary.graphql");
    const OPERATION: &'static str = "Consignments";

    fn sample(number: usize) -> Value {
        let party = |name: &str, pic: &str| json!({"name": name, "pic": pic, "address": address()});
        json!({
            "id": format!("00000000-0000-4000-8000-{number:012}"),
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
            "forms": [
                {"type": "LPAC1", "serialNumber": format!("{number:08}")},
                {"type": "HSC2", "serialNumber": format!("A{number:08}")},
            ],
        })
    }
}

impl Record for Consignment {
    const DOCUMENT: &'static str = include_str!("full.graphql");
    const OPERATION: &'static str = "FullConsignments";

    /// About 3.8 KB with 115 strings.
    fn sample(number: usize) -> Value {
        let mut record = Summary::sample(number);
        let values = [
            "Yes",
            "No",
            "Not treated or fed in the last 60 days, see the health declaration",
            "24",
        ];
        let answers: Vec<Value> = (0..32)
            .map(|id| json!({"questionId": (id + 100).to_string(), "index": null, "value": values[id % 4]}))
            .collect();
        record["pdfUrl"] = format!("https://pdf.example.com/declarations/2026/{number:09}.pdf?signed=0123456789abcdef0123456789abcdef").into();
        record["updatedBy"] = "Sam Sample".into();
        record["submittedAt"] = "2026-11-20T09:26:00Z".into();
        record["answers"] = answers.into();
        record["declaration"] = json!({
            "accept": true, "fullName": "Sam Sample", "phone": "0700000000", "email": "sam@example.com",
            "date": "2026-11-20T09:26:00Z", "signature": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "certificateNumber": "0000123",
            "address": address(),
        });
        record
    }
}

fn address() -> Value {
    json!({"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"})
}
