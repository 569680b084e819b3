//! cynic with reqwest, full records.

use cynic::QueryBuilder;

use crate::by_cynic::{
    Address, ConsignmentForm, ConsignmentSpecies, ConsignmentStatus, DateTime, PageInfo, Party,
    Variables, VariablesFields, schema, walk_by,
};

#[derive(cynic::QueryFragment)]
#[cynic(
    schema_path = "../../graphql/schema.graphql",
    graphql_type = "Query",
    variables = "Variables"
)]
struct FullConsignments {
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
    pdf_url: Option<String>,
    created_by: Option<String>,
    updated_at: Option<DateTime>,
    updated_by: Option<String>,
    submitted_at: Option<DateTime>,
    owner: Option<Party>,
    origin: Option<Party>,
    destination: Option<Party>,
    consignee: Option<Party>,
    forms: Option<Vec<Option<ConsignmentForm>>>,
    answers: Option<Vec<Option<Answer>>>,
    declaration: Option<Declaration>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Answer {
    question_id: Option<String>,
    index: Option<i32>,
    value: Option<String>,
}

#[derive(cynic::QueryFragment)]
#[cynic(schema_path = "../../graphql/schema.graphql")]
#[allow(dead_code)]
struct Declaration {
    accept: Option<bool>,
    full_name: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    date: Option<DateTime>,
    signature: Option<String>,
    certificate_number: Option<String>,
    address: Option<Address>,
}

walk_by!(FullConsignments);
