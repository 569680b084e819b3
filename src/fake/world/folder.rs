//! Reads a world from a folder of JSON.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::World;
use crate::error::Error;

impl World {
    /// Reads a folder. Each file in it may be missing:
    ///
    /// | file | what it holds |
    /// | --- | --- |
    /// | `user-details*.json` | a user each, as the reply to `userDetails`; the first by name is the first user, and a second file for the same `auth0Id` is passed over |
    /// | `account-pics.json` | an object from `envdAccountId` to the PIC of the account |
    /// | `consignments/*.json` | `{"envdAccountId", "input"}` each, oldest first by name; `index.json` and folders are passed over |
    /// | `questions.json` | the reply to `questions`; without it, the questions of the sample |
    /// | `register/all.json` | the reply of the register with all properties |
    ///
    /// # Errors
    ///
    /// [`is_config`](Error::is_config) when the folder or a file cannot be read, or holds something else; the message
    /// names the file.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let mut world = Self::empty();
        for path in files(folder)? {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if !name.starts_with("user-details") {
                continue;
            }
            let user = read(&path, user_of)?;
            if world
                .users
                .iter()
                .all(|known| known["auth0Id"] != user["auth0Id"])
            {
                world.users.push(user);
            }
        }
        let pics = folder.join("account-pics.json");
        if pics.exists() {
            world.pics = read(&pics, |value| match value {
                Value::Object(pics) => Ok(pics),
                _ => Err("expected an object".to_owned()),
            })?;
        }
        let consignments = folder.join("consignments");
        if consignments.exists() {
            for path in files(&consignments)? {
                if !path.ends_with("index.json") {
                    world.consignments.push(read(&path, consignment_of)?);
                }
            }
        }
        let questions = folder.join("questions.json");
        if questions.exists() {
            world.questions = read(&questions, questions_of)?;
        }
        let register = folder.join("register").join("all.json");
        if register.exists() {
            world.properties = read(&register, properties_of)?;
        }
        Ok(world)
    }
}

/// The JSON files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| {
        Error::config(format!("the folder {} cannot be read", folder.display())).with_source(source)
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && path.extension().is_some_and(|kind| kind == "json") {
            found.push(path);
        }
    }
    // By stem: a dot comes after a hyphen, and user-details.json is before user-details-new.json.
    found.sort_by(|a, b| a.file_stem().cmp(&b.file_stem()));
    Ok(found)
}

fn read<T>(path: &Path, part: impl FnOnce(Value) -> Result<T, String>) -> Result<T, Error> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|source| Error::config(format!("{shown} cannot be read")).with_source(source))?;
    let value = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Error::config(format!(
            "{shown} is not JSON, at line {line}, column {column}"
        ))
    })?;
    part(value).map_err(|why| Error::config(format!("{shown}: {why}")))
}

/// The value of the query `questions`, from its reply or from a bare list.
pub(super) fn questions_of(mut value: Value) -> Result<Value, String> {
    let mut inner = unwrapped(&mut value, "questions");
    let items = if inner["items"].is_array() {
        inner["items"].take()
    } else {
        inner
    };
    if items.is_array() {
        Ok(json!({"items": items}))
    } else {
        Err("expected a list of questions".to_owned())
    }
}

/// A user, from the record or from the reply to `userDetails`, which may have a second `data` inside.
pub(super) fn user_of(mut value: Value) -> Result<Value, String> {
    let mut user = unwrapped(&mut value, "userDetails");
    if user["data"].is_object() {
        user = user["data"].take();
    }
    if user["auth0Id"].is_string() {
        Ok(user)
    } else {
        Err("expected a user with an auth0Id".to_owned())
    }
}

/// The account and the input of a consignment, from the variables of `createOrSaveConsignment`.
pub(super) fn consignment_of(mut value: Value) -> Result<(String, Value), String> {
    let account = value["envdAccountId"].as_str().map(str::to_owned);
    match account {
        Some(account) if value["input"].is_object() => Ok((account, value["input"].take())),
        _ => Err("expected an envdAccountId and an input".to_owned()),
    }
}

/// The properties, from a reply of the register or from the bare list.
pub(super) fn properties_of(mut value: Value) -> Result<Vec<Value>, String> {
    let list = if value["Value"]["SubSet"].is_array() {
        value["Value"]["SubSet"].take()
    } else {
        value
    };
    match list {
        Value::Array(list) => Ok(list),
        _ => Err("expected a list of properties".to_owned()),
    }
}

fn unwrapped(value: &mut Value, field: &str) -> Value {
    if value["data"][field].is_null() {
        value.take()
    } else {
        value["data"][field].take()
    }
}
