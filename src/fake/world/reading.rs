//! Reads records out of the replies that hold them.

use serde_json::{Value, json};

/// The ids of a user's accounts.
pub(super) fn accounts_of(person: &Value) -> impl Iterator<Item = &str> {
    let accounts = person["accounts"].as_array().into_iter().flatten();
    accounts.filter_map(|account| account["envdAccountId"].as_str())
}

/// What the query `questions` answers, from that or from the bare list.
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
        Err("there is no list of questions".to_owned())
    }
}

/// A user, from the record or from the reply of `userDetails`, also with a second `data` inside.
pub(super) fn user_of(mut value: Value) -> Result<Value, String> {
    let mut user = unwrapped(&mut value, "userDetails");
    if user["data"].is_object() {
        user = user["data"].take();
    }
    if user["auth0Id"].is_string() {
        Ok(user)
    } else {
        Err("there is no user with an auth0Id".to_owned())
    }
}

/// The account and the input of a consignment, from the variables of `createOrSaveConsignment`.
pub(super) fn consignment_of(mut value: Value) -> Result<(String, Value), String> {
    let account = value["envdAccountId"].as_str().map(str::to_owned);
    match account {
        Some(account) if value["input"].is_object() => Ok((account, value["input"].take())),
        _ => Err("there is no envdAccountId with an input".to_owned()),
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
        _ => Err("there is no list of properties".to_owned()),
    }
}

fn unwrapped(value: &mut Value, field: &str) -> Value {
    if value["data"][field].is_null() {
        value.take()
    } else {
        value["data"][field].take()
    }
}
