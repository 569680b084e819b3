//! Worlds and replies from folders of JSON.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use envd_sdk::fake::{UserRecord, World};
use serde_json::Value;

use super::cli::{self, Failure};

/// Reads a world from the files of a folder. All parts are optional: `user-details*.json` (replies of `userDetails`),
/// `account-pics.json` (from account to PIC), `questions.json`, `consignments/*.json` (variables of a save) and
/// `register/all.json` (a reply of the search).
pub(crate) fn world(folder: &Path) -> Result<World, Failure> {
    let mut world = World::empty();
    let pics = read_if_present(&folder.join("account-pics.json"))?;
    let mut known = Vec::new();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("user-details") {
            continue;
        }
        let reply = read(&path)?;
        // A reply may have a second `data` inside.
        let pointers = ["/data/userDetails/data", "/data/userDetails", "/data"];
        let details = first_at(&reply, &pointers);
        let id = details["auth0Id"].clone();
        if !id.is_string() {
            return Err(expected(&path, "a user with an auth0Id"));
        }
        if !known.contains(&id) {
            let mut user = UserRecord::from_details(details);
            for (account, pic) in pics.iter().filter_map(Value::as_object).flatten() {
                user = user.pic(account, pic.as_str().unwrap_or_default());
            }
            world = world.user(user);
            known.push(id);
        }
    }
    let consignments = folder.join("consignments");
    let consignments = consignments.exists().then(|| files(&consignments));
    for path in consignments.transpose()?.into_iter().flatten() {
        if !path.ends_with("index.json") {
            let variables = read(&path)?;
            let account = variables["envdAccountId"].as_str();
            let account = account.ok_or_else(|| expected(&path, "an envdAccountId"))?;
            world = world.consignment(account, &variables["input"]);
        }
    }
    if let Some(reply) = read_if_present(&folder.join("questions.json"))? {
        let pointers = ["/data/questions/items", "/data/questions", "/items"];
        world = world.questions(first_at(&reply, &pointers));
    }
    if let Some(reply) = read_if_present(&folder.join("register").join("all.json"))? {
        let properties = first_at(&reply, &["/Value/SubSet"]).as_array();
        for property in properties.into_iter().flatten() {
            world = world.property(property);
        }
    }
    Ok(world)
}

/// Reads the replies of a folder, by operation name, such as `UserDetails.json`. The application `first_contact` records them
/// from a service.
pub(crate) fn replies(folder: &Path) -> Result<HashMap<String, Value>, Failure> {
    let files = files(folder)?.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok((name.into_owned(), read(&path)?))
    });
    files.collect()
}

/// The JSON files of a folder, sorted by stem, so that user-details.json comes before user-details-new.json (a dot sorts after a hyphen).
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    paths.retain(|path| path.is_file() && path.extension().is_some_and(|kind| kind == "json"));
    paths.sort_by(|a, b| a.file_stem().cmp(&b.file_stem()));
    Ok(paths)
}

fn read_if_present(path: &Path) -> Result<Option<Value>, Failure> {
    path.exists().then(|| read(path)).transpose()
}

fn read(path: &Path) -> Result<Value, Failure> {
    let text = cli::read_text(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let value = serde_json::from_str(&text);
    value.map_err(|error| expected(path, &format!("JSON, but line {} is not", error.line())))
}

fn expected(path: &Path, what: &str) -> Failure {
    format!("{}: expected {what}", path.display()).into()
}

/// The part of a reply at the first existing pointer, or the entire reply if none exists.
fn first_at<'v>(reply: &'v Value, pointers: &[&str]) -> &'v Value {
    let mut parts = pointers.iter().filter_map(|pointer| reply.pointer(pointer));
    parts.find(|part| !part.is_null()).unwrap_or(reply)
}
