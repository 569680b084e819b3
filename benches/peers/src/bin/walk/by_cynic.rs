//! cynic with reqwest.

use cynic::{GraphQlResponse, QueryBuilder};
use tokio::runtime::Runtime;

use crate::record::{ACCOUNT, TOKEN};

#[allow(non_snake_case, non_camel_case_types)]
mod schema {
    cynic::use_schema!("../../graphql/schema.graphql");
}

/// A moment, as text.
#[derive(cynic::Scalar)]
#[allow(dead_code)]
struct DateTime(String);

#[derive(cynic::QueryVariables)]
struct Variables {
    envd_account_id: String,
    first: Option<i32>,
    after: Option<String>,
}

#[derive(cynic::QueryFragment)]
#[cynic(
    schema_path = "../../graphql/schema.graphql",
    graphql_type = "Query",
    variables = "Variables"
)]
struct Consignments {
    #[arguments(envdAccountId: $envd_account_id, first: $first, after: $after)]
    consignments: Option<ConsignmentConnection>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct ConsignmentConnection {
    total_count: Option<i32>,
    page_info: PageInfo,
    edges: Option<Vec<Option<ConsignmentEdge>>>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct ConsignmentEdge {
    cursor: Option<String>,
    node: Option<Consignment>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Consignment {
    id: Option<String>,
    number: Option<String>,
    status: Option<ConsignmentStatus>,
    species: Option<ConsignmentSpecies>,
    movement_date: Option<String>,
    movement_time: Option<String>,
    heads: Option<i32>,
    created_by: Option<String>,
    updated_at: Option<DateTime>,
    owner: Option<Party>,
    origin: Option<Party>,
    destination: Option<Party>,
    consignee: Option<Party>,
    forms: Option<Vec<Option<ConsignmentForm>>>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Party {
    name: Option<String>,
    pic: Option<String>,
    address: Option<Address>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Address {
    line1: Option<String>,
    town: Option<String>,
    state: Option<String>,
    postcode: Option<String>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct ConsignmentForm {
    #[cynic(rename = "type")]
    form_type: Option<EFormType>,
    serial_number: Option<String>,
}

#[derive(cynic::Enum)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
enum ConsignmentStatus {
    Deleted,
    Draft,
    Submitted,
    Locked,
    #[cynic(fallback)]
    Other,
}

#[derive(cynic::Enum)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
enum ConsignmentSpecies {
    Cattle,
    Goat,
    BobbyCalves,
    SheepLamb,
    #[cynic(fallback)]
    Other,
}

#[derive(cynic::Enum)]
#[cynic(
    schema_path = "../../graphql/schema.graphql",
    graphql_type = "EFormType",
    rename_all = "None"
)]
#[allow(clippy::upper_case_acronyms)]
enum EFormType {
    EUC1,
    HSC2,
    HSG0,
    HSSL1,
    LPABC1,
    LPAC1,
    LPAG2,
    LPASL1,
    MSAC1,
    NFASC0,
    NFASDDC1,
    NFASEUC1,
    LPAHRG0,
    LPAG3,
    #[cynic(fallback)]
    Other,
}

pub fn walk(runtime: &Runtime, url: &str) -> usize {
    runtime.block_on(async {
        let client = reqwest::Client::new();
        let mut after = None;
        let mut records = 0;
        loop {
            let body = Consignments::build(Variables {
                envd_account_id: ACCOUNT.to_owned(),
                first: Some(100),
                after,
            });
            let request = client.post(url).bearer_auth(TOKEN).json(&body);
            let reply: GraphQlResponse<Consignments> =
                request.send().await.unwrap().json().await.unwrap();
            let page = reply.data.unwrap().consignments.unwrap();
            records += page.edges.unwrap().len();
            let info = page.page_info;
            if !info.has_next_page {
                return records;
            }
            after = info.end_cursor;
        }
    })
}
