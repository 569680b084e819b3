//! Inputs and replies as a careful user would write them by hand.

use serde::{Deserialize, Serialize};

use super::{ACCOUNT, operation};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Body<'a> {
    operation_name: &'a str,
    query: &'a str,
    variables: Variables<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Variables<'a> {
    envd_account_id: &'a str,
    input: &'a Input,
}

impl<'a> Body<'a> {
    pub fn of(input: &'a Input) -> Self {
        Self {
            operation_name: operation::OPERATION_NAME,
            query: operation::QUERY,
            variables: Variables {
                envd_account_id: ACCOUNT,
                input,
            },
        }
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    forms: Vec<String>,
    origin: Party,
    destination: Party,
    movement_date: String,
    movement_time: String,
    status: String,
    answers: Vec<Answer>,
}

#[derive(Deserialize, Serialize)]
struct Party {
    name: String,
    pic: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    question_id: String,
    index: Option<i64>,
    value: String,
}

#[derive(Deserialize)]
pub struct Reply {
    pub data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    pub create_or_save_consignment: Outcome,
}

#[derive(Deserialize)]
pub struct Outcome {
    pub data: Saved,
}

#[derive(Deserialize)]
#[allow(dead_code)]
pub struct Saved {
    pub id: Option<String>,
    pub number: Option<String>,
    pub status: Option<String>,
}
