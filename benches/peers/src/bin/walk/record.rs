//! Owned records as a careful user would write them by hand, and the request that all clients send.

use serde::Deserialize;
use serde_json::{Value, json};

pub const DOCUMENT: &str = include_str!("consignments.graphql");
pub const ACCOUNT: &str = "envd-100201";
pub const TOKEN: &str = "eyJhbGciOi.eyJzdWIi.c2ln";

/// The body of a request.
pub fn body(after: Option<&str>) -> Value {
    json!({
        "query": DOCUMENT,
        "operationName": "Consignments",
        "variables": {"envdAccountId": ACCOUNT, "first": 100, "after": after},
    })
}

#[derive(Deserialize)]
pub struct Reply {
    pub data: Data,
}

#[derive(Deserialize)]
pub struct Data {
    pub consignments: Page,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct Page {
    pub total_count: Option<i64>,
    pub page_info: PageInfo,
    pub edges: Vec<Edge>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
pub struct Edge {
    pub cursor: Option<String>,
    pub node: Option<Consignment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct Consignment {
    pub id: Option<String>,
    pub number: Option<String>,
    pub status: Option<String>,
    pub species: Option<String>,
    pub movement_date: Option<String>,
    pub movement_time: Option<String>,
    pub heads: Option<i64>,
    pub created_by: Option<String>,
    pub updated_at: Option<String>,
    pub owner: Option<Party>,
    pub origin: Option<Party>,
    pub destination: Option<Party>,
    pub consignee: Option<Party>,
    pub forms: Option<Vec<Form>>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
pub struct Party {
    pub name: Option<String>,
    pub pic: Option<String>,
    pub address: Option<Address>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
pub struct Address {
    pub line1: Option<String>,
    pub town: Option<String>,
    pub state: Option<String>,
    pub postcode: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
pub struct Form {
    #[serde(rename = "type")]
    pub form_type: Option<String>,
    pub serial_number: Option<String>,
}
