//! Reads a world from a folder of JSON.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::World;
use crate::error::Error;

impl World {
    /// Reads a folder. Each file in it may be missing:
    ///
    /// | file | content |
    /// | --- | --- |
    /// | `user-details*.json` | a user each, as the reply to `userDetails`; the first by name is the first user, and a second file for the same `auth0Id` is skipped |
    /// | `account-pics.json` | an object from `envdAccountId` to the PIC of the account |
    /// | `consignments/*.json` | `{"envdAccountId", "input"}` each, oldest first by name; `index.json` and folders are skipped |
    /// | `questions.json` | the reply to `questions`; without it, the questions of the sample |
    /// | `register/all.json` | the reply of the register with all properties |
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the folder or a file cannot be read, or has other content. The message
    /// names the file.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        let mut world = Self::empty();
        for path in files(folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("user-details") {
                let user = read(&path, USER)?;
                let mut known = world.users.iter();
                if known.all(|known| known["auth0Id"] != user["auth0Id"]) {
                    world.users.push(user);
                }
            }
        }
        let consignments = folder.join("consignments");
        if consignments.exists() {
            for path in files(&consignments)? {
                if !path.ends_with("index.json") {
                    Arc::make_mut(&mut world.consignments).push(read(&path, CONSIGNMENT)?);
                }
            }
        }
        if let Some(pics) = read_if_present(&folder.join("account-pics.json"), PICS)? {
            world.pics = pics;
        }
        if let Some(questions) = read_if_present(&folder.join("questions.json"), QUESTIONS)? {
            world.questions = Arc::new(questions);
        }
        let register = folder.join("register").join("all.json");
        if let Some(properties) = read_if_present(&register, PROPERTIES)? {
            world.properties = Arc::new(properties);
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

/// What a file holds, in words, and how it is read; `None` if the file holds something else.
type Part<T> = (&'static str, fn(Value) -> Option<T>);

const USER: Part<Value> = ("a user with an auth0Id", |reply| {
    // A reply may have a second `data` inside.
    let pointers = ["/data/userDetails/data", "/data/userDetails", "/data"];
    let user = value_at(reply, &pointers);
    user["auth0Id"].is_string().then_some(user)
});

/// The account and the input, from the variables of `createOrSaveConsignment`.
const CONSIGNMENT: Part<(String, Value)> = ("an envdAccountId and an input", |mut variables| {
    let account = variables["envdAccountId"].as_str()?.to_owned();
    let input = variables["input"].take();
    input.is_object().then_some((account, input))
});

const PICS: Part<Map<String, Value>> = ("an object", |value| match value {
    Value::Object(pics) => Some(pics),
    _ => None,
});

/// The value of the query `questions`, from its reply or from a bare list.
pub(super) const QUESTIONS: Part<Value> = ("a list of questions", |reply| {
    let pointers = ["/data/questions/items", "/data/questions", "/items"];
    let items = value_at(reply, &pointers);
    items.is_array().then(|| json!({"items": items}))
});

/// From a reply of the register or from a bare list.
pub(super) const PROPERTIES: Part<Vec<Value>> = ("a list of properties", |reply| {
    match value_at(reply, &["/Value/SubSet"]) {
        Value::Array(properties) => Some(properties),
        _ => None,
    }
});

/// The replies of a folder, by the names of their operations.
pub(in crate::fake) fn replies(folder: &Path) -> Result<HashMap<String, Value>, Error> {
    let files = files(folder)?.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok((name.into_owned(), read(&path, ("a reply", Some))?))
    });
    files.collect()
}

fn read_if_present<T>(path: &Path, part: Part<T>) -> Result<Option<T>, Error> {
    path.exists().then(|| read(path, part)).transpose()
}

fn read<T>(path: &Path, (what, part): Part<T>) -> Result<T, Error> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|source| Error::config(format!("{shown} cannot be read")).with_source(source))?;
    let value = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Error::config(format!(
            "{shown} is not JSON, at line {line}, column {column}"
        ))
    })?;
    part(value).ok_or_else(|| Error::config(format!("{shown}: expected {what}")))
}

/// The value at the first JSON pointer with one, or the whole value.
fn value_at(mut value: Value, pointers: &[&str]) -> Value {
    let mut pointers = pointers.iter();
    match pointers.find(|pointer| value.pointer(pointer).is_some_and(|part| !part.is_null())) {
        Some(pointer) => value.pointer_mut(pointer).map_or(Value::Null, Value::take),
        None => value,
    }
}
