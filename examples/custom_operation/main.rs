//! Documents of your own beside those of the crate, and in place of one: `cargo run --example custom_operation`.
//!
//! With the `ENVD_` settings of the README it runs on the servers that they name; nothing is changed there.

mod cli;
mod settings;

use std::process::ExitCode;

use envd_sdk::graphql::generated::{Questions, questions};
use serde::{Deserialize, Serialize};

use cli::{Failure, printable};
use settings::Settings;

const USAGE: &str = "usage: custom_operation

Documents of your own beside those of the crate, one in place of ours, and a dry run.
It runs on a fake of its own, or on the servers that the ENVD_ settings of the README name;
nothing is changed there.";

/// How many animals moved: a question that the crate has no method for.
const HEADS: &str = "query Heads($account: String!, $page: Int) {
    consignments(envdAccountId: $account, first: $page) { totalCount edges { node { number heads } } }
}";

#[derive(Serialize)]
struct Asked<'a> {
    account: &'a str,
    page: u32,
}

/// Only what the document selects, in types that suit this program. A derive of `graphql_client` does as well.
#[derive(Deserialize)]
struct Heads {
    consignments: Connection,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Connection {
    total_count: u64,
    edges: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    node: Consignment,
}

#[derive(Deserialize)]
struct Consignment {
    heads: Option<u32>,
}

/// In place of the crate's own query of user details. The service has two names for it (4.1), and the record under
/// `data` (2.8); the alias brings the reply back to the name that the crate reads.
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

    // The typed method, the types and the checks are the crate's; the document is ours.
    let user = client.registered_user().await?.value;
    println!(
        "1. The overridden operation read {} accounts.",
        user.accounts.len()
    );

    let account = Settings::account_id(&user)?;
    let asked = Asked {
        account: account.as_str(),
        page: 5,
    };
    let heads: Heads = client.execute_document(HEADS, "Heads", &asked).await?.value;
    let page = &heads.consignments;
    let sum: u32 = page.edges.iter().filter_map(|edge| edge.node.heads).sum();
    println!(
        "2. A document of our own: {sum} heads in the newest {} of {} consignments.",
        page.edges.len(),
        page.total_count
    );

    // What would be sent, without sending it: nothing but the token is missing.
    let call = client.request::<Questions>(questions::Variables {});
    let request = call.header("x-office", "Roma").dry_run()?;
    println!("3. A dry run: {} {}", request.method(), request.url());
    for (name, value) in request.headers() {
        println!("   {name}: {}", String::from_utf8_lossy(value));
    }
    let start: String = request.body().chars().take(60).collect();
    println!("   {start}...");

    // A document that the server does not understand is said to be one; a test against the fake finds it first.
    let wrong = "query Wrong { consignmentz { number } }";
    let refused = client.execute_document::<Heads>(wrong, "Wrong", &());
    let error = refused.await.err().ok_or("a wrong document was taken")?;
    if error.is_schema_mismatch() {
        println!("4. A wrong document is told as a difference of schemas:");
    }
    for said in error.server_errors() {
        println!("   {}", printable(said));
    }
    Ok(())
}
