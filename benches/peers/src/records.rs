//! Consignments of a list: types written by hand, the request that all clients send, and a server of sample records.

use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::canned::{Line, Request, Server};

pub const ACCOUNT: &str = "envd-100201";
/// Of typical length.
pub static TOKEN: LazyLock<String> =
    LazyLock::new(|| format!("eyJhbGciOi.{}.c2ln", "a".repeat(880)));

pub const SUMMARIES: &str = include_str!("summary.graphql");
pub const FULL: &str = include_str!("full.graphql");
pub const PAGE_SIZE: usize = 100;

/// The number of records of a page, and the cursor of the next one.
pub type Page = (usize, Option<String>);

pub fn body(document: &str, after: Option<&str>) -> Vec<u8> {
    let (_, name) = document.split_once("query ").unwrap();
    let body = json!({
        "query": document,
        "operationName": name.split('(').next(),
        "variables": {"envdAccountId": ACCOUNT, "first": PAGE_SIZE, "after": after},
    });
    serde_json::to_vec(&body).unwrap()
}

pub fn read<T: DeserializeOwned>(text: &[u8]) -> Page {
    let text = std::str::from_utf8(text).unwrap();
    let page = serde_json::from_str::<Reply<T>>(text)
        .unwrap()
        .data
        .consignments;
    let count = page.edges.len();
    let info = page.page_info;
    (count, info.end_cursor.filter(|_| info.has_next_page))
}

/// Types of JSON, written by hand.
macro_rules! wire {
    ($case:literal: $($(#[$about:meta])* $name:ident $(<$of:ident>)? { $($fields:tt)* })*) => {$(
        $(#[$about])*
        #[derive(serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = $case)]
        #[allow(dead_code)]
        pub struct $name $(<$of>)? { $($fields)* }
    )*};
}
pub(crate) use wire;

wire! { "camelCase":
    Reply<T> { data: Data<T> }
    Data<T> { consignments: Connection<T> }
    Connection<T> { total_count: Option<i64>, page_info: PageInfo, edges: Vec<Edge<T>> }
    PageInfo { has_next_page: bool, end_cursor: Option<String> }
    Edge<T> { cursor: Option<String>, node: Option<T> }
    /// The fields of the SDK's typed list.
    Summary {
        id: Option<String>, number: Option<String>, status: Option<String>, species: Option<String>,
        movement_date: Option<String>, movement_time: Option<String>, heads: Option<i64>,
        created_by: Option<String>, updated_at: Option<String>,
        owner: Option<Party>, origin: Option<Party>, destination: Option<Party>, consignee: Option<Party>,
        forms: Option<Vec<Form>>,
    }
    /// All fields of a consignment except its questions.
    Full {
        id: Option<String>, number: Option<String>, status: Option<String>, species: Option<String>,
        movement_date: Option<String>, movement_time: Option<String>, heads: Option<i64>, pdf_url: Option<String>,
        created_by: Option<String>, updated_at: Option<String>, updated_by: Option<String>, submitted_at: Option<String>,
        owner: Option<Party>, origin: Option<Party>, destination: Option<Party>, consignee: Option<Party>,
        forms: Option<Vec<Form>>, answers: Option<Vec<Answer>>, declaration: Option<Declaration>,
    }
    Party { name: Option<String>, pic: Option<String>, address: Option<Address> }
    Address { line1: Option<String>, town: Option<String>, state: Option<String>, postcode: Option<String> }
    Form { r#type: Option<String>, serial_number: Option<String> }
    Answer { question_id: Option<String>, index: Option<i64>, value: Option<String> }
    Declaration {
        accept: Option<bool>, full_name: Option<String>, phone: Option<String>, email: Option<String>, date: Option<String>,
        signature: Option<String>, certificate_number: Option<String>, address: Option<Address>,
    }
}

/// A sample as the typed list brings it, with so many forms.
pub fn summary(row: usize, forms: usize) -> Value {
    let party = |name: &str, pic: &str| json!({"name": name, "pic": pic, "address": address()});
    // Long serial numbers make large records.
    let digits = if forms > 2 { 39 } else { 8 };
    let forms = (0..forms).map(
        |form| json!({"type": "LPAC1", "serialNumber": format!("{:0digits$}", row * forms + form)}),
    );
    json!({
        "id": format!("00000000-0000-4000-8000-{PAGE}{row:06}"),
        "number": format!("C-{row:09}"),
        "status": if row.is_multiple_of(3) { "DRAFT" } else { "SUBMITTED" },
        "species": "CATTLE",
        "movementDate": "2026-11-23",
        "movementTime": "05:15",
        "heads": row % 400,
        "createdBy": "Sam Sample",
        "updatedAt": "2026-11-20T09:26:00Z",
        "owner": party("Sample Pastoral", "QAZZ7777"),
        "origin": party("Sample Station", "QAZZ7777"),
        "destination": party("Testbrook Meats", "ND000003"),
        "consignee": party("Sample Livestock Buyers", "QDZZ3333"),
        "forms": forms.collect::<Value>(),
    })
}

/// About 3.8 KB with 115 strings.
pub fn full(row: usize) -> Value {
    let mut record = summary(row, 2);
    let fed = "Not treated or fed in the last 60 days, see the health declaration";
    let values = ["Yes", "No", fed, "24"];
    record["answers"] = (0..32)
        .map(|id| json!({"questionId": (id + 100).to_string(), "index": null, "value": values[id % 4]}))
        .collect();
    record["pdfUrl"] = format!("https://pdf.example.com/declarations/2026/{row:09}.pdf?signed=0123456789abcdef0123456789abcdef").into();
    record["updatedBy"] = "Sam Sample".into();
    record["submittedAt"] = "2026-11-20T09:26:00Z".into();
    record["declaration"] = json!({
        "accept": true, "fullName": "Sam Sample", "phone": "0700000000", "email": "sam@example.com",
        "date": "2026-11-20T09:26:00Z", "signature": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "certificateNumber": "0000123",
        "address": address(),
    });
    record
}

pub fn address() -> Value {
    json!({"line1": "101 Example Road", "town": "Sampleton", "state": "QLD", "postcode": "4999"})
}

/// Stands for the number of the page in the id of a record.
pub const PAGE: &str = "@page@";

/// Pages that differ by the ids of their records alone.
pub struct Pages {
    count: usize,
    edges: String,
}

impl Pages {
    pub fn new(count: usize, sample: impl Fn(usize) -> Value) -> Self {
        // Formatted by hand: a server replies in the order of the selection.
        let edge = |row| format!(r#"{{"cursor":"c-{row}","node":{}}}"#, sample(row));
        let edges: Vec<String> = (0..PAGE_SIZE).map(edge).collect();
        Self {
            count,
            edges: edges.join(","),
        }
    }

    /// The size of a page.
    pub fn kilobytes(&self) -> usize {
        self.page(0).len() / 1_000
    }

    pub fn page(&self, number: usize) -> Vec<u8> {
        let total = self.count * PAGE_SIZE;
        let more = number + 1 < self.count;
        let head = format!(
            r#"{{"data":{{"consignments":{{"totalCount":{total},"pageInfo":{{"hasNextPage":{more},"endCursor":"{}"}},"edges":["#,
            number + 1,
        );
        let edges = self.edges.replace(PAGE, &format!("{number:06}"));
        [&head, &edges, "]}}}"].concat().into_bytes()
    }

    /// Serves them, over a line or not.
    pub fn serve(self, line: Option<Line>) -> Server {
        let pages: Vec<Vec<u8>> = (0..self.count).map(|number| self.page(number)).collect();
        Server::over(line, move |request, reply| {
            reply.extend_from_slice(&pages[requested(request)])
        })
    }
}

/// The number of the requested page is the cursor `after`.
pub fn requested(request: &Request<'_>) -> usize {
    let body: Value = serde_json::from_slice(request.body).unwrap();
    let after = body["variables"]["after"].as_str();
    after.map_or(0, |after| after.parse().unwrap())
}
