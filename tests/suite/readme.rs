//! The test in `guide::testing`, and a check that both are equal.

use envd_sdk::fake::{Fake, Fault};

#[tokio::test]
async fn the_user_is_found_although_the_service_stumbles() {
    let fake = Fake::start().await;
    let away = Fault::status(503).header("retry-after", "0");
    let user_details = fake.on_operation("UserDetails");
    user_details.fault(away).times(2).expect(3);

    let client = fake.client().build().unwrap(); // hand it to your application
    let user = client.registered_user().await.unwrap().value;
    assert_eq!(user.accounts.len(), 3);
}

#[test]
fn the_guide_names_the_version_of_graphql_client_that_the_crate_has() {
    // Read the lock file, because the published package has another Cargo.toml.
    let lock = include_str!("../../Cargo.lock").replace('\r', "");
    let entry = lock.split("name = \"graphql_client\"\nversion = \"");
    let version = entry.last().unwrap().split('"').next().unwrap();
    let minor = version.rsplit_once('.').unwrap().0;
    let guide = include_str!("../../src/guide/own_documents.md");
    assert!(guide.contains(&format!("graphql_client = \"{minor}\"\n")));
}

#[test]
fn the_test_in_the_guide_is_this_one_and_has_at_most_20_lines() {
    let guide = include_str!("../../src/guide/testing.md");
    let block = guide.split("```rust\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    assert!(block.lines().count() <= 20, "{}", block.lines().count());
    assert!(include_str!("readme.rs").contains(block), "{block}");
}
