//! cynic with reqwest.

use cynic::QueryBuilder;

#[allow(non_snake_case, non_camel_case_types)]
pub(crate) mod schema {
    cynic::use_schema!("../../graphql/schema.graphql");
}

/// A date and time, as text.
#[derive(cynic::Scalar)]
#[allow(dead_code)]
pub(crate) struct DateTime(String);

#[derive(cynic::QueryVariables)]
pub(crate) struct Variables {
    pub(crate) envd_account_id: String,
    pub(crate) first: Option<i32>,
    pub(crate) after: Option<String>,
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
pub(crate) struct PageInfo {
    pub(crate) has_next_page: bool,
    pub(crate) end_cursor: Option<String>,
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
pub(crate) struct Party {
    name: Option<String>,
    pic: Option<String>,
    address: Option<Address>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
pub(crate) struct Address {
    line1: Option<String>,
    town: Option<String>,
    state: Option<String>,
    postcode: Option<String>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
pub(crate) struct ConsignmentForm {
    #[cynic(rename = "type")]
    form_type: Option<EFormType>,
    serial_number: Option<String>,
}

#[derive(cynic::Enum)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
pub(crate) enum ConsignmentStatus {
    Deleted,
    Draft,
    Submitted,
    Locked,
    #[cynic(fallback)]
    Other,
}

#[derive(cynic::Enum)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
pub(crate) enum ConsignmentSpecies {
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

/// The same loop for different types.
macro_rules! walk_by {
    ($query:ident) => {
        pub fn walk(run: &crate::measure::Run<'_>) -> (std::time::Duration, usize) {
            let url = format!("{}/graphql", run.base());
            run.timed(async move {
                let client = reqwest::Client::new();
                let mut after = None;
                let mut records = 0;
                loop {
                    let body = $query::build(Variables {
                        envd_account_id: crate::record::ACCOUNT.to_owned(),
                        first: Some(100),
                        after,
                    });
                    let request = client
                        .post(&url)
                        .bearer_auth(crate::record::TOKEN)
                        .json(&body);
                    let reply: cynic::GraphQlResponse<$query> =
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
    };
}

pub(crate) use walk_by;

walk_by!(Consignments);
