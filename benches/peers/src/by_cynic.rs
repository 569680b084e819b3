//! cynic with reqwest.

use std::sync::Arc;

use cynic::{GraphQlResponse, MutationBuilder, QueryBuilder, QueryFragment};
use serde::de::DeserializeOwned;

use self::types::{Consignments, CreateOrSaveConsignment, Lists, Saves};
use crate::hand::Json;
use crate::records::{ACCOUNT, PAGE_SIZE, Page};

pub use self::types::{CreateOrSaveConsignmentInput as Input, Full, Summary};

#[allow(non_snake_case, non_camel_case_types)]
mod schema {
    cynic::use_schema!("../../graphql/schema.graphql");
}

pub async fn save(client: Arc<Json>, input: Input) -> bool {
    let envd_account_id = ACCOUNT.to_owned();
    let body = CreateOrSaveConsignment::build(Saves {
        envd_account_id,
        input,
    });
    let reply: GraphQlResponse<CreateOrSaveConsignment> = client.post(body).await;
    let result = reply.data.unwrap().create_or_save_consignment.unwrap();
    result.data.unwrap().number.is_some()
}

/// A page of summaries or of full records.
pub async fn page<T>(client: Arc<Json>, after: Option<String>) -> Page
where
    T: QueryFragment<SchemaType = schema::Consignment, VariablesFields = ()> + DeserializeOwned,
{
    let body = Consignments::<T>::build(Lists {
        envd_account_id: ACCOUNT.to_owned(),
        first: Some(PAGE_SIZE as i32),
        after,
    });
    let reply: GraphQlResponse<Consignments<T>> = client.post(body).await;
    let page = reply.data.unwrap().consignments.unwrap();
    let count = page.edges.unwrap().len();
    let info = page.page_info;
    (count, info.end_cursor.filter(|_| info.has_next_page))
}

// Many short types, a selection each.
#[rustfmt::skip]
#[cynic::schema_for_derives(file = "../../graphql/schema.graphql", module = "schema")]
#[allow(dead_code, clippy::upper_case_acronyms)]
mod types {
    use cynic::QueryFragment;
    use serde::Deserialize;

    use super::schema;

    #[derive(cynic::QueryVariables)]
    pub struct Saves { pub envd_account_id: String, pub input: CreateOrSaveConsignmentInput }

    #[derive(cynic::InputObject, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct CreateOrSaveConsignmentInput {
        forms: Vec<EFormType>, origin: PartyInput, destination: PartyInput, movement_date: Option<String>,
        movement_time: Option<String>, status: Option<ConsignmentStatus>, answers: Option<Vec<AnswerInput>>,
    }

    #[derive(cynic::InputObject, Deserialize)]
    struct PartyInput { name: Option<String>, pic: Option<String> }

    #[derive(cynic::InputObject, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct AnswerInput { question_id: Option<String>, index: Option<i32>, value: Option<String> }

    #[derive(cynic::QueryFragment)]
    #[cynic(graphql_type = "Mutation", variables = "Saves")]
    pub struct CreateOrSaveConsignment {
        #[arguments(envdAccountId: $envd_account_id, input: $input)]
        pub create_or_save_consignment: Option<ConsignmentResult>,
    }

    #[derive(cynic::QueryFragment)]
    pub struct ConsignmentResult { pub data: Option<Saved> }

    #[derive(cynic::QueryFragment)]
    #[cynic(graphql_type = "Consignment")]
    pub struct Saved { id: Option<String>, pub number: Option<String>, status: Option<ConsignmentStatus> }

    #[derive(cynic::QueryVariables)]
    pub struct Lists { pub envd_account_id: String, pub first: Option<i32>, pub after: Option<String> }

    #[derive(cynic::QueryFragment)]
    #[cynic(graphql_type = "Query", variables = "Lists")]
    pub struct Consignments<T: QueryFragment<SchemaType = schema::Consignment, VariablesFields = ()>> {
        #[arguments(envdAccountId: $envd_account_id, first: $first, after: $after)]
        pub consignments: Option<ConsignmentConnection<T>>,
    }

    #[derive(cynic::QueryFragment)]
    pub struct ConsignmentConnection<T: QueryFragment<SchemaType = schema::Consignment, VariablesFields = ()>> {
        total_count: Option<i32>, pub page_info: PageInfo, pub edges: Option<Vec<Option<ConsignmentEdge<T>>>>,
    }

    #[derive(cynic::QueryFragment)]
    pub struct PageInfo { pub has_next_page: bool, pub end_cursor: Option<String> }

    #[derive(cynic::QueryFragment)]
    pub struct ConsignmentEdge<T: QueryFragment<SchemaType = schema::Consignment, VariablesFields = ()>> {
        cursor: Option<String>, node: Option<T>,
    }

    #[derive(cynic::QueryFragment)]
    #[cynic(graphql_type = "Consignment")]
    pub struct Summary {
        id: Option<String>, number: Option<String>, status: Option<ConsignmentStatus>, species: Option<ConsignmentSpecies>,
        movement_date: Option<String>, movement_time: Option<String>, heads: Option<i32>,
        created_by: Option<String>, updated_at: Option<DateTime>,
        owner: Option<Party>, origin: Option<Party>, destination: Option<Party>, consignee: Option<Party>,
        forms: Option<Vec<Option<ConsignmentForm>>>,
    }

    #[derive(cynic::QueryFragment)]
    #[cynic(graphql_type = "Consignment")]
    pub struct Full {
        id: Option<String>, number: Option<String>, status: Option<ConsignmentStatus>, species: Option<ConsignmentSpecies>,
        movement_date: Option<String>, movement_time: Option<String>, heads: Option<i32>, pdf_url: Option<String>,
        created_by: Option<String>, updated_at: Option<DateTime>, updated_by: Option<String>, submitted_at: Option<DateTime>,
        owner: Option<Party>, origin: Option<Party>, destination: Option<Party>, consignee: Option<Party>,
        forms: Option<Vec<Option<ConsignmentForm>>>, answers: Option<Vec<Option<Answer>>>, declaration: Option<Declaration>,
    }

    #[derive(cynic::QueryFragment)]
    struct Party { name: Option<String>, pic: Option<String>, address: Option<Address> }

    #[derive(cynic::QueryFragment)]
    struct Address { line1: Option<String>, town: Option<String>, state: Option<String>, postcode: Option<String> }

    #[derive(cynic::QueryFragment)]
    struct ConsignmentForm { #[cynic(rename = "type")] form_type: Option<EFormType>, serial_number: Option<String> }

    #[derive(cynic::QueryFragment)]
    struct Answer { question_id: Option<String>, index: Option<i32>, value: Option<String> }

    #[derive(cynic::QueryFragment)]
    struct Declaration {
        accept: Option<bool>, full_name: Option<String>, phone: Option<String>, email: Option<String>, date: Option<DateTime>,
        signature: Option<String>, certificate_number: Option<String>, address: Option<Address>,
    }

    /// As text.
    #[derive(cynic::Scalar)]
    struct DateTime(String);

    #[derive(cynic::Enum)]
    pub enum ConsignmentStatus { Deleted, Draft, Submitted, Locked, #[cynic(fallback)] Other }

    #[derive(cynic::Enum)]
    pub enum ConsignmentSpecies { Cattle, Goat, BobbyCalves, SheepLamb, #[cynic(fallback)] Other }

    #[derive(cynic::Enum)]
    #[cynic(graphql_type = "EFormType", rename_all = "None", non_exhaustive)]
    pub enum EFormType { LPAC1, HSC2, #[cynic(fallback)] Other }
}
