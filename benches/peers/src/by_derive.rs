//! The derive of `graphql_client` with reqwest.

use std::sync::Arc;

use graphql_client::{GraphQLQuery, Response};

use crate::hand::Json;
use crate::records::{ACCOUNT, PAGE_SIZE, Page};

pub use self::create_or_save_consignment::CreateOrSaveConsignmentInput as Input;

type DateTime = String;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/save.graphql",
    variables_derives = "Deserialize"
)]
struct CreateOrSaveConsignment;

pub async fn save(client: Arc<Json>, input: Input) -> bool {
    let envd_account_id = ACCOUNT.to_owned();
    let variables = create_or_save_consignment::Variables {
        envd_account_id,
        input,
    };
    let body = CreateOrSaveConsignment::build_query(variables);
    let reply: Response<create_or_save_consignment::ResponseData> = client.post(body).await;
    let result = reply.data.unwrap().create_or_save_consignment.unwrap();
    result.data.unwrap().number.is_some()
}

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/summary.graphql"
)]
struct Consignments;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/full.graphql"
)]
struct FullConsignments;

/// The derive generates separate types for each document, without a common trait.
macro_rules! page_by {
    ($page:ident, $query:ident, $module:ident) => {
        pub async fn $page(client: Arc<Json>, after: Option<String>) -> Page {
            let body = $query::build_query($module::Variables {
                envd_account_id: ACCOUNT.to_owned(),
                first: Some(PAGE_SIZE as i64),
                after,
            });
            let reply: Response<$module::ResponseData> = client.post(body).await;
            let page = reply.data.unwrap().consignments.unwrap();
            let count = page.edges.unwrap().len();
            let info = page.page_info;
            (count, info.end_cursor.filter(|_| info.has_next_page))
        }
    };
}

page_by!(page, Consignments, consignments);
page_by!(full_page, FullConsignments, full_consignments);
