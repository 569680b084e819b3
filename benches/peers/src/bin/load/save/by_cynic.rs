//! cynic with reqwest.

use std::time::Duration;

use cynic::{GraphQlResponse, MutationBuilder};
use serde::Deserialize;

use super::{ACCOUNT, token};
use crate::measure::{Run, side_by_side};

#[allow(non_snake_case, non_camel_case_types)]
mod schema {
    cynic::use_schema!("../../graphql/schema.graphql");
}

#[derive(cynic::QueryVariables)]
struct Variables {
    envd_account_id: String,
    input: CreateOrSaveConsignmentInput,
}

#[derive(cynic::QueryFragment)]
#[cynic(
    schema_path = "../../graphql/schema.graphql",
    graphql_type = "Mutation",
    variables = "Variables"
)]
struct CreateOrSaveConsignment {
    #[arguments(envdAccountId: $envd_account_id, input: $input)]
    create_or_save_consignment: Option<ConsignmentResult>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
struct ConsignmentResult {
    data: Option<Consignment>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Consignment {
    id: Option<String>,
    number: Option<String>,
    status: Option<ConsignmentStatus>,
}

#[derive(cynic::InputObject, Deserialize)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[serde(rename_all = "camelCase")]
pub struct CreateOrSaveConsignmentInput {
    forms: Vec<EFormType>,
    origin: PartyInput,
    destination: PartyInput,
    movement_date: Option<String>,
    movement_time: Option<String>,
    status: Option<ConsignmentStatus>,
    answers: Option<Vec<AnswerInput>>,
}

#[derive(cynic::InputObject, Deserialize)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
struct PartyInput {
    name: Option<String>,
    pic: Option<String>,
}

#[derive(cynic::InputObject, Deserialize)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[serde(rename_all = "camelCase")]
struct AnswerInput {
    question_id: Option<String>,
    index: Option<i32>,
    value: Option<String>,
}

#[derive(cynic::Enum)]
#[cynic(schema_path = "../../graphql/schema.graphql", non_exhaustive)]
enum ConsignmentStatus {
    Draft,
    #[cynic(fallback)]
    Other,
}

#[derive(cynic::Enum)]
#[cynic(
    schema_path = "../../graphql/schema.graphql",
    graphql_type = "EFormType",
    rename_all = "None",
    non_exhaustive
)]
#[allow(clippy::upper_case_acronyms)]
enum EFormType {
    LPAC1,
    #[cynic(fallback)]
    Other,
}

pub fn save(run: &Run<'_>, lanes: Vec<Vec<CreateOrSaveConsignmentInput>>) -> (Duration, usize) {
    let (token, url) = (token(), format!("{}/graphql", run.base()));
    run.timed(async move {
        let client = reqwest::Client::new();
        side_by_side(lanes.into_iter().map(|inputs| {
            let (client, token, url) = (client.clone(), token.clone(), url.clone());
            async move {
                let mut saved = 0;
                for input in inputs {
                    let body = CreateOrSaveConsignment::build(Variables {
                        envd_account_id: ACCOUNT.to_owned(),
                        input,
                    });
                    let request = client.post(&url).bearer_auth(&token).json(&body);
                    let reply: GraphQlResponse<CreateOrSaveConsignment> =
                        request.send().await.unwrap().json().await.unwrap();
                    let result = reply.data.unwrap().create_or_save_consignment.unwrap();
                    let record = result.data.unwrap();
                    saved += usize::from(record.number.is_some());
                }
                saved
            }
        }))
        .await
    })
}
