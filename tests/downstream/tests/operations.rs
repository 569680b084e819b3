//! Operations of the application's own documents.
#![cfg(unix)]

mod cargo;

use std::fs;
use std::path::Path;

use downstream::{Heads, heads};
use envd_sdk::fake::Fake;
use envd_sdk::model::Party;

use self::cargo::{ROOT, check, new_package};

#[tokio::test]
async fn a_fragment_of_the_sdk_is_a_record_of_the_sdk() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let variables = heads::Variables {
        account: fake.account_id().into(),
        since: None,
    };
    let page = client.execute::<Heads>(variables).await.unwrap();
    let page = page.value.consignments.unwrap();
    let mut nodes = page.edges.into_iter().filter_map(|edge| edge.node);
    let origin: Party = nodes.find_map(|node| node.origin).unwrap();
    assert!(origin.pic.is_some());
}

#[test]
fn a_changed_document_is_built_again_and_a_wrong_one_is_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("regenerated");
    let root = Path::new(ROOT);
    let dependencies = format!(
        "[dependencies]\nenvd-sdk = {{ path = {root:?} }}\n\n[build-dependencies]\nenvd-codegen = {{ path = {:?} }}\n",
        root.join("crates/envd-codegen")
    );
    new_package(&folder, "regenerated", &dependencies);
    fs::create_dir(folder.join("queries")).unwrap();
    let write = |file: &str, text: &str| fs::write(folder.join(file), text).unwrap();
    write(
        "build.rs",
        "fn main() {\n    envd_codegen::build([\"queries\"]);\n}\n",
    );
    write(
        "src/main.rs",
        "mod queries {\n    envd_sdk::include_operations!();\n}\n\n\
         fn main() {\n    println!(\"{:?}\", queries::heads::ConsignmentsNode::default().species);\n}\n",
    );
    let with = |fields: &str| {
        let node = format!("edges {{ node {{ {fields} }} }}");
        let document = format!(
            "query Heads($account: String!) {{\n  consignments(envdAccountId: $account) {{\n    {node}\n  }}\n}}\n"
        );
        write("queries/heads.graphql", &document);
        check(&folder, &[])
    };
    // The program reads a field that the document does not select yet.
    let (is_built, said) = with("heads");
    assert!(!is_built && said.contains("no field `species`"), "{said}");
    let (is_built, said) = with("heads species");
    assert!(is_built, "{said}");
    let (is_built, said) = with("headz species");
    let named = "queries/heads.graphql:3:20: type `Consignment` does not have a field `headz`; there is `heads`, ";
    assert!(!is_built && said.contains(named), "{said}");
    // A new file in the folder is also found.
    write(
        "queries/user.graphql",
        "query User { userDetail { email } }",
    );
    let (is_built, said) = with("heads species");
    let named = "queries/user.graphql:1:14: ";
    assert!(!is_built && said.contains(named), "{said}");
}
