//! Compares the schema of a server with the schema of this crate:
//! `cargo run --example schema_drift -- [--endpoint URL --token T] [--json]`.
//!
//! Without an endpoint the `ENVD_` settings of the README name the server and the login; `ENVD_ACCESS_TOKEN` keeps the
//! token out of the list of processes. Without settings the report is that of a fake with a changed schema.
//!
//! The exit code is 0 when no operation breaks, 1 when one does or the server hides its schema, and 2 when the
//! arguments are wrong. On the fake it is 0.

mod arguments;
#[path = "../cli/mod.rs"]
mod cli;
#[path = "../settings/mod.rs"]
mod settings;

use std::env;
use std::process::ExitCode;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::Fake;
use envd_sdk::graphql::{Coverage, SCHEMA, SchemaDrift};

use arguments::Arguments;
use cli::Failure;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    let done = run(&arguments).await;
    done.unwrap_or_else(|failure| cli::fail(&failure))
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let builder = if let Some((endpoint, token)) = &arguments.endpoint {
        Client::builder(endpoint).token_source(StaticToken::new(token)?)
    } else if env::var_os("ENVD_GRAPHQL_URL").is_some() {
        Settings::read().await?.log_in().await?.0
    } else {
        return demonstrate(arguments.json).await;
    };
    let drift = builder.build()?.schema_drift().await?;
    show(&drift, arguments.json)?;
    let unseen = drift.coverage() == Coverage::Disabled;
    Ok(ExitCode::from(u8::from(unseen || drift.breaks())))
}

/// A server whose schema has changed: a renamed field, a new required argument, a new form.
async fn demonstrate(json: bool) -> Result<ExitCode, Failure> {
    let changed = SCHEMA
        .replace("  commentText: String\n", "  text: String\n")
        .replace(
            "  ): TemplateConnection\n",
            "    species: ConsignmentSpecies!\n  ): TemplateConnection\n",
        )
        .replace("  LPAG3\n", "  LPAG3\n  LPAG4\n");
    let fake = Fake::builder().schema(changed).start().await?;
    let drift = fake.client().build()?.schema_drift().await?;
    if !json {
        println!("A sample report: a fake on this machine serves a changed schema.\n");
    }
    show(&drift, json)?;
    if !json {
        println!(
            "\nTo repair an operation, pass a document of your own to override_operation, with an alias such as\n\
             `commentText: text`. With a real server the exit code is {}.",
            u8::from(drift.breaks())
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(drift: &SchemaDrift, json: bool) -> Result<(), Failure> {
    if json {
        println!("{}", cli::json(&serde_json::to_string(drift)?));
    } else {
        print!("{drift}");
    }
    Ok(())
}
