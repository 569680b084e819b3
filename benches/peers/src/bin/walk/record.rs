//! Owned records, written by hand, and the request that all clients send.

#![allow(dead_code)] // Not every program uses all of it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub const ACCOUNT: &str = "envd-100201";
pub const TOKEN: &str = "eyJhbGciOi.eyJzdWIi.c2ln";

/// A record type, with its selection and sample.
pub trait Record: DeserializeOwned {
    const DOCUMENT: &'static str;
    const OPERATION: &'static str;

    fn sample(number: usize) -> Value;
}

/// The body of a request.
pub fn body<T: Record>(after: Option<&str>) -> Value {
    json!({
        "query": T::DOCUMENT,
        "operationName": T::OPERATION,
        "variables": {"envdAccountId": ACCOUNT, "first": 100, "after": after},
    })
}

#[derive(Deserialize)]
pub struct Reply<T> {
    pub data: Data<T>,
}

#[derive(Deserialize)]
pub struct Data<T> {
    pub consignments: Page<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub total_count: Option<i64>,
    pub page_info: PageInfo,
    pub edges: Vec<Edge<T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

#[derive(Deserialize)]
pub struct Edge<T> {
    pub cursor: Option<String>,
    pub node: Option<T>,
}

/// The fields of the SDK's typed list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
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

/// All fields of a consignment except its questions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consignment {
    pub id: Option<String>,
    pub number: Option<String>,
    pub status: Option<String>,
    pub species: Option<String>,
    pub movement_date: Option<String>,
    pub movement_time: Option<String>,
    pub heads: Option<i64>,
    pub pdf_url: Option<String>,
    pub created_by: Option<String>,
    pub updated_at: Option<String>,
    pub updated_by: Option<String>,
    pub submitted_at: Option<String>,
    pub owner: Option<Party>,
    pub origin: Option<Party>,
    pub destination: Option<Party>,
    pub consignee: Option<Party>,
    pub forms: Option<Vec<Form>>,
    pub answers: Option<Vec<Answer>>,
    pub declaration: Option<Declaration>,
}

#[derive(Deserialize)]
pub struct Party {
    pub name: Option<String>,
    pub pic: Option<String>,
    pub address: Option<Address>,
}

#[derive(Deserialize)]
pub struct Address {
    pub line1: Option<String>,
    pub town: Option<String>,
    pub state: Option<String>,
    pub postcode: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    #[serde(rename = "type")]
    pub form_type: Option<String>,
    pub serial_number: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub question_id: Option<String>,
    pub index: Option<i64>,
    pub value: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Declaration {
    pub accept: Option<bool>,
    pub full_name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub date: Option<String>,
    pub signature: Option<String>,
    pub certificate_number: Option<String>,
    pub address: Option<Address>,
}
