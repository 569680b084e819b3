//! Queries a service for the facts that no source shows, and writes the results into a profile:
//! `cargo run -p apps --bin first_contact -- --profile envd.json`.
//!
//! It only reads: each request is a query of the declaration interface or a `GET` of the register. It is safe to repeat, and a
//! second run starts from the profile of the first. The settings are those of all examples; without settings it queries a fake.

mod arguments;
#[path = "../../../../cli/mod.rs"]
mod cli;
mod contact;
mod finding;
mod interface;
mod lists;
mod register;
mod renames;
mod schema;
#[path = "../../../../settings/mod.rs"]
mod settings;
mod shape;
#[path = "../../../../table/mod.rs"]
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use envd_sdk::profile::{ServiceProfile, Sourced};

use arguments::Arguments;
use cli::{Failure, Unusable};
use contact::Contact;
use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    // Read the profile before sending anything.
    let profile = read_profile(&arguments)?;
    prepare(&arguments)?;
    let settings = Settings::read().await?;
    if !arguments.is_json {
        println!("{}.\n", settings.describe());
    }
    let (client, manager) = settings.log_in().await?;
    let mut contact = Contact::new(&settings, profile, client, manager.clone(), &arguments)?;
    let asked = ask(&mut contact).await;
    if let Some(manager) = manager {
        manager.logout(None).await;
    }
    contact.show(arguments.is_json)?;
    let profile = with_addresses(contact.profile(), &settings);
    if let Some(file) = &arguments.profile {
        write(file, profile.to_json().as_bytes())?;
    }
    if let Some(folder) = &arguments.record {
        for (name, reply) in contact.replies() {
            let file = folder.join(format!("{name}.json"));
            write(&file, serde_json::to_string_pretty(&reply)?.as_bytes())?;
        }
        write(&folder.join("report.txt"), contact.report().as_bytes())?;
        if let Some(schema) = &contact.schema {
            write(&folder.join("schema.graphql"), schema.as_bytes())?;
        }
    }
    asked
}

/// Reads the profile from the file, if the file exists.
fn read_profile(arguments: &Arguments) -> Result<Option<ServiceProfile>, Failure> {
    let Some(file) = arguments.profile.as_ref().filter(|file| file.exists()) else {
        return Ok(None);
    };
    let text = cli::read_text(file).map_err(|error| Unusable::new(file, error))?;
    let read = ServiceProfile::from_json(&text);
    Ok(Some(read.map_err(|error| Unusable::new(file, error))?))
}

/// Creates the folder for the replies, and checks that the files can be written.
fn prepare(arguments: &Arguments) -> Result<(), Failure> {
    let mut files: Vec<PathBuf> = arguments.profile.iter().cloned().collect();
    if let Some(folder) = &arguments.record {
        fs::create_dir_all(folder).map_err(|error| Unusable::new(folder, error))?;
        files.push(folder.join("report.txt"));
    }
    for file in files {
        let tried = cli::file_beside(&file).and_then(|(beside, _)| fs::remove_file(beside));
        tried.map_err(|error| Unusable::new(&file, error))?;
        if file.is_dir() {
            return Err(Unusable::new(&file, "is a folder").into());
        }
    }
    Ok(())
}

fn write(file: &Path, contents: &[u8]) -> Result<(), Failure> {
    let written = cli::replace(file, contents);
    Ok(written.map_err(|error| format!("{}: {error}", file.display()))?)
}

/// Runs all queries, in order of dependency.
async fn ask(contact: &mut Contact<'_>) -> Result<(), Failure> {
    schema::compare(contact).await?;
    interface::user(contact).await?;
    interface::questions(contact).await?;
    if contact.account.is_none() {
        return Err(
            "without an account no further queries are possible: set ENVD_ACCOUNT_ID".into(),
        );
    }
    let records = lists::records(contact).await?;
    lists::dates(contact, &records).await?;
    interface::record(contact, &records).await?;
    interface::others(contact).await?;
    register::ask(contact, &records).await
}

/// Adds the addresses that were used to the profile.
fn with_addresses(mut profile: ServiceProfile, settings: &Settings) -> ServiceProfile {
    if settings.is_fake() {
        return profile;
    }
    let used = settings.graphql_url().ok();
    if let Some(used) = used.filter(|_| profile.addresses.graphql.is_none()) {
        profile.addresses.graphql = Some(Sourced::seen(used));
    }
    profile
}
