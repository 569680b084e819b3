//! Operations of the application's own documents.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use downstream::queries::{Heads, Rename, heads, rename};
use envd_sdk::fake::Fake;
use envd_sdk::model::{Party, TemplateInput};

#[tokio::test]
async fn a_fragment_of_the_sdk_is_a_record_of_the_sdk() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let variables = heads::Variables {
        account: fake.account_id().into(),
        since: None,
    };
    let page = client
        .execute::<Heads>(variables)
        .await
        .unwrap()
        .value
        .consignments
        .unwrap();
    let mut nodes = page.edges.into_iter().filter_map(|edge| edge.node);
    let origin: Party = nodes.find_map(|node| node.origin).unwrap();
    assert!(origin.pic.is_some());
}

#[tokio::test]
async fn a_change_sends_the_fields_that_are_set() {
    let fake = Fake::start().await;
    let client = fake.client().build().unwrap();
    let variables = rename::Variables {
        account: "envd-100201".into(),
        input: TemplateInput::default().id("7").name("Weaners"),
    };
    let body = client.execute::<Rename>(variables).dry_run().unwrap().body;
    let (_, variables) = body.split_once("\"variables\":").unwrap();
    assert_eq!(
        variables,
        r#"{"account":"envd-100201","input":{"id":"7","name":"Weaners"}}}"#
    );
}

/// A package beside this one, with the versions of the repository.
struct Package(PathBuf);

impl Package {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("regenerated");
        // OK to ignore: the first run has none.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::create_dir_all(folder.join("queries")).unwrap();
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        let manifest = format!(
            "[package]\nname = \"regenerated\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nenvd-sdk = {{ path = {root:?} }}\n\n\
             [build-dependencies]\nenvd-codegen = {{ path = {:?} }}\n\n\
             [lints.rust]\nwarnings = \"deny\"\n\n[workspace]\n",
            root.join("crates/envd-codegen")
        );
        let package = Self(folder);
        package.write("Cargo.toml", &manifest);
        package.write(
            "build.rs",
            "fn main() {\n    envd_codegen::build([\"queries\"]);\n}\n",
        );
        package.write(
            "src/main.rs",
            "mod queries {\n    envd_sdk::include_operations!();\n}\n\n\
             fn main() {\n    println!(\"{:?}\", queries::heads::ConsignmentsNode::default().species);\n}\n",
        );
        package
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }

    /// What cargo says, and whether the package builds.
    fn check(&self) -> (bool, String) {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
        let mut command = Command::new(cargo);
        // Some build scripts run again when what cargo sets for a test differs.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command.args(["check", "--quiet"]).current_dir(&self.0);
        // That of this test, as in pages.rs.
        command.env("CARGO_TARGET_DIR", self.0.ancestors().nth(2).unwrap());
        let built = command.output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        (built.status.success(), said)
    }
}

#[test]
fn a_changed_document_is_built_again_and_a_wrong_one_is_named() {
    let package = Package::new();
    let document = |fields: &str| {
        format!(
            "query Heads($account: String!) {{\n  consignments(envdAccountId: $account) {{\n    edges {{ node {{ {fields} }} }}\n  }}\n}}\n"
        )
    };
    // The program reads a field that the document does not select yet.
    package.write("queries/heads.graphql", &document("heads"));
    let (is_built, said) = package.check();
    assert!(!is_built && said.contains("no field `species`"), "{said}");

    package.write("queries/heads.graphql", &document("heads species"));
    let (is_built, said) = package.check();
    assert!(is_built, "{said}");

    package.write("queries/heads.graphql", &document("headz species"));
    let (is_built, said) = package.check();
    let named = "queries/heads.graphql:3:20: type `Consignment` does not have a field `headz`; there is `heads`, ";
    assert!(!is_built && said.contains(named), "{said}");

    // A new file of the folder counts as well.
    package.write("queries/heads.graphql", &document("heads species"));
    package.write(
        "queries/user.graphql",
        "query User { userDetail { email } }",
    );
    let (is_built, said) = package.check();
    assert!(
        !is_built && said.contains("queries/user.graphql:1:14: "),
        "{said}"
    );
}
