//! Inputs and replies, written by hand.

use std::sync::LazyLock;

use envd_sdk::graphql::generated::{CreateOrSaveConsignment, create_or_save_consignment};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use graphql_client::GraphQLQuery;
use serde::{Deserialize, Serialize};

use super::ACCOUNT;

/// The document that the SDK sends.
static DOCUMENT: LazyLock<&str> = LazyLock::new(|| {
    let party = || PartyInput::new("QAZZ7777");
    let input = ConsignmentInput::new([FormType::Lpac1], party(), party());
    let variables = create_or_save_consignment::Variables {
        envd_account_id: ACCOUNT.into(),
        input,
    };
    CreateOrSaveConsignment::build_query(variables).query
});

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
            operation_name: "CreateOrSaveConsignment",
            query: &DOCUMENT,
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
