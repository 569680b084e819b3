//! Your own documents, in addition to those of the crate and instead of one of them: `cargo run -p apps --bin custom_operation`.
//!
//! With the `ENVD_` settings of the README it uses those servers and changes nothing there.

#[path = "../../../../cli/mod.rs"]
mod cli;
#[path = "../../../../settings/mod.rs"]
mod settings;

use std::process::ExitCode;

use envd_sdk::model::{AccountId, Maybe};
use envd_sdk::{Client, ErrorKind};
use serde_json::Value;

use cli::{Failure, printable};
use queries::{AddViewer, Heads, ViewerInput, add_viewer, heads};
use settings::Settings;

const USAGE: &str = "usage: custom_operation

Documents of your own, beside those of the crate and instead of one, and a dry run.
It runs on a fake of its own, or on the servers of the ENVD_ settings (examples/README.md), and
changes nothing there.";

/// The build script (`examples/apps/build.rs`) generates this module with `envd-codegen` from the `.graphql` files in this
/// folder. `Heads` reads the numbers of moved animals, for which the crate has no method. `AddViewer` is made up, because the
/// specification names only the flow, and is never sent.
mod queries {
    envd_sdk::include_operations!();
}

/// Replaces the crate's query of user details. The service has two names for the query (4.1), and the record is under `data`
/// (2.8); the alias gives the reply the name that the crate reads.
const USER: &str = "query { userDetails: userDetailsQuery { data {
    isNewUser firstName defaultAccount roles
    accounts { envdAccountId accountLabel accountType }
} } }";

#[tokio::main]
async fn main() -> ExitCode {
    cli::no_arguments(USAGE);
    cli::end(run().await)
}

async fn run() -> Result<(), Failure> {
    let settings = Settings::read().await?;
    let builder = settings.log_in().await?.0;
    let client = builder.override_operation("userDetails", USER).build()?;

    // Only the document is replaced: the typed method, the types and the checks are those of the crate.
    let user = client.registered_user().await?.value;
    println!(
        "1. The overridden operation read {} accounts.",
        user.accounts.len()
    );

    let account = Settings::account_id(&user)?;
    let (heads, consignments) = heads_of(&client, &account).await?;
    println!("2. An operation of our own: {heads} head in {consignments} consignments.");

    // A dry run shows the request without the token, and sends nothing.
    let call = client.execute::<AddViewer>(add_viewer::Variables {
        account: account.clone(),
        number: "C-900000101".into(),
        // Only set fields are sent: an email address, and null for the note.
        viewer: ViewerInput {
            email: "kim@example.com".to_owned(),
            note: Maybe::Null,
            ..ViewerInput::default()
        },
    });
    let request = call.header("x-office", "Roma").dry_run()?;
    println!("3. A dry run: {} {}", request.method, request.url);
    for (name, value) in &request.headers {
        println!("   {name}: {value}");
    }
    let start: String = request.body.chars().take(60).collect();
    println!("   {start}...");

    // This document does not match the server's schema; a test against the fake detects that early.
    let wrong = "query Wrong { consignmentz { number } }";
    let refused = client.execute_document::<Value>(wrong, "Wrong", &());
    let error = refused
        .await
        .err()
        .ok_or("the server accepted a wrong document")?;
    if error.kind() == ErrorKind::SchemaMismatch {
        println!("4. A wrong document is a SchemaMismatch:");
    }
    for problem in error.server_errors() {
        println!("   {}", printable(problem));
    }
    Ok(())
}

/// Reads page by page, with the same pager as the crate's own lists.
async fn heads_of(client: &Client, account: &AccountId) -> Result<(i64, usize), Failure> {
    let account = account.clone();
    let pager = client.pager::<Heads, _>(
        move |after| heads::Variables {
            account: account.clone(),
            first: Some(5),
            after,
            since: None,
        },
        |data| data.consignments,
    );
    let mut records = pager.items();
    let mut heads = 0;
    let mut consignments = 0;
    while let Some(record) = records.next().await {
        heads += record?.heads.unwrap_or_default();
        consignments += 1;
    }
    Ok((heads, consignments))
}
