//! A save through the derive of `graphql_client`, with the attribute that `guide::own_documents` requires.

use envd_sdk::fake::Fake;
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use graphql_client::GraphQLQuery;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "../../graphql/schema.graphql",
    query_path = "tests/apps/save.graphql",
    variables_derives = "Default",
    skip_serializing_none
)]
struct Save;

#[tokio::test]
async fn what_a_derived_save_does_not_name_stays() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let origin = PartyInput::new("QAZZ7777");
    let destination = PartyInput::new("QDZZ3333");
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
        .owner(PartyInput::new("QAZZ7777"))
        .movement("2026-11-24", "05:15");
    let id = account
        .save_consignment(input)
        .await
        .unwrap()
        .value
        .id
        .unwrap();

    let party = |pic: &str| save::PartyInput {
        pic: Some(pic.to_owned()),
        ..save::PartyInput::default()
    };
    let variables = save::Variables {
        account: fake.account_id().to_owned(),
        input: save::CreateOrSaveConsignmentInput {
            id: Some(id.to_string()),
            forms: vec![save::EFormType::LPAC1],
            origin: party("QAZZ7777"),
            destination: party("QBZZ2222"),
            ..save::CreateOrSaveConsignmentInput::default()
        },
    };
    let _ = client.execute::<Save>(variables).await.unwrap();
    let record = account.consignment(id).await.unwrap().value;
    let destination = record.destination.and_then(|party| party.pic);
    assert_eq!(destination.as_deref(), Some("QBZZ2222"));
    assert!(record.owner.is_some() && record.movement_date.is_some());
}
