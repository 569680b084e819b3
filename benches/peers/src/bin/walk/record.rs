//! Records, written by hand, and the request that all clients send.

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

/// Reads a page of records that own their strings, or with `&str` borrow them: the number of records, and the next cursor.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> (usize, Option<String>) {
    let page = serde_json::from_str::<Reply<T>>(text)
        .unwrap()
        .data
        .consignments;
    let next = page
        .page_info
        .has_next_page
        .then_some(page.page_info.end_cursor);
    (page.edges.len(), next.flatten())
}

/// The fields of the SDK's typed list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary<S = String> {
    pub id: Option<S>,
    pub number: Option<S>,
    pub status: Option<S>,
    pub species: Option<S>,
    pub movement_date: Option<S>,
    pub movement_time: Option<S>,
    pub heads: Option<i64>,
    pub created_by: Option<S>,
    pub updated_at: Option<S>,
    pub owner: Option<Party<S>>,
    pub origin: Option<Party<S>>,
    pub destination: Option<Party<S>>,
    pub consignee: Option<Party<S>>,
    pub forms: Option<Vec<Form<S>>>,
}

/// All fields of a consignment except its questions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consignment<S = String> {
    pub id: Option<S>,
    pub number: Option<S>,
    pub status: Option<S>,
    pub species: Option<S>,
    pub movement_date: Option<S>,
    pub movement_time: Option<S>,
    pub heads: Option<i64>,
    pub pdf_url: Option<S>,
    pub created_by: Option<S>,
    pub updated_at: Option<S>,
    pub updated_by: Option<S>,
    pub submitted_at: Option<S>,
    pub owner: Option<Party<S>>,
    pub origin: Option<Party<S>>,
    pub destination: Option<Party<S>>,
    pub consignee: Option<Party<S>>,
    pub forms: Option<Vec<Form<S>>>,
    pub answers: Option<Vec<Answer<S>>>,
    pub declaration: Option<Declaration<S>>,
}

#[derive(Deserialize)]
pub struct Party<S = String> {
    pub name: Option<S>,
    pub pic: Option<S>,
    pub address: Option<Address<S>>,
}

#[derive(Deserialize)]
pub struct Address<S = String> {
    pub line1: Option<S>,
    pub town: Option<S>,
    pub state: Option<S>,
    pub postcode: Option<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Form<S = String> {
    #[serde(rename = "type")]
    pub form_type: Option<S>,
    pub serial_number: Option<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<S = String> {
    pub question_id: Option<S>,
    pub index: Option<i64>,
    pub value: Option<S>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Declaration<S = String> {
    pub accept: Option<bool>,
    pub full_name: Option<S>,
    pub phone: Option<S>,
    pub email: Option<S>,
    pub date: Option<S>,
    pub signature: Option<S>,
    pub certificate_number: Option<S>,
    pub address: Option<Address<S>>,
}
