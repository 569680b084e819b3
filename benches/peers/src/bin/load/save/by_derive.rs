//! The derive of `graphql_client` with reqwest.

use std::time::Duration;

use graphql_client::{GraphQLQuery, Response};

use self::create_or_save_consignment::{CreateOrSaveConsignmentInput, ResponseData, Variables};
use super::{ACCOUNT, token};
use crate::measure::{Run, side_by_side};

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "src/bin/load/save/save.graphql",
    variables_derives = "Deserialize"
)]
struct CreateOrSaveConsignment;

pub fn save(run: &Run<'_>, lanes: Vec<Vec<CreateOrSaveConsignmentInput>>) -> (Duration, usize) {
    let (token, url) = (token(), format!("{}/graphql", run.base()));
    run.timed(async move {
        let client = reqwest::Client::new();
        side_by_side(lanes.into_iter().map(|inputs| {
            let (client, token, url) = (client.clone(), token.clone(), url.clone());
            async move {
                let mut saved = 0;
                for input in inputs {
                    let body = CreateOrSaveConsignment::build_query(Variables {
                        envd_account_id: ACCOUNT.to_owned(),
                        input,
                    });
                    let request = client.post(&url).bearer_auth(&token).json(&body);
                    let reply: Response<ResponseData> =
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
